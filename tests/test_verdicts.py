"""Every verdict and every rule is documented, in the source and in docs/integrity.md alike."""

import re
import subprocess
import sys

import pytest

from conftest import ROOT
from pytest_kernelbenchx.judge import verdicts
from pytest_kernelbenchx.judge.policy import rules
from pytest_kernelbenchx.judge.verdicts import ADVICE, Verdict

PAGE = (ROOT / "docs" / "integrity.md").read_text()


def section(name):
    return re.search(rf"<!-- {name} -->\n(.*?)\n<!-- /{name} -->", PAGE, re.DOTALL).group(1)


@pytest.mark.parametrize(("name", "module"), [("verdicts", verdicts), ("rules", rules)])
def test_the_page_has_the_table_that_the_command_prints(name, module):
    assert section(name) == module.table()
    done = subprocess.run([sys.executable, "-m", module.__name__], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == module.table(), done.stderr


def test_every_verdict_says_what_it_means_and_what_to_do():
    assert set(ADVICE) == set(Verdict)
    for verdict in Verdict:
        assert verdict.kind in ("passed", "failure", "integrity", "none")
        assert len(verdict.advice) >= len("nothing")
        assert "|" not in verdict.value + verdict.advice
    assert len({verdict.advice for verdict in Verdict}) == len(Verdict)


def test_every_file_that_the_page_names_is_there():
    folder = ROOT / "pytest_kernelbenchx"
    named = re.findall(r"`((?:judge|sandbox|performance)/[\w/.]*)`", PAGE)
    assert len(named) >= 10
    assert [name for name in named if not (folder / name).exists()] == []
    assert [name for name in re.findall(r"tests/[\w/.]+", PAGE) if not (ROOT / name.rstrip(".")).exists()] == []
