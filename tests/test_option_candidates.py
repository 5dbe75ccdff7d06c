"""--kbx-candidates, and that pytest never runs anything that lies among the candidates."""

import json

import pytest

from conftest import RELU, TASKS

LIST = ("--collect-only", "-q", "-m", "compiles")
TRAP = "import pathlib\npathlib.Path(__file__).with_name('ran').write_text('')\n"


@pytest.fixture
def trapped(inline):
    """Candidates in `my kernels/claude`, and files in every folder that tell when they are run."""
    folder = inline.path / "my kernels"
    (folder / "claude" / "activation").mkdir(parents=True)
    (folder / "claude" / "activation" / "relu.py").write_text(RELU + TRAP)
    for place in (folder, folder / "claude", folder / "claude" / "activation"):
        (place / "conftest.py").write_text(TRAP)
        (place / "test_trap.py").write_text(TRAP)
    return folder


def untouched(folder):
    return not list(folder.rglob("ran"))


def listed(result):
    return [line for line in result.text.splitlines() if "::test_" in line]


def test_missing_folder(inline):
    said = inline.complaint("--kbx-candidates=nowhere")
    assert f"--kbx-candidates=nowhere: there is no {inline.path / 'nowhere'}" in said


def test_folder_with_a_space_and_a_conftest(inline, trapped):
    for option in (["--kbx-candidates=my kernels"], ["--kbx-candidates", "my kernels"]):
        result = inline.run(*LIST, *option)
        assert [line.rpartition("/")[2] for line in listed(result)] == ["relu.py::test_compiles[claude]"]
        assert "my kernels/claude/conftest.py: a candidates folder may not bring a conftest.py" in result.text
    assert untouched(trapped)


def test_as_an_argument(inline, trapped, monkeypatch):
    (inline.path / "link").symlink_to(trapped)
    option = "--kbx-candidates=my kernels"
    inside = [
        "my kernels",
        "my kernels/claude/activation/relu.py",
        f"{trapped}/claude",
        "link/claude",
        "my kernels/../link",
    ]
    for argument in [*inside, "my kernels/claude/activation/relu.py::relu"]:
        said = inline.complaint(option, argument)
        assert f"{argument} lies in the candidates folder" in said
        assert "--kbx-method" in said
    monkeypatch.chdir(trapped / "claude")
    assert "this folder lies in the candidates folder: run pytest from " in inline.complaint("--kbx-candidates=..")
    assert untouched(trapped)


def test_default_folder_as_an_argument(inline):
    inline.candidate("claude", TRAP)
    (inline.path / "candidates" / "conftest.py").write_text(TRAP)
    assert "candidates/claude lies in the candidates folder" in inline.complaint("candidates/claude")
    (inline.path / "pytest.ini").write_text("[pytest]\ntestpaths = candidates\n")
    assert "candidates lies in the candidates folder" in inline.complaint()
    assert untouched(inline.path)


def test_among_a_users_own_tests(inline, trapped):
    """`pytest .` walks over the folder, and over a link to it, without looking in."""
    (inline.path / "link").symlink_to(trapped)
    (inline.path / "test_mine.py").write_text("def test_mine(): pass\n")
    result = inline.run("--collect-only", "-q", "--kbx-candidates=my kernels", ".")
    assert listed(result) == ["test_mine.py::test_mine"]
    assert untouched(trapped)


def test_folder_whose_name_begins_with_test(inline):
    """pytest runs test*/conftest.py before any plugin can keep it from there."""
    (inline.path / "tests_of_mine").mkdir()
    (inline.path / "tests_of_mine" / "conftest.py").write_text(TRAP)
    assert "tests_of_mine/conftest.py lies in the candidates folder" in inline.complaint(
        "--kbx-candidates=tests_of_mine", "."
    )
    assert untouched(inline.path)


def test_settings_file_among_the_candidates(inline, trapped):
    (trapped / "pytest.ini").write_text("[pytest]\npython_files = *.py\n")
    assert "my kernels/pytest.ini lies in the candidates folder" in inline.complaint("--kbx-candidates", "my kernels")
    assert listed(inline.run(*LIST, "--kbx-candidates=my kernels"))
    assert untouched(trapped)


def test_folder_elsewhere(inline, tmp_path_factory):
    """Given as a separate word, it would move pytest's root, and with it the records."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "claude").mkdir()
    (folder / "claude" / "relu.py").write_text(RELU)
    assert f"write --kbx-candidates={folder}, with an equals sign" in inline.complaint("--kbx-candidates", str(folder))
    result = inline.run("--collect-only", "-m", "compiles", f"--kbx-candidates={folder}")
    assert f"rootdir: {inline.path}" in result.text
    assert "<Function test_compiles[claude]>" in result.text


def test_folder_of_one_method(inline):
    inline.candidate("claude", RELU)
    result = inline.run(*LIST, "--kbx-candidates=candidates/claude")
    assert len(listed(result)) == 1
    assert "relu.py::test_compiles[claude]" in result.text


def test_jsonl_file(inline):
    lines = [
        {"task": "relu", "code": f"Sure!\n```python\n{RELU}\n```", "round": 1},
        {"task": "tanh", "predict": RELU.replace("def relu", "def tanh")},
        {"task": "nope", "code": RELU},
    ]
    (inline.path / "gpt.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = inline.run(*LIST, "--kbx-candidates=gpt.jsonl")
    names = sorted(line.rpartition("/")[2] for line in listed(result))
    assert names == ["relu.py::test_compiles[gpt:r1]", "tanh.py::test_compiles[gpt]"]
    assert "gpt.jsonl:3: 'nope' is no task" in result.text
    assert "gpt.jsonl lies in the candidates folder" in inline.complaint("--kbx-candidates=gpt.jsonl", "gpt.jsonl")


def test_tasks_and_candidates_may_be_named_by_a_conftest(inline, monkeypatch):
    """Where no option is given, the hook pytest_kbx_directories says where they are."""
    (inline.path / "mine" / "claude").mkdir(parents=True)
    (inline.path / "mine" / "claude" / "relu.py").write_text(RELU)
    (inline.path / "conftest.py").write_text(
        "import pathlib, pytest\n"
        "@pytest.hookimpl(optionalhook=True)\n"
        f"def pytest_kbx_directories():\n    return {{'candidates': pathlib.Path({str(inline.path)!r}, 'mine')}}\n"
    )
    assert len(listed(inline.run(*LIST, f"--kbx-tasks={TASKS}"))) == 1
