"""-m, -k, node ids, --collect-only and what --help, --markers and --fixtures tell: pytest as people know it."""

import json

import pytest

from conftest import RELU, TASKS
from pytest_kernelbenchx.plugin import CATEGORIES, MARKS


@pytest.fixture
def three(inline):
    """Three methods, one of them iterating, and two tasks of one category, one of another."""
    inline.candidate("claude", RELU)
    inline.candidate("claude", RELU.replace("def relu", "def tanh"), "tanh")
    inline.candidate("claude", RELU.replace("def relu", "def softmax"), "softmax", "math")
    inline.candidate("deepseek-r1", RELU)
    for sample in (0, 1):
        path = inline.path / "candidates" / "geak" / "round_1" / f"sample_{sample}" / "relu.py"
        path.parent.mkdir(parents=True)
        path.write_text(RELU)
    return inline


def listed(result):
    """`relu.py::test_compiles[claude]` and so on."""
    return [line.rpartition("/")[2] for line in result.text.splitlines() if "::test_" in line]


def test_ids_and_order(three):
    """A candidate's stages stand together."""
    stages = ["compiles[{}]", "correct[{}]", "performs[{}-4k]", "performs[{}-1m]", "performs[{}-128m]"]
    assert listed(three.run("--collect-only", "-q", "-k", "relu and not leaky")) == [
        f"relu.py::test_{stage.format(method)}"
        for method in ("claude", "deepseek-r1", "geak:r1:s0", "geak:r1:s1")
        for stage in stages
    ]


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["-m", "compiles"], 6),
        (["-m", "math and compiles"], 1),
        (["-m", "activation and not performs"], 10),
        (["-m", "quantization"], 0),
        (["-k", "geak:r1:s0 and compiles"], 1),
        (["-k", "claude", "-m", "correct"], 3),
        (["-k", "deepseek-r1-4k"], 1),
        (["-m", "compiles", "--kbx-method=geak"], 2),
    ],
)
def test_marks_and_keywords(three, arguments, count):
    assert len(listed(three.run("--collect-only", "-q", *arguments))) == count


def test_mark_of_extra_tasks(three):
    three.candidate("claude", RELU.replace("def relu", "def relu_fp16"), "relu_fp16")
    chosen = listed(three.run("--collect-only", "-q", "-m", "extra and compiles"))
    assert chosen == ["relu_fp16.py::test_compiles[claude]"]
    assert len(listed(three.run("--collect-only", "-q", "-m", "not extra and compiles"))) == 6


def test_node_ids(three):
    def chosen(argument):
        return three.run("--collect-only", "-q", "--kbx-candidates=candidates", argument)

    file = f"{TASKS}/activation/relu.py"
    assert listed(chosen(f"{file}::test_performs[geak:r1:s1-4k]")) == ["relu.py::test_performs[geak:r1:s1-4k]"]
    assert len(listed(chosen(f"{file}::test_compiles"))) == 4
    (three.path / "link").symlink_to(TASKS)
    assert len(listed(chosen("link/activation/relu.py::test_compiles"))) == 4
    missing = chosen(f"{file}::test_compiles[gpt]")
    assert missing.status == 4
    assert "<TaskFile relu.py>" in missing.text
    assert "<Module relu.py>" not in missing.text, "the task file was imported as a test module"


def test_unknown_mark(inline):
    said = inline.complaint("-m", "quantisation and compiles")
    assert "unknown mark 'quantisation' in -m; did you mean quantization?" in said
    said = inline.complaint("-m", "(not corect) or relu")
    assert "'corect'" in said
    assert "did you mean correct?" in said
    (inline.path / "pytest.ini").write_text("[pytest]\nmarkers =\n    mine(arg): a user's own\n")
    assert inline.run("--collect-only", "-m", "mine(arg=1) and not compiles").status == 5


def test_help_markers_and_fixtures(inline):
    help = inline.run("--help").text
    for option in ("method", "candidates", "tasks", "device", "effort", "seed", "case", "timeout", "memory", "results"):
        assert f"--kbx-{option}" in help
    markers = inline.run("--markers").text
    assert len(CATEGORIES) == 15
    assert [mark for mark in MARKS if f"@pytest.mark.{mark}: " not in markers] == []
    fixtures = inline.run("--fixtures").text
    for name, words in {
        "candidate": "A candidate with its task.",
        "task": "The task of the candidate",
        "reference": "The PyTorch function that defines the task.",
        "size": "Label of one of the task's sizes.",
    }.items():
        assert f"\n{name} " in fixtures
        assert words in fixtures


def test_task_file_is_not_imported_as_a_test(inline):
    """tasks/random/copy.py may not become the module `copy`, nor be collected twice."""
    (inline.path / "tasks" / "random").mkdir(parents=True)
    file = inline.path / "tasks" / "random" / "copy.py"
    file.write_text(
        (TASKS / "activation" / "relu.py").read_text().replace("def relu", "def copy") + "\nassert __name__ != 'copy'\n"
    )
    inline.candidate("claude", RELU.replace("def relu", "def copy"), "copy", "random")
    found = inline.run("--collect-only", "-q", "--kbx-tasks=tasks", "tasks/random/copy.py", "-m", "compiles")
    assert listed(found) == ["copy.py::test_compiles[claude]"]
    assert found.status == 0


def cached(tree, *arguments):
    """A run that remembers what failed."""
    command = tree.command(*arguments)[3:]
    at = command.index("no:cacheprovider")
    done = tree.pytester.runpytest_inprocess(*command[: at - 1], *command[at + 1 :])
    failed = [line for line in done.outlines if "::test_" in line and " FAILED" in line]
    return [line.split()[0].rpartition("/")[2] for line in failed], done


def test_stop_at_the_first_and_run_the_last_failed(inline):
    """None of these needs a process of its own to fail."""
    for method in ("a", "b", "c"):
        inline.candidate(method, "def relu(:")
    inline.candidate("d-forbidden", f"import ctypes\n{RELU}")
    failed, done = cached(inline, "-v", "-x", "-m", "compiles")
    assert failed == ["relu.py::test_compiles[a]"]
    assert "stopping after 1 failures" in done.stdout.str()
    failed, _ = cached(inline, "-v", "-m", "compiles")
    assert failed == [f"relu.py::test_compiles[{method}]" for method in ("a", "b", "c", "d-forbidden")]
    inline.candidate("b", f"import mmap\n{RELU}")
    (inline.path / "candidates" / "c" / "activation" / "relu.py").unlink()
    failed, done = cached(inline, "-v", "--lf", "-m", "compiles")
    assert failed == [f"relu.py::test_compiles[{method}]" for method in ("a", "b", "d-forbidden")]
    assert "run-last-failure: rerun previous 3 failures" in done.stdout.str()
    failed, _ = cached(inline, "-v", "--lf", "-m", "compiles", "-k", "forbidden")
    assert failed == ["relu.py::test_compiles[d-forbidden]"]


def test_a_later_stage_alone_runs_the_earlier_ones_once(inline):
    inline.candidate("a", "def relu(:")
    result = inline.run("-k", "correct", "-rs")
    assert "1 skipped" in result.text
    assert "stage compiles was not passed: SYNTAX" in result.text
    store = (inline.path / ".kbx" / "records.jsonl").read_text().splitlines()
    assert [json.loads(line)["stage"] for line in store] == ["compiles", "correct"]
