"""Stage one's look at the source: text that is no code never matches, messages quote the line, honest code passes."""

import pytest

from conftest import RELU, ROOT
from pytest_kernelbenchx.candidates import discover
from pytest_kernelbenchx.judge.policy import GROUPS, Level, examine, parse
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict

KERNEL = """
import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.softmax(tl.load(x + i, mask=i < n)), mask=i < n)

"""
EXPERT = sorted((ROOT / "candidates" / "expert").rglob("*.py"))


def examined(source, forbid=()):
    tree = parse(source)
    return tree if isinstance(tree, Outcome) else examine(tree, source, forbid)


def judged(source, forbid=()):
    seen = examined(source, forbid)
    return seen if isinstance(seen, Outcome) else seen.outcome


def test_a_message_quotes_the_line_and_says_what_the_rule_is_for():
    line = "torch.allclose = lambda *a: True"
    outcome = judged(KERNEL + line)
    assert outcome.verdict is Verdict.FORBIDDEN
    number = KERNEL.count("\n") + 1
    reason = f"line {number}: assigns to torch.allclose: a candidate may not change foreign modules"
    assert outcome.reason == reason
    assert outcome.details.splitlines()[0] == f"line {number}: {line}"
    assert outcome.reason.partition(": ")[2] in outcome.details
    assert outcome.facts == {"rules": ["patch"]}


def test_every_finding_is_told():
    outcome = judged("import mmap\n\nimport ctypes\n")
    assert outcome.details.splitlines()[::2] == ["line 1: import mmap", "line 3: import ctypes"]


def test_what_needs_confirmation_is_in_the_record_and_explains_a_verdict():
    seen = examined(KERNEL + "import os\ns = torch.cuda.Stream()\ndef f(a): return a @ a\n")
    assert seen.outcome is None
    assert seen.facts["policy"]["notes"] == [f"line {KERNEL.count(chr(10)) + 1}: system: imports os"]
    assert [text.partition(": ")[2] for text in seen.facts["policy"]["confirm"]] == [
        "stream: calls torch.cuda.Stream",
        "compute: uses @",
    ]
    late = seen.explained(Outcome(Verdict.ASYNC_WORK, "late", "evidence"))
    assert late.reason == "late"
    assert late.details.splitlines()[0] == "evidence"
    assert late.details.splitlines()[1].endswith("s = torch.cuda.Stream()")
    assert late.facts["rules"] == ["stream"]
    wrong = Outcome(Verdict.WRONG_VALUES, "wrong")
    assert seen.explained(wrong) is wrong, "what nothing confirms is not held against it"


def test_a_library_counts_where_its_import_could_work():
    assert examined(KERNEL + "import flash_attn_no_such, xformers").imported() is None
    outcome = examined(KERNEL + "import radon.metrics").imported()
    assert outcome.verdict is Verdict.FORBIDDEN
    assert "imports radon: it is none of the modules that a kernel is known to need" in outcome.reason


def test_in_a_run_findings_travel_in_the_records(tree):
    """A note hurts nobody; a library that is there is forbidden; a fallback explains that no kernel ran."""
    tree.candidate("noted", "import os\n" + RELU)
    tree.candidate("library", "import radon\n" + RELU)
    idle = RELU.replace("    flat = input", "    return torch.relu(input)\n    flat = input")
    tree.candidate("idle", idle)
    result = tree.run("-m", "compiles", "-k", "relu and not leaky")
    records = {record["method"]: record for record in result.records}
    assert records["noted"]["verdict"] == "PASSED"
    assert records["noted"]["facts"]["policy"] == {"notes": ["line 1: system: imports os"]}
    assert records["library"]["verdict"] == "FORBIDDEN"
    assert records["idle"]["verdict"] == "NO_KERNEL"
    assert "calls torch.relu: work that is left to PyTorch is not the candidate's" in records["idle"]["details"]


def test_text_is_no_code():
    talk = "import ctypes; exec('x'); torch.allclose = print; a @ b; torch.matmul(a, b)"
    source = (
        f'"""{talk}"""\n# {talk}\nTEXT = "{talk}"\n{KERNEL}\ndef relu(x):\n    """{talk}"""\n    return f"{talk}"\n'
    )
    assert talk in source
    assert judged(source, tuple(GROUPS)) is None


def test_our_own_kernels_are_neither_rejected_nor_suspected():
    """But for a factorisation or two that is left to PyTorch, which is told."""
    assert EXPERT
    found = {path.name: examined(path.read_text()).findings for path in EXPERT}
    told = {name: [x for x in f if x.level is not Level.NOTE and x.rule != "compute"] for name, f in found.items()}
    assert {name: findings for name, findings in told.items() if findings} == {}
    assert sum(any(x.rule == "compute" for x in f) for f in found.values()) <= 5


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(:\n    pass", "line 1: invalid syntax"),
        ("x = 1\nreturn 3 +\n", "line 2: invalid syntax"),
        ("def f():\n        x\n    y\n", "line 3: unindent does not match any outer indentation level"),
    ],
)
def test_what_does_not_parse(source, reason):
    outcome = judged(source)
    assert outcome.verdict is Verdict.SYNTAX
    assert outcome.reason == f"the file does not parse: {reason}"
    assert outcome.details == source.splitlines()[int(reason[5]) - 1].strip()


@pytest.mark.parametrize(
    "source",
    ["(" * 3000, "-" * 200_000 + "1", "x = " + "+".join(["1"] * 30_000), "torch" + ".x" * 900 + " = 1", "x = 1\x00"],
)
def test_what_breaks_the_parser_is_a_verdict(source):
    outcome = judged(source)
    assert outcome.verdict in (Verdict.SYNTAX, Verdict.FORBIDDEN)


def test_lines_are_quoted_as_python_counts_them():
    outcome = judged("'a\x0cb\u2028c'\r\nx = 1\r\nimport mmap\n")
    assert outcome.details.splitlines()[0] == "line 3: import mmap"


def test_candidates_that_break_the_parser_do_not_break_the_run(tmp_path):
    """They are found like any other, and fail in stage one."""
    for number, source in enumerate(["-" * 200_000 + "1", "x = " + "+".join(["1"] * 30_000), "(" * 3000]):
        (tmp_path / f"m{number}").mkdir()
        (tmp_path / f"m{number}" / "relu.py").write_text(source)
    found = discover(tmp_path, {"relu": "activation"})
    assert [judged(candidate.source).verdict for candidate in found.candidates] == [Verdict.SYNTAX] * 3
