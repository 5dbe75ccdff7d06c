"""--kbx-results: one more file for the records."""

import pytest


def test_a_folder_is_no_file(inline):
    (inline.path / "out").mkdir()
    assert f"--kbx-results={inline.path / 'out'}: cannot be written: Is a directory" in inline.complaint(
        "--kbx-results=out"
    )


def test_nothing_can_be_written_there(inline):
    (inline.path / "file").write_text("")
    said = inline.complaint("--kbx-results=file/records.jsonl")
    assert "cannot be written" in said


def test_relative_to_where_pytest_was_started(inline, monkeypatch):
    (inline.path / "below").mkdir()
    monkeypatch.chdir(inline.path / "below")
    result = inline.run("--collect-only", "--kbx-results=new/out.jsonl")
    assert f"rootdir: {inline.path}" in result.text
    assert (inline.path / "below" / "new" / "out.jsonl").read_bytes() == b""


@pytest.mark.parametrize("name", ["out.jsonl"])
def test_an_existing_file_elsewhere_as_a_separate_word(inline, tmp_path_factory, name):
    """pytest would take it for a test and look for its settings there: from the second run on."""
    path = tmp_path_factory.mktemp("elsewhere") / name
    assert inline.run("--collect-only", "--kbx-results", str(path)).status == 5
    assert f"write --kbx-results={path}, with an equals sign" in inline.complaint("--kbx-results", str(path))
