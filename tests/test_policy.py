"""Stage one's rules on the source: each one bites, text that is no code never matches, honest code passes."""

import pytest

from conftest import ROOT
from pytest_kernelbenchx.candidates import discover
from pytest_kernelbenchx.judge.policy import GROUPS, MODULES, examine, parse
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


def judged(source, forbid=()):
    tree = parse(source)
    return tree if isinstance(tree, Outcome) else examine(tree, source, forbid)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_modules_that_no_kernel_needs(module):
    forms = [f"import {module}", f"import torch, {module} as m", f"from {module} import x", f"import {module}.sub"]
    for line in [
        *forms,
        f"def relu(x):\n    import {module}",
        f"try:\n    import {module}\nexcept ImportError:\n    pass",
    ]:
        outcome = judged(KERNEL + line)
        assert outcome.verdict is Verdict.FORBIDDEN
        assert f"imports {module}: " in outcome.reason
    assert judged(f"{KERNEL}import {module}x\nfrom torch import {module}") is None


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("exec('x = 1')", "calls exec"),
        ("y = eval('1')", "calls eval"),
        ("m = __import__('os')", "calls __import__"),
        ("torch.allclose = lambda *a: True", "assigns to torch.allclose"),
        ("torch.testing.assert_close = print", "assigns to torch.testing.assert_close"),
        ("triton.cdiv, y = 1, 2", "assigns to triton.cdiv"),
        ("time.perf_counter = lambda: 0", "assigns to time.perf_counter"),
        ("sys.exit: int = 3", "assigns to sys.exit"),
        ("os.environ = {}", "assigns to os.environ"),
        ("for torch.x in range(3): pass", "assigns to torch.x"),
    ],
)
def test_calls_and_stores(line, what):
    outcome = judged(KERNEL + line)
    assert outcome.verdict is Verdict.FORBIDDEN
    number = KERNEL.count("\n") + 1
    assert outcome.reason.startswith(f"line {number}: {what}: ")
    assert outcome.details.splitlines()[0] == f"line {number}: {line}"
    assert outcome.reason.partition(": ")[2] in outcome.details


def test_every_finding_is_told():
    outcome = judged("import gc\n\nimport ctypes\n")
    assert outcome.details.splitlines()[::2] == ["line 1: import gc", "line 3: import ctypes"]


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_operators_that_a_task_rules_out(group):
    for name in GROUPS[group]:
        source = f"{KERNEL}def f(a, b):\n    return torch.{name}(a, b)\n"
        outcome = judged(source, (group,))
        assert outcome.verdict is Verdict.FORBIDDEN
        assert f"calls torch.{name}: " in outcome.reason
        assert judged(source) is None
        assert judged(f"{KERNEL}def f(a):\n    return a.{name}(a)\n", (group,)).verdict is Verdict.FORBIDDEN
        assert judged(f"{KERNEL}def {name}(a):\n    return a.{name}\n", (group,)) is None, "a name is no call"


def test_the_matrix_operator():
    source = f"{KERNEL}def f(a, b):\n    return a @ b\n"
    assert "uses @" in judged(source, ("matmul",)).reason
    assert judged(source, ("conv",)) is None


def test_inside_a_kernel_the_same_names_are_tritons():
    assert "tl.softmax(" in KERNEL
    assert judged(KERNEL, tuple(GROUPS)) is None
    tuned = KERNEL.replace("@triton.jit", "@triton.autotune(configs=[], key=['n'])\n@triton.jit")
    assert judged(tuned, tuple(GROUPS)) is None


def test_text_is_no_code():
    talk = "import ctypes; exec('x'); torch.allclose = print; a @ b; torch.matmul(a, b)"
    source = (
        f'"""{talk}"""\n# {talk}\nTEXT = "{talk}"\n{KERNEL}\ndef relu(x):\n    """{talk}"""\n    return f"{talk}"\n'
    )
    assert talk in source
    assert judged(source, tuple(GROUPS)) is None


HONEST = {
    "in place, names that sound bad": KERNEL
    + """
def relu_(x):
    eval_mode, exec_stream, gc_cache, time_now = True, None, {}, 0
    x.grad = None
    x.data = x
    return x
""",
    "a workspace kept between calls": KERNEL
    + """
_WORKSPACE = {}


class Scratch:
    def __init__(self):
        self.torch = torch.empty(3)
        self.time = 0
""",
    "optional import, device properties": KERNEL
    + """
try:
    from triton.language.extra import libdevice
except ImportError:
    libdevice = None


def count(device):
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 4
""",
    "evaluation mode, methods named as the rules": KERNEL
    + """
def f(model, x):
    model.eval()
    return model.exec(x).to(torch.float32)
""",
    "split sums, then a cast": KERNEL
    + """
import functools
import math
from typing import Optional


@functools.lru_cache(maxsize=None)
def blocks(n: int) -> Optional[int]:
    return 1 << math.ceil(math.log2(n))


def f(a):
    return torch.zeros(a.shape, dtype=torch.float32).to(a.dtype)
""",
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_is_not_flagged(name):
    assert judged(HONEST[name], ("quantize", "matmul")) is None


def test_our_own_kernels_are_not_flagged():
    assert EXPERT
    assert {path.name: judged(path.read_text()) for path in EXPERT if judged(path.read_text())} == {}


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
    outcome = judged("'a\x0cb\u2028c'\r\nx = 1\r\nimport gc\n")
    assert outcome.details.splitlines()[0] == "line 3: import gc"


def test_candidates_that_break_the_parser_do_not_break_the_run(tmp_path):
    """They are found like any other, and fail in stage one."""
    for number, source in enumerate(["-" * 200_000 + "1", "x = " + "+".join(["1"] * 30_000), "(" * 3000]):
        (tmp_path / f"m{number}").mkdir()
        (tmp_path / f"m{number}" / "relu.py").write_text(source)
    found = discover(tmp_path, {"relu": "activation"})
    assert [judged(candidate.source).verdict for candidate in found.candidates] == [Verdict.SYNTAX] * 3
