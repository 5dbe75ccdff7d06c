"""--kbx-method: which candidates are judged."""

from conftest import RELU

LIST = ("--collect-only", "-q", "-m", "compiles")


def listed(result):
    return [line.partition("[")[2].rstrip("]") for line in result.text.splitlines() if "::test_compiles[" in line]


def test_repeated_and_with_commas(inline):
    for method in ("claude", "deepseek-r1", "geak", "gpt"):
        inline.candidate(method, RELU)
    assert listed(inline.run(*LIST)) == ["claude", "deepseek-r1", "geak", "gpt"]
    assert listed(inline.run(*LIST, "--kbx-method=deepseek-r1")) == ["deepseek-r1"]
    assert listed(inline.run(*LIST, "--kbx-method=gpt, claude", "--kbx-method", "geak")) == ["claude", "geak", "gpt"]


def test_unknown_method_names_those_there_are(inline):
    inline.candidate("claude", RELU)
    inline.candidate("geak", RELU)
    said = inline.complaint("--kbx-method=cluade")
    assert "'cluade'; did you mean claude?" in said
    assert "candidates has claude, geak" in said
    assert "candidates/cluade/<category>/<task>.py" in said
    assert "--kbx-method=gpt" in inline.complaint("--kbx-method=claude,gpt")


def test_fresh_clone_says_where_to_drop_files(inline):
    said = inline.complaint("--kbx-method=claude")
    assert "candidates has no candidates yet" in said
    assert "candidates/claude/<category>/<task>.py" in said


def test_a_method_whose_files_are_all_ignored_is_known(inline):
    inline.candidate("claude", RELU, name="no_such_task")
    result = inline.run(*LIST, "--kbx-method=claude")
    assert listed(result) == []
    assert "candidates/claude/activation/no_such_task.py: 'no_such_task' is no task" in result.text


def test_empty_name(inline):
    assert "names no method" in inline.complaint("--kbx-method=,")


def test_unknown_method_under_xdist(inline):
    inline.candidate("claude", RELU)
    assert "there is no method 'gpt'" in inline.complaint("-n2", "--kbx-method=gpt")


def test_no_candidates_at_all(inline):
    result = inline.run()
    assert "no candidates: kernels go to candidates/<method>/<category>/<task>.py" in result.text
    assert result.status == 5


def test_methods_of_a_jsonl_file(inline):
    (inline.path / "gpt.jsonl").write_text('{"task": "relu", "code": "x = 1"}\n')
    said = inline.complaint("--kbx-candidates=gpt.jsonl", "--kbx-method=claude")
    assert "gpt.jsonl has gpt" in said
    assert "a line's method is what its key `method` says, or else the file's name" in said
