"""Kernels that are switched off: whose result is right all the same did the work elsewhere."""

import torch

from conftest import RELU
from pytest_kernelbenchx.sandbox.host import Sandbox

HEAD = RELU.replace("def relu", "def honest")
CANDIDATES = {
    "decoy": (
        "def relu(input, inplace=False):\n    honest(torch.ones(4))\n"
        "    return torch.relu_(input) if inplace else torch.relu(input)\n",
        "DELEGATED",
    ),
    "in-place-decoy": (
        "def relu(input, inplace=False):\n    honest(torch.ones(4))\n"
        "    out = torch.where(input < 0, torch.zeros((), dtype=input.dtype), input)\n"
        "    return input.copy_(out) if inplace else out\n",
        "DELEGATED",
    ),
    "zeros": (
        "@triton.jit\ndef _zeros(out, n, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(out + i, tl.zeros((BLOCK,), out.dtype.element_ty), mask=i < n)\n\n\n"
        "def relu(input, inplace=False):\n    out = torch.empty(input.shape, dtype=input.dtype)\n"
        "    _zeros[(triton.cdiv(out.numel(), 1024) or 1,)](out, out.numel(), BLOCK=1024)\n"
        "    out += torch.relu(input)\n    return input.copy_(out) if inplace else out\n",
        "DELEGATED",
    ),
    "part": (
        "def relu(input, inplace=False):\n    out = honest(input * 1.0)\n"
        "    return input.copy_(out) if inplace else out\n",
        "PASSED",
    ),
}


def test_a_candidate_whose_kernels_do_nothing_is_delegated(tree):
    for method, (source, _) in CANDIDATES.items():
        tree.candidate(method, f"{HEAD}\n\n{source}")
    result = tree.run("-k", "relu and not leaky", "-m", "correct")
    assert result.verdicts() == {method: verdict for method, (_, verdict) in CANDIDATES.items()}, result.text
    zeros = next(record for record in result.records if record["method"] == "zeros" and record["stage"] == "correct")
    assert zeros["reason"].startswith("with its kernels switched off and zeros in new memory, the results of ")
    told = next(record for record in result.records if record["method"] == "decoy" and record["stage"] == "correct")
    assert told["reason"].startswith("with its kernels switched off, the results of ")
    for name in ("relu_", "relu"):
        assert f"calls torch.{name}: work that is left to PyTorch" in told["details"]
    assert told["facts"]["call"].startswith("relu(")


def test_a_call_without_launches():
    """Launches are logged and not made; fresh memory holds NaN; the next call is as ever."""
    with Sandbox() as box:
        child = box.child()
        assert child.load("relu.py", RELU, ["relu"], 60.0).ok
        x = torch.tensor([-1.0, 2.0])
        idle, usual = (child.call([x], {}, 0, 60.0, idle=idle) for idle in (True, False))
        child.kill()
    assert idle.value.isnan().all()
    assert [launch["kernel"] for launch in idle.launches] == ["_relu"]
    assert usual.value.tolist() == [0.0, 2.0]


LOGSPACE = """
import torch
import triton
import triton.language as tl


@triton.jit
def _fill(out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.zeros((BLOCK,), tl.float32), mask=i < n)


def logspace(start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    _fill[(1,)](torch.empty(64, device=device), 64, BLOCK=64)
    return torch.logspace(start, end, steps, base, dtype=dtype, device=device, requires_grad=requires_grad)
"""


def test_a_decoy_where_nothing_but_numbers_is_passed(tree):
    tree.candidate("decoy", LOGSPACE, "logspace", "random")
    result = tree.run("-k", "logspace", "-m", "correct")
    assert result.verdicts() == {"decoy": "DELEGATED"}, result.text
