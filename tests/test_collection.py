"""Collecting: fast whatever the number of candidates, without importing one; a faulty task file is told."""

import os
import subprocess
import sys

import pytest

from conftest import RELU, Tree
from pytest_kernelbenchx.plugin import CATEGORIES

TASK = '''"""Twice the input."""

from pytest_kernelbenchx import task


@task(inputs={"input": "f32[*S]"}, output="f32[*S]", sizes={"1k": dict(S=[1024])})
def NAME(input):
    return input * 2
'''
TRAP = "import pathlib\npathlib.Path(__file__).with_suffix('.ran').write_text('')\n"
TASKS, METHODS = 176, 5
SECONDS = 2.0  # beyond `import torch`, for the whole of it


def generated(path, tasks, methods):
    tree = Tree(path)
    for number in range(tasks):
        category = sorted(CATEGORIES)[number % len(CATEGORIES)]
        file = path / "tasks" / category / f"task_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TASK.replace("NAME", file.stem))
        for method in range(methods):
            tree.candidate(f"method-{method}", TRAP + RELU.replace("relu", file.stem), file.stem, category)
    return tree


def seconds(command, tree):
    """Processor time of a command and what it prints; bytecode is kept, as in anybody's use."""
    kept = {name: value for name, value in tree.environment().items() if name != "PYTHONDONTWRITEBYTECODE"}
    with (tree.path / "printed").open("w+") as printed:
        process = subprocess.Popen(command, cwd=tree.path, env=kept, stdout=printed)
        _, _, used = os.wait4(process.pid, 0)
        printed.seek(0)
        return used.ru_utime + used.ru_stime, printed.read()


def test_the_whole_benchmark_is_collected_in_two_seconds(tmp_path):
    """In processor time, which on an idle machine is what one waits for, against a bare `import torch`."""
    tree = generated(tmp_path, TASKS, METHODS)
    bare = min(seconds([sys.executable, "-c", "import torch"], tree)[0] for _ in range(2))
    beyond = []
    for _ in range(2):
        full, text = seconds(tree.command("--collect-only", "-q", "--kbx-tasks=tasks"), tree)
        assert f"{TASKS * METHODS * 3} tests collected" in text
        beyond.append(full - bare)
    assert not list(tmp_path.rglob("*.ran"))
    assert min(beyond) < SECONDS, f"seconds beyond `import torch`: {beyond}"


def test_generated_candidates_would_tell(tmp_path):
    path = generated(tmp_path, 1, 1).path / "candidates" / "method-0" / "activation" / "task_0.py"
    subprocess.run([sys.executable, path], env={**os.environ, "PYTHONPATH": ""}, capture_output=True)
    assert path.with_suffix(".ran").exists()


def listed(result):
    return [line for line in result.text.splitlines() if "::test_" in line]


@pytest.fixture
def mine(inline):
    """A tree with one task of its own, and what declares another."""
    write(inline, "double", TASK.replace("NAME", "double"))
    return inline


def write(inline, name, text, category="math"):
    file = inline.path / "tasks" / category / f"{name}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    inline.candidate("claude", RELU.replace("relu", name), name, category)
    return file


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def faulty(:\n", ["tasks/math/faulty.py:1: SyntaxError"]),
        (TASK.replace("NAME", "faulty") + "\nimport no_such_module\n", ["tasks/math/faulty.py:10: ", "no_such_module"]),
        (TASK.replace("NAME", "faulty").replace("sizes=", "size="), ["tasks/math/faulty.py:6: TypeError", "'sizes'"]),
        (TASK.replace("NAME", "other"), ["tasks/math/faulty.py declares other, wanted exactly one task, named faulty"]),
        ("", ["tasks/math/faulty.py declares nothing, wanted exactly one task, named faulty like its file"]),
    ],
)
def test_a_faulty_task_file_is_a_clean_collection_error(mine, text, words):
    write(mine, "faulty", text)
    result = mine.run("--collect-only", "-q", "--kbx-tasks=tasks")
    assert result.status == pytest.ExitCode.INTERRUPTED
    assert "ERROR collecting tasks/math/faulty.py" in result.text
    for word in words:
        assert word in result.text
    assert "Traceback" not in result.text
    assert "pytest_kernelbenchx/" not in result.text, "a frame of the plugin is shown"
    assert len(listed(result)) == 3, "the other task is listed"


def test_a_task_name_is_taken_once(mine):
    write(mine, "double", TASK.replace("NAME", "double"), "reduce")
    said = mine.complaint("--collect-only", "--kbx-tasks=tasks")
    assert "tasks/math/double.py and tasks/reduce/double.py are both named double" in said


def test_a_category_is_one_of_the_fifteen(mine):
    write(mine, "triple", TASK.replace("NAME", "triple"), "maths")
    said = mine.complaint("--collect-only", "--kbx-tasks=tasks")
    assert "tasks/maths is no category; did you mean math?" in said


def test_a_task_without_a_candidate_has_no_tests(mine):
    (mine.path / "tasks" / "math" / "alone.py").write_text(TASK.replace("NAME", "alone"))
    assert len(listed(mine.run("--collect-only", "-q", "--kbx-tasks=tasks"))) == 3


@pytest.mark.parametrize(("extra", "shares"), [("", ["0/2", "0/2"]), ("extra=True, ", ["0/2", "0/1"])])
def test_an_extra_task_is_none_of_all(mine, extra, shares):
    write(mine, "double_fp16", TASK.replace("NAME", "double_fp16").replace("@task(", f"@task({extra}"))
    for name in ("double", "double_fp16"):
        mine.candidate("claude", "def faulty(:", name, "math")
    printed = mine.run("--kbx-tasks=tasks", "-m", "compiles").text.splitlines()
    (row,) = [line.split() for line in printed if line.startswith("claude  math")]
    assert [cell for cell in row if "/" in cell] == shares


USERS = """
import pytest


def test_reference(task, reference):
    assert task.name == reference.__name__ == "double"


def test_candidate(candidate, reference):
    assert candidate.candidate.method == "claude"
    assert candidate.task.reference is reference
    candidate.compiles()


@pytest.mark.parametrize("size", ["big"])
def test_size(size):
    assert size == "big"


@pytest.mark.parametrize("task", [1, 2])
def test_own_parameter(task):
    assert task in (1, 2)


@pytest.fixture
def candidate_of_mine():
    return 7


def test_own_fixture(candidate_of_mine):
    assert candidate_of_mine == 7
"""


def test_a_users_own_test_module(tree):
    (tree.path / "test_mine.py").write_text(USERS)
    file = tree.path / "tasks" / "math" / "double.py"
    file.parent.mkdir(parents=True)
    file.write_text(TASK.replace("NAME", "double"))
    source = RELU.replace("def relu(input, inplace=False)", "def double(input, inplace=False)")
    tree.candidate("claude", source.replace("tl.where(value < 0, 0.0, value)", "(value * 2)"), "double", "math")
    result = tree.run("--kbx-tasks=tasks", "test_mine.py", "-v")
    assert "6 passed" in result.text, result.text
    assert "test_mine.py::test_candidate[double:claude] PASSED" in result.text
    assert "test_mine.py::test_reference[double] PASSED" in result.text
    assert result.verdicts("compiles") == {"claude": "PASSED"}
