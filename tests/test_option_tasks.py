"""--kbx-tasks: where the task files are."""

import pytest

from conftest import RELU, TASKS

DOUBLE = '''"""Twice the input."""

from pytest_kernelbenchx import task


@task(inputs={"input": "f32[*S]"}, output="f32[*S]", sizes={"1k": dict(S=[1024])})
def double(input):
    return input * 2
'''


def listed(result):
    return [line for line in result.text.splitlines() if "::test_" in line]


@pytest.fixture
def mine(inline):
    """A folder of tasks that is not named tasks/, with one task and a test beside it."""
    folder = inline.path / "my_tasks"
    (folder / "math").mkdir(parents=True)
    (folder / "math" / "double.py").write_text(DOUBLE)
    (inline.path / "test_mine.py").write_text("def test_mine(): pass\n")
    inline.candidate("claude", RELU.replace("def relu", "def double"), "double", "math")
    inline.candidate("claude", RELU, "relu", "math")
    return folder


def test_without_a_path_its_tasks_run(inline, mine):
    result = inline.run("--collect-only", "-q", "--kbx-tasks=my_tasks")
    path = "my_tasks/math/double.py"
    assert listed(result) == [
        f"{path}::test_compiles[claude]",
        f"{path}::test_correct[claude]",
        f"{path}::test_performs[claude-1k]",
    ]
    assert "candidates/claude/math/relu.py: 'relu' is no task" in result.text


def test_elsewhere(inline, mine):
    result = inline.run("--collect-only", "-m", "compiles", f"--kbx-tasks={TASKS}")
    assert f"rootdir: {inline.path}" in result.text
    assert "<TaskFile relu.py>" in result.text
    assert "test_mine" not in result.text


def test_with_a_path_only_that_runs(inline, mine):
    assert listed(inline.run("--collect-only", "-q", "--kbx-tasks=my_tasks", "test_mine.py")) == [
        "test_mine.py::test_mine"
    ]


def test_missing_folder(inline):
    assert f"--kbx-tasks=nowhere: there is no {inline.path / 'nowhere'}" in inline.complaint("--kbx-tasks=nowhere")


def test_a_file_is_no_folder(inline):
    said = inline.complaint("--kbx-tasks=pytest.ini")
    assert f"--kbx-tasks=pytest.ini: {inline.path / 'pytest.ini'} is a file, wanted the folder" in said
