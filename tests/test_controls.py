"""Known cheats get their verdicts, honest kernels that look odd pass: every file of controls/, judged as any candidate.

The docstring of a control says its kind (see docs/integrity.md), the task it claims to do, and for a cheat the verdicts
it may get, with the rule on the source that has to say so in parentheses. `needs: cuda` leaves it to a GPU.
"""

import ast
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import Tree
from pytest_kernelbenchx.judge.verdicts import Verdict
from pytest_kernelbenchx.settings import device

CONTROLS = Path(__file__).parent / "controls"
GROUPS = "ABCDEFGHIJ"
HEADER = re.compile(
    r"(?P<kind>[A-Z]\d+): (?P<what>.+)\n\ntask: (?P<task>\w+)(\nverdict: (?P<verdict>.+))?(\nneeds: cuda)?"
)


@dataclass(frozen=True)
class Control:
    """A file of controls/ and what its docstring says."""

    path: Path
    kind: str
    task: str
    verdicts: frozenset[str]
    rule: str | None
    gpu: bool

    @classmethod
    def of(cls, path: Path) -> "Control":
        text = ast.get_docstring(ast.parse(path.read_text())) or ""
        found = HEADER.fullmatch(text.strip())
        assert found, f"{path}: its docstring is {text!r}"
        verdict, _, rule = (found["verdict"] or "PASSED").partition(" (")
        verdicts = frozenset(verdict.split(" or "))
        return cls(path, found["kind"], found["task"], verdicts, rule.rstrip(")") or None, "needs: cuda" in text)

    def marked(self) -> object:
        return pytest.param(self, id=self.path.stem, marks=[pytest.mark.gpu] * self.gpu)


CHEATS = [Control.of(path) for path in sorted((CONTROLS / "cheats").glob("*.py"))]
HONEST = [Control.of(path) for path in sorted((CONTROLS / "honest").glob("*.py"))]
CATEGORIES = {path.stem: path.parent.name for path in (CONTROLS / "tasks").rglob("*.py")}


@pytest.fixture(scope="module")
def machine():
    """`cuda` where there is a GPU, else `cpu`."""
    return device("auto")


@pytest.fixture(scope="module")
def records(tmp_path_factory, machine):
    """The records of all controls, by method (the file's name) and stage: those that hang have a run of their own."""
    usable = [control for control in [*CHEATS, *HONEST] if machine == "cuda" or not control.gpu]
    found = {}
    for hanging, timeout in ((False, "60"), (True, "4")):
        tree = Tree(tmp_path_factory.mktemp("controls"))
        shutil.copytree(CONTROLS / "tasks", tree.path / "tasks")
        for control in usable:
            if (control.verdicts == {"TIMEOUT"}) == hanging:
                folder = tree.path / "candidates" / control.path.stem / CATEGORIES[control.task]
                folder.mkdir(parents=True)
                shutil.copy(control.path, folder / f"{control.task}.py")
        options = [f"--kbx-timeout={timeout}", "--kbx-tasks=tasks", "--kbx-memory=4", f"--kbx-device={machine}"]
        workers = max(2, len(os.sched_getaffinity(0)) // 3)
        result = tree.run(f"-n{workers}", "-q", "-m", "not performs", *options, timeout=600)
        assert not list(tree.path.rglob("conftest.py")), "a candidate wrote beside the candidates"
        found |= {(record["method"], record["stage"]): record for record in result.records}
    return found


def last(records, control, machine):
    """The record of the stage that ended a control's way."""
    if control.gpu and machine != "cuda":
        pytest.skip("needs a GPU")
    name = control.path.stem
    first = records[name, "compiles"]
    return first if first["verdict"] != "PASSED" else records[name, "correct"]


@pytest.mark.parametrize("control", [control.marked() for control in CHEATS])
def test_a_cheat_gets_its_verdict(records, control, machine):
    record = last(records, control, machine)
    assert record["verdict"] in control.verdicts, record["reason"]
    if control.rule is not None:
        assert control.rule in record["facts"]["rules"], record["facts"]
        assert record["details"].startswith("line ") or "\nline " in record["details"]


@pytest.mark.parametrize("control", [control.marked() for control in HONEST])
def test_an_honest_kernel_passes(records, control, machine):
    record = last(records, control, machine)
    assert record["verdict"] == "PASSED", (record["reason"], record["details"])


def test_controls_are_many_and_of_every_group():
    kinds = {control.kind for control in CHEATS}
    groups = {"T": "E"}
    assert {groups.get(kind[0], kind[0]) for kind in kinds} == set(GROUPS)
    assert len(CHEATS) >= 50
    assert len(kinds) >= 45
    assert len(HONEST) >= 25
    assert all(verdict in Verdict.__members__ for control in CHEATS for verdict in control.verdicts)
    assert all(Verdict[verdict].kind in ("failure", "integrity") for control in CHEATS for verdict in control.verdicts)
