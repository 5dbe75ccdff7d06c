"""Discovery of candidates on disk: layouts, JSONL, what is left aside and said."""

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_kernelbenchx.candidates import Found, discover, entry_names

TASKS = {"relu": "activation", "gelu": "activation", "add": "math", "matmul": "matrix_multiply", "SGD": "optimizer"}
ALIASES = {"sgd_step": "SGD"}
CODE = "import triton\n\n\n@triton.jit\ndef kernel(x):\n    pass\n\n\ndef relu(input):\n    return input\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "candidates"
    path.mkdir()
    return path


def put(folder: Path, name: str, content: str | bytes = CODE) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def put_lines(folder: Path, name: str, *rows: object) -> Path:
    return put(folder, name, "".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))


def fenced(code: str, tag: str = "python", fence: str = "```") -> str:
    return f"{fence}{tag}\n{code}{fence}\n"


def find(folder: Path, **more: object) -> Found:
    return discover(folder, TASKS, ALIASES, **more)


def labels(found: Found) -> list[str]:
    return [candidate.label for candidate in found.candidates]


def reasons(found: Found, folder: Path) -> dict[str, str]:
    """Reason by path (and line) relative to the folder."""
    lines = [(os.path.relpath(what.path, folder), what.line, what.reason) for what in found.ignored]
    return {f"{path}:{line}" if line else path: reason for path, line, reason in lines}


# where candidates lie


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("claude/relu.py", "claude/relu"),
        ("claude/activation/relu.py", "claude/relu"),
        ("claude/Activation/relu.py", "claude/relu"),
        ("claude/MatrixMultiply/matmul.py", "claude/matmul"),
        ("claude/MATRIX_MULTIPLY/matmul.py", "claude/matmul"),
        ("geak/round_2/relu.py", "geak:r2/relu"),
        ("geak/round_02/activation/relu.py", "geak:r2/relu"),
        ("geak/activation/round_0/relu.py", "geak:r0/relu"),
        ("geak/sample_3/relu.py", "geak:s3/relu"),
        ("geak/round_1/sample_0/activation/relu.py", "geak:r1:s0/relu"),
        ("geak/sample_0/activation/round_1/relu.py", "geak:r1:s0/relu"),
        ("deepseek-r1.5/relu.py", "deepseek-r1.5/relu"),
        ("claude/SGD.py", "claude/SGD"),
        ("claude/sgd_step.py", "claude/SGD"),
    ],
)
def test_every_layout_is_read(folder: Path, name: str, label: str) -> None:
    path = put(folder, name)
    found = find(folder)
    assert labels(found) == [label]
    assert found.ignored == []
    (candidate,) = found.candidates
    assert (candidate.path, candidate.line, candidate.problem, candidate.note) == (path, None, None, None)
    assert candidate.category == TASKS[candidate.task]
    assert candidate.source == CODE
    assert candidate.sha256 == hashlib.sha256(CODE.encode()).hexdigest()
    assert found.methods == [candidate.method]


def test_a_folder_without_methods_is_one_method(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    put(folder, "relu.py")
    put(folder, "math/add.py")
    put(folder, "round_1/gelu.py")
    found = find(folder)
    assert labels(found) == ["mine/add", "mine/relu", "mine:r1/gelu"]
    assert found.methods == ["mine"]
    assert find(folder / ".." / "mine").methods == ["mine"]


def test_order_is_method_round_sample_task(folder: Path) -> None:
    for name in ("b/relu.py", "a/round_10/relu.py", "a/round_2/relu.py", "a/relu.py", "a/add.py", "a/sample_0/relu.py"):
        put(folder, name)
    assert labels(find(folder)) == ["a/add", "a/relu", "a:s0/relu", "a:r2/relu", "a:r10/relu", "b/relu"]


def test_methods_select_and_all_are_listed(folder: Path) -> None:
    put(folder, "claude/relu.py")
    put(folder, "geak/relu.py")
    put(folder, "geak/rleu.py")
    put_lines(folder, "all.jsonl", {"task": "add", "code": CODE, "method": "qwen"}, "{broken\n")
    (folder / "empty").mkdir()
    found = find(folder, methods=["claude"])
    assert labels(found) == ["claude/relu"]
    assert found.methods == ["claude", "empty", "geak", "qwen"]
    assert list(reasons(found, folder)) == ["all.jsonl:2"], "whose line it is can't be known, so it is always reported"
    assert "geak/rleu.py" in reasons(find(folder, methods=["geak"]), folder)
    assert labels(find(folder, methods=[])) == []


def test_a_missing_folder_says_where_candidates_go(folder: Path) -> None:
    found = find(folder / "none")
    assert (found.candidates, found.methods) == ([], [])
    assert "no such folder" in found.ignored[0].reason
    assert "<method>/<category>/<task>.py" in found.ignored[0].reason


# what is left aside


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("claude/rleu.py", "'rleu' is no task; did you mean 'relu'?"),
        ("claude/sgd.py", "'sgd' is no task; did you mean 'SGD'?"),
        ("claude/qqqqqq.py", "'qqqqqq' is no task."),
        ("rleu.py", "'rleu' is no task; did you mean 'relu'?"),
        ("claude/conftest.py", "a candidates folder may not bring a conftest.py; it was not run."),
        ("conftest.py", "a candidates folder may not bring a conftest.py; it was not run."),
        ("claude/relu.cu", "a .cu file; only .py and .jsonl files are read."),
        ("claude/relu.PY", "a .PY file; only .py and .jsonl files are read."),
    ],
)
def test_a_file_that_is_no_candidate_is_named(folder: Path, name: str, reason: str) -> None:
    put(folder, name)
    found = find(folder)
    assert found.candidates == []
    assert reasons(found, folder) == {name: reason}


@pytest.mark.parametrize(
    "name", ["README.md", "claude/notes.txt", "claude/.relu.py", "claude/__pycache__/relu.py", "claude/_common.py"]
)
def test_what_is_clearly_no_candidate_is_passed_over(folder: Path, name: str) -> None:
    put(folder, name)
    found = find(folder)
    assert (found.candidates, found.ignored) == ([], [])


def test_a_folder_that_says_nothing_is_not_read(folder: Path) -> None:
    put(folder, "claude/old/deep/relu.py")
    put(folder, "claude/logs/run.txt")
    put(folder, "claude/round_1/round_2/relu.py")
    put(folder, "claude/math/activation/relu.py")
    found = find(folder)
    assert found.candidates == []
    told = reasons(found, folder)
    assert sorted(told) == ["claude/math/activation", "claude/old", "claude/round_1/round_2"]
    assert told["claude/old"].startswith("no category and neither round_<k> nor sample_<i>, so nothing in it is read")
    assert told["claude/round_1/round_2"].startswith("a second round below round 1, so nothing in it is read")
    assert told["claude/math/activation"].startswith("a second category below category math")


@pytest.mark.parametrize("method", ["my model", "a:b", "a[0]", "a$b", "-x", "_old", "ä", "a;b", "eager"])
def test_method_names_must_fit_test_ids_and_shells(folder: Path, method: str) -> None:
    put(folder, f"{method}/relu.py")
    put(folder, f"{method}/add.py")
    put_lines(folder, "x.jsonl", *[{"task": "relu", "code": CODE, "method": method}] * 2)
    found = find(folder)
    assert (found.candidates, found.methods) == ([], [])
    told = reasons(found, folder)
    assert sorted(told) == sorted([method, "x.jsonl"]), "once a folder and once a file"
    why = "is kept for PyTorch's own rows" if method == "eager" else "can't stand in a test's id"
    wanted = f"the method's name {method!r} {why}; rename it: letters, digits and . _ + @ = - are allowed."
    assert set(told.values()) == {wanted}


def test_a_folder_whose_own_name_is_no_method_is_told_once(tmp_path: Path) -> None:
    folder = tmp_path / "my kernels"
    put(folder, "relu.py")
    put(folder, "add.py")
    put(folder, "claude/relu.py")
    found = find(folder)
    assert labels(found) == ["claude/relu"]
    assert list(reasons(found, folder)) == ["."]


def test_the_name_decides_not_the_category_folder(folder: Path) -> None:
    put(folder, "claude/math/relu.py")
    found = find(folder)
    assert [(one.label, one.category) for one in found.candidates] == [("claude/relu", "activation")]
    assert reasons(found, folder) == {
        "claude/math/relu.py": "judged all the same, but relu belongs in category activation, not in math."
    }


def test_of_duplicates_the_first_is_judged(folder: Path) -> None:
    first = put(folder, "claude/activation/relu.py", "first = 1\n")
    put(folder, "claude/relu.py", "second = 2\n")
    put(folder, "claude/round_1/relu.py")
    put_lines(folder, "claude/z.jsonl", {"task": "relu", "code": "third = 3"})
    found = find(folder)
    assert labels(found) == ["claude/relu", "claude:r1/relu"]
    assert found.candidates[0].source == "first = 1\n"
    reason = f"a second candidate claude/relu; the one in {first} is judged, this one is not."
    assert reasons(found, folder) == {"claude/relu.py": reason, "claude/z.jsonl:1": reason}


def test_of_duplicates_one_in_its_own_category_comes_first(folder: Path) -> None:
    put(folder, "claude/math/relu.py", "first = 1\n")
    put(folder, "claude/relu.py", "second = 2\n")
    found = find(folder)
    assert [one.source for one in found.candidates] == ["second = 2\n"]
    assert [what.path.parent.name for what in found.ignored] == ["math", "math"]


# candidates that fail before they are judged


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf \n\t\n", "the file is empty"),
        (b"# caf\xe9\n", "the file is not UTF-8: invalid continuation byte at byte 5"),
        ("x = 1\n".encode("utf-16"), "the file is not UTF-8: invalid start byte at byte 0"),
        (b"x = 1\0\n", "the file holds NUL bytes"),
        (b"#" * (2**20 + 1), "the file is larger than 1048576 bytes"),
    ],
)
def test_an_unusable_file_is_a_failing_candidate(folder: Path, content: bytes, problem: str) -> None:
    put(folder, "claude/relu.py", content)
    found = find(folder)
    assert labels(found) == ["claude/relu"]
    (candidate,) = found.candidates
    assert (candidate.problem, candidate.source) == (problem, "")
    assert candidate.sha256 == hashlib.sha256(content).hexdigest()


def test_the_largest_file_is_read(folder: Path) -> None:
    put(folder, "claude/relu.py", b"#" * 2**20)
    assert find(folder).candidates[0].problem is None


def test_a_file_that_cannot_be_opened_is_a_failing_candidate(folder: Path) -> None:
    (folder / "claude").mkdir()
    (folder / "claude/relu.py").symlink_to("nowhere.py")
    (folder / "claude/add.py").symlink_to("add.py")
    os.mkfifo(folder / "claude/gelu.py")
    problems = {one.task: one.problem for one in find(folder).candidates}
    assert problems["relu"] == "the file can't be read: No such file or directory"
    assert problems["add"] == "the file can't be read: Too many levels of symbolic links"
    assert problems["gelu"] == "it is not a regular file"


def test_what_may_not_be_read_is_told(folder: Path) -> None:
    closed = put(folder, "claude/relu.py")
    closed.chmod(0)
    put(folder, "geak/relu.py").parent.chmod(0)
    if os.access(closed, os.R_OK):
        (folder / "geak").chmod(0o700)
        pytest.skip("this user may read everything")
    found = find(folder)
    (folder / "geak").chmod(0o700)
    assert [one.problem for one in found.candidates] == ["the file can't be read: Permission denied"]
    assert reasons(found, folder) == {"geak": "the folder can't be read: Permission denied."}


def test_links_do_not_lead_out_of_the_folder(folder: Path, tmp_path: Path) -> None:
    put(tmp_path, "candidates2/relu.py")
    inside = put(folder, "claude/relu.py")
    (folder / "claude/add.py").symlink_to(tmp_path / "candidates2/relu.py")
    (folder / "geak").symlink_to(tmp_path / "candidates2")
    (folder / "claude/gelu.py").symlink_to(inside)
    (folder / "claude/activation").symlink_to(folder)
    found = find(folder)
    assert labels(found) == ["claude/gelu", "claude/relu"]
    told = reasons(found, folder)
    assert sorted(told) == ["claude/activation/claude", "claude/activation/geak", "claude/add.py", "geak"]
    assert told["claude/add.py"] == told["geak"] == "a link that leads out of the candidates folder; put a copy here."


def test_the_folder_itself_may_be_a_link(folder: Path, tmp_path: Path) -> None:
    put(folder, "claude/relu.py")
    (tmp_path / "link").symlink_to(folder)
    assert labels(find(tmp_path / "link")) == ["claude/relu"]


# JSONL


def test_answers_of_an_agent_with_rounds(folder: Path) -> None:
    rows = [
        {"task": "Activation/relu.py", "method": "geak", "round": k, "sha256_12": "0", "code": CODE} for k in (1, 0)
    ]
    path = put_lines(folder, "any.jsonl", *rows)
    found = find(folder)
    assert labels(found) == ["geak:r0/relu", "geak:r1/relu"]
    assert [one.line for one in found.candidates] == [2, 1]
    assert {one.sha256 for one in found.candidates} == {hashlib.sha256(CODE.encode()).hexdigest()}
    assert found.methods == ["geak"]
    assert find(path) == found


def test_answers_of_several_models(folder: Path) -> None:
    rows = [
        {"task": "Optimizer/SGD.py", "method": method, "entry": "sgd_step", "predict": CODE}
        for method in ("qwen2.5", "r1")
    ]
    put_lines(folder, "tritonbench.jsonl", *rows)
    found = find(folder)
    assert labels(found) == ["qwen2.5/SGD", "r1/SGD"]
    assert [one.entry for one in found.candidates] == ["sgd_step", "sgd_step"]
    assert found.ignored == []


@pytest.mark.parametrize(
    "task", ["relu", "Activation/relu.py", "activation/relu", "relu.py", "a/b/relu", "Activation\\relu.py"]
)
@pytest.mark.parametrize("where", ["task", "file"])
@pytest.mark.parametrize("key", ["code", "predict", "completion"])
def test_every_spelling_of_a_line(folder: Path, task: str, where: str, key: str) -> None:
    put_lines(folder, "claude.jsonl", {where: task, key: CODE, "model": "m", "round": None})
    found = find(folder)
    assert [(one.label, one.source) for one in found.candidates] == [("claude/relu", CODE)]
    assert found.ignored == []


def test_a_line_inherits_from_its_folders_and_overrides_them(folder: Path) -> None:
    lines = [{"task": "relu", "code": CODE}, {"task": "add", "code": CODE, "round": 5, "sample": 0, "method": "other"}]
    put_lines(folder, "geak/round_1/out.jsonl", *lines)
    assert labels(find(folder)) == ["geak:r1/relu", "other:r5:s0/add"]


def test_samples_are_numbered_where_there_are_several(folder: Path) -> None:
    lines = [
        *({"task": name, "code": f"x = {k}"} for k, name in enumerate(("relu", "Activation/relu.py", "add", "relu"))),
        {"task": "relu", "code": "x = 9", "sample": 1},
        {"task": "relu", "code": "x = 8", "round": 0},
    ]
    put_lines(folder, "claude.jsonl", *lines)
    found = find(folder)
    sources = {one.label: one.source for one in found.candidates}
    assert sources == {
        "claude/add": "x = 2",
        "claude:s0/relu": "x = 0",
        "claude:s1/relu": "x = 9",
        "claude:s2/relu": "x = 1",
        "claude:s3/relu": "x = 3",
        "claude:r0/relu": "x = 8",
    }
    assert found.ignored == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"task": "relu", "code"\n', "no JSON (Expecting ':' delimiter at column 24): one object a line is wanted."),
        ("[" * 100_000 + "\n", "no JSON that can be read"),
        ("[1]\n", "a JSON list: one object a line is wanted."),
        ('{"code": "x"}\n', "neither 'task' nor 'file' says which task this is for (keys: 'code')."),
        ('{"task": "relu"}\n', "none of 'code', 'predict' and 'completion' holds the code (keys: 'task')."),
        ('{"task": "relu", "code": 3}\n', "'code' is a int: a string is wanted."),
        ('{"task": ["relu"], "code": "x"}\n', "'task' is a list: a string is wanted."),
        ('{"task": "relu", "code": "x", "entry": 1}\n', "'entry' is a int: a string is wanted."),
        ('{"task": "relu", "code": "x", "round": "1"}\n', "'round' is '1': a whole number from 0 is wanted."),
        ('{"task": "relu", "code": "x", "round": true}\n', "'round' is True: a whole number from 0 is wanted."),
        ('{"task": "relu", "code": "x", "sample": -1}\n', "'sample' is -1: a whole number from 0 is wanted."),
        ('{"task": "", "code": "x"}\n', "the task's name is empty."),
        ('{"task": "Activation/rleu.py", "code": "x"}\n', "'rleu' is no task; did you mean 'relu'?"),
    ],
)
def test_a_line_that_is_no_answer_is_told_with_its_number(folder: Path, line: str, reason: str) -> None:
    put_lines(folder, "claude.jsonl", {"task": "add", "code": CODE}, "\n", line, {"task": "gelu", "code": CODE})
    found = find(folder)
    assert labels(found) == ["claude/add", "claude/gelu"]
    assert list(reasons(found, folder)) == ["claude.jsonl:3"]
    assert found.ignored[0].reason.startswith(reason)


def test_a_line_that_is_not_utf8_is_told(folder: Path) -> None:
    good = json.dumps({"task": "add", "code": CODE}).encode()
    put(folder, "claude.jsonl", b"\xef\xbb\xbf" + good + b'\r\n{"task": "relu", "code": "\xe9"}\n')
    found = find(folder)
    assert labels(found) == ["claude/add"]
    wanted = "not UTF-8 (byte 27 of the line): write the file in UTF-8."
    assert reasons(found, folder) == {"claude.jsonl:2": wanted}


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (None, "the code is empty"),
        ("", "the code is empty"),
        (" \n", "the code is empty"),
        ("x = '\0'", "the code holds NUL bytes"),
        ("x = '\ud800'", "the code is not UTF-8: invalid continuation byte at byte 5"),
        ("#" * (2**20 + 1), "the code is larger than 1048576 bytes"),
    ],
)
def test_an_answer_without_usable_code_is_a_failing_candidate(folder: Path, code: str | None, problem: str) -> None:
    put_lines(folder, "claude.jsonl", {"task": "relu", "predict": code})
    found = find(folder)
    assert [(one.label, one.problem) for one in found.candidates] == [("claude/relu", problem)]


def test_a_line_in_the_wrong_category_is_judged_and_told(folder: Path) -> None:
    put_lines(folder, "claude.jsonl", {"task": "Math/relu.py", "code": CODE})
    found = find(folder)
    assert labels(found) == ["claude/relu"]
    wanted = "judged all the same, but relu belongs in category activation, not in Math."
    assert reasons(found, folder) == {"claude.jsonl:1": wanted}


def test_nothing_is_executed(folder: Path, tmp_path: Path) -> None:
    trap = f"open({str(tmp_path / 'ran')!r}, 'w')\n"
    for name in ("relu", "conftest", "_helper"):
        put(folder, f"claude/{name}.py", trap + CODE)
    put_lines(folder, "geak.jsonl", {"task": "relu", "code": f"Look:\n{fenced(trap + CODE)}"})
    found = find(folder)
    assert labels(found) == ["claude/relu", "geak/relu"]
    assert found.candidates[1].source == trap + CODE
    assert not (tmp_path / "ran").exists()


def test_files_with_fences_are_taken_out_of_them(folder: Path) -> None:
    put(folder, "claude/relu.py", f"Here:\n{fenced(CODE)}")
    put(folder, "claude/SGD.py", fenced(CODE) + fenced(CODE.replace("relu", "sgd_step")) + fenced("add = 1\n"))
    found = {one.task: one for one in find(folder).candidates}
    assert (found["relu"].source, found["relu"].note) == (CODE, "taken from a Markdown block")
    assert "def sgd_step" in found["SGD"].source
    assert found["relu"].sha256 == hashlib.sha256(f"Here:\n{fenced(CODE)}".encode()).hexdigest()


def test_the_named_entry_decides_between_blocks(folder: Path) -> None:
    answer = fenced(CODE.replace("relu", "my_relu")) + fenced(CODE.replace("relu", "other"))
    put_lines(folder, "claude.jsonl", {"task": "relu", "code": answer, "entry": "my_relu"})
    (candidate,) = find(folder).candidates
    assert "def my_relu" in candidate.source
    assert entry_names(candidate, "relu", ALIASES) == ["my_relu", "relu", "kernel_function"]


def test_entry_names_in_order_of_preference() -> None:
    assert entry_names(None, "SGD", ALIASES) == ["SGD", "kernel_function", "sgd_step"]
    assert entry_names(None, "SGD", ("sgd_step", "SGD")) == ["SGD", "kernel_function", "sgd_step"]
    assert entry_names(None, "relu") == ["relu", "kernel_function"]


# the whole


def test_a_full_set_is_found_in_a_moment(folder: Path) -> None:
    tasks = {f"task_{k}": "math" for k in range(176)}
    for method in "abcde":
        for task in tasks:
            put(folder, f"{method}/math/{task}.py", CODE * 20)
    start = time.perf_counter()
    found = discover(folder, tasks)
    seconds = time.perf_counter() - start
    assert len(found.candidates) == 5 * 176
    assert seconds < 2, "0.1 s where nothing else runs"


def test_discovery_needs_neither_torch_nor_pytest() -> None:
    script = """
import sys, types
package = types.ModuleType("pytest_kernelbenchx")  # without what the package's own __init__ loads
package.__path__ = [sys.argv[1]]
sys.modules["pytest_kernelbenchx"] = package
import pytest_kernelbenchx.candidates
print(sorted({"torch", "triton", "pytest", "numpy"} & set(sys.modules)))
"""
    package = Path(sys.modules["pytest_kernelbenchx"].__file__).parent
    done = subprocess.run([sys.executable, "-c", script, package], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
