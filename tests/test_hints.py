"""Hints, each from a small candidate that makes that one mistake, judged in the interpreter."""

import pytest

from conftest import Tree
from pytest_kernelbenchx.judge.hints import UNWRITTEN
from pytest_kernelbenchx.judge.mistakes import STRIDES

COPY = """
import torch
import triton
import triton.language as tl


@triton.jit
def _copy(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < LIMIT)


def through(result, out=None):
    result = result.contiguous()
    copied = torch.empty_like(result)
    if copied.numel():
        _copy[(GRID(copied.numel(), 1024),)](result, copied, copied.numel(), BLOCK=1024)
    return copied if out is None else out.copy_(copied)
"""
TRANSPOSED = """

def transposed(result):
    return result.mT.reshape(result.shape) if result.dim() > 1 else result
"""
RELU = "def relu(input, inplace=False):\n    out = through({})\n    return input.copy_(out) if inplace else out\n"
SUB = "def sub(input, other, *, alpha=1, out=None):\n    other = torch.as_tensor(other, dtype=input.dtype)\n    {}\n"
MEAN = "def mean(input_tensor, dim, keepdim=False, dtype=None, out=None):\n    return through({}, out)\n"
STD = "def std(input, dim=None, correction=1, keepdim=False, out=None):\n    return through({}, out)\n"
SOFTMAX = "def softmax(input, dim, dtype=None):\n    return through({})\n"
LINEAR = "def fused_tanh_linear(input, weight, bias=None):\n    return through(torch.tanh({}))\n"
LEAKY = RELU.replace("relu(input", "leaky_relu(input, negative_slope=0.01")
NORM = """
def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    given = (running_mean, running_var, weight, bias, training, momentum)
    return through(torch.nn.functional.batch_norm(input, *given, {}))
"""
CATEGORIES = {
    "relu": "activation",
    "leaky_relu": "activation",
    "sub": "math",
    "softmax": "math",
    "mean": "reduce",
    "std": "reduce",
    "fused_tanh_linear": "fusion",
    "batch_norm": "normalization",
}
# method: task, source, and the words of the hint (None: no hint, because several mistakes would fit)
MISTAKES = {
    "partial": ("relu", RELU.format("torch.relu(input)"), UNWRITTEN),
    "masked": ("relu", RELU.format("torch.relu(input)"), UNWRITTEN),
    "strides": (
        "relu",
        RELU.format("torch.relu(torch.as_strided(input, input.shape, torch.empty(input.shape).stride()))"),
        STRIDES,
    ),
    "half": ("relu", RELU.format("torch.relu(input.half()).to(input.dtype)"), "inputs rounded to float16"),
    "shifted": ("relu", RELU.format("torch.relu(input).roll(1)"), "shifted by one element"),
    "sign": ("sub", SUB.format("return through(alpha * other - input, out)"), "the wrong sign"),
    "option": ("sub", SUB.format("return through(input - other, out)"), "the result for alpha=1"),
    "slope": (
        "leaky_relu",
        LEAKY.format("torch.nn.functional.leaky_relu(input)"),
        "the result for negative_slope=0.01",
    ),
    "sum": ("mean", MEAN.format("torch.sum(input_tensor, dim, keepdim, dtype=dtype)"), "in place of the mean"),
    "root": (
        "std",
        STD.format("torch.var(input, dim, correction=correction, keepdim=keepdim)"),
        "a square root is missing",
    ),
    "correction": ("std", STD.format("torch.std(input, dim, keepdim=keepdim)"), "the result for correction=1"),
    "logarithm": (
        "softmax",
        SOFTMAX.format("torch.log_softmax(input, dim, dtype=dtype)"),
        "an exponential is missing",
    ),
    "transposed": ("softmax", SOFTMAX.format("transposed(torch.softmax(input, dim, dtype=dtype))"), "transposed"),
    "bias": ("fused_tanh_linear", LINEAR.format("input @ weight.mT"), "the result without 'bias'"),
    "eps": ("batch_norm", NORM.format("0.0"), "the result for eps=0.0"),
    "inplace": ("relu", "def relu(input, inplace=False):\n    return through(torch.relu(input))\n", "'input' was not"),
    "out": ("sub", SUB.format("return through(input - alpha * other)"), "the output was not written, or NaN"),
    "noise": ("relu", RELU.format("torch.relu(input) + 0.01 * torch.rand(input.shape)"), None),
}


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    tree = Tree(tmp_path_factory.mktemp("hints"))
    for method, (name, body, _) in MISTAKES.items():
        floor = "(lambda n, b: max(1, n // b))" if method == "partial" else "triton.cdiv"
        source = COPY.replace("GRID", floor).replace("LIMIT", "n - 1" if method == "masked" else "n")
        tree.candidate(method, f"{source}{TRANSPOSED}\n\n{body}", name, CATEGORIES[name])
    result = tree.run("-m", "correct")
    return {record["method"]: record for record in result.records if record["stage"] == "correct"}


@pytest.mark.parametrize("method", MISTAKES)
def test_the_hint_of(method, records):
    record, words = records[method], MISTAKES[method][-1]
    assert record["verdict"] == "WRONG_VALUES", record["reason"]
    hints = [line for line in record["details"].splitlines() if line.startswith("hint: ")]
    if words is None:
        assert hints == []
    else:
        assert len(hints) == 1, record["details"]
        assert words in hints[0]
