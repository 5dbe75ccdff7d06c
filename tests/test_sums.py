"""Sums as honest kernels make them pass on sorted values, whose partial sums are far larger than the sum.

And what else the hardware does to a right result: denormals that become 0, and the neighbour of the nearest number.
"""

import math

import pytest
import torch
from audits import answer

from conftest import TASKS
from pytest_kernelbenchx import fills
from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge.compare import compare
from pytest_kernelbenchx.judge.judging import judge
from pytest_kernelbenchx.judge.oracle import expect
from pytest_kernelbenchx.judge.tolerance import FLUSHED, WAVES, drift
from pytest_kernelbenchx.judge.verdicts import Verdict
from pytest_kernelbenchx.loading import load_task

BLOCK = 1024
SHAPES = ([5000], [65536], [4, 257, 64])  # the longest axis of all, and all that a case may hold


@pytest.fixture(autouse=True)
def sorted_values(monkeypatch):
    monkeypatch.setattr(fills, "PATTERNS", {"sorted": fills.PATTERNS["sorted"]})
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def block_sums(x):
    """Sums over the last axis, block by block in float32: a tree within a block, one after the other between them."""
    blocks = torch.nn.functional.pad(x, (0, -x.shape[-1] % BLOCK)).unflatten(-1, (-1, BLOCK))
    while blocks.shape[-1] > 1:
        blocks = blocks[..., ::2] + blocks[..., 1::2]
    total = torch.zeros_like(blocks[..., 0, 0])
    for block in blocks[..., 0].unbind(-1):
        total = total + block
    return total


def outcome(name, category, case, make):
    task = load_task(TASKS / category / f"{name}.py")
    expected = expect(task, case)
    reply = answer(task, case, expected)
    reply.value = make(*expected.arguments.values()).reshape(expected.eager[0].shape)
    return judge(task, case, expected, reply)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_block_sums_of_sorted_values_pass(shape, seed):
    case = Case(axes={"S": shape}, fill="edge", seed=seed, options={"dim": None})
    total = lambda x, *rest: block_sums(x.reshape(-1))  # noqa: E731
    found = outcome("sum", "reduce", case, total)
    assert found.passed, found.details
    wrong = outcome("sum", "reduce", case, lambda x, *rest: block_sums(x.reshape(-1)[:-1]))
    assert wrong.verdict is Verdict.WRONG_VALUES


@pytest.mark.parametrize("dim", [0, -1])
def test_block_sums_along_either_axis_pass(dim):
    for seed in range(6):
        case = Case(axes={"S": [257, 255]}, fill="edge", seed=seed, options={"dim": dim})
        found = outcome("sum", "reduce", case, lambda x, *rest: block_sums(x.movedim(dim, -1)))
        assert found.passed, found.details


def test_pytorch_alone_would_not_excuse_them():
    """A tree of additions has next to no error: what excuses a loop over blocks is how errors drift."""
    x = torch.randn(65536, generator=torch.Generator().manual_seed(4), dtype=torch.float64).sort().values
    x = (x - x.mean() + 1e-4).float()
    truth, got = x.double().sum(), block_sums(x)
    assert compare(got, truth, eager=x.sum()) is not None
    moved = torch.stack([drift(x.double(), torch.float32, number, None).sum() - truth for number in range(WAVES)])
    noise = moved.square().mean().sqrt()
    assert compare(got, truth, eager=x.sum(), noise=noise) is None
    partial = x.double().flip(0).cumsum(0).square().mean().sqrt()
    assert float(noise) == pytest.approx(float(partial) * 2**-24, rel=0.1)


@pytest.mark.parametrize("axis", [None, 0, -1, -2, 5])
def test_errors_drift_by_one_roundoff_at_most(axis):
    x = torch.ones(40, 30, dtype=torch.float64)
    walks = torch.stack([drift(x, torch.float32, number, axis) - 1 for number in range(WAVES)]) * 2**24
    size = walks.square().mean(0).sqrt()
    assert 0.9 < float(size.max()) < 1.2
    assert float(size.flatten()[0]) < 0.5
    assert torch.equal(drift(x.long(), torch.int64, 0, axis), x.long())
    assert drift(x[:0], torch.float32, 0, axis).shape == (0, 30)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64])
def test_denormal_results_may_be_flushed(dtype):
    truth = torch.tensor([1e-39, -1.1e-38, 0.0, 3e-40], dtype=torch.float64)
    wide = torch.complex128 if dtype.is_complex else torch.float64
    zeros = torch.zeros(4, dtype=dtype)
    assert compare(zeros, truth.to(wide)) is None
    assert compare(truth.to(dtype), torch.zeros(4, dtype=wide)) is None
    far = torch.tensor([1.0, 1e-37, 3 * FLUSHED, 1e-39], dtype=torch.float64)
    assert compare(torch.zeros(4, dtype=dtype), far.to(wide)) is not None
    tiny = torch.full((4,), 8 * FLUSHED, dtype=torch.float64)
    assert compare(zeros, tiny.to(wide)) is not None


def test_denormals_of_float64_stay():
    assert compare(torch.zeros(2, dtype=torch.float64), torch.full((2,), 1e-39, dtype=torch.float64)) is not None


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_the_next_number_of_16_bits_is_right_and_the_fifth_is_wrong(dtype):
    """Rounded once more than wanted, a result is one step away; in every octave, at both of its ends."""
    ends = torch.cat([2.0 ** torch.arange(-6, 7), 1.99 * 2.0 ** torch.arange(-6, 7)]).double()
    for truth in ends:
        value = truth.to(dtype).reshape(1)
        step = torch.finfo(dtype).eps * 2.0 ** math.floor(math.log2(float(value)))
        for count, right in ((1, True), (-1, True), (9, False)):
            got = (value.double() + count * step).to(dtype)
            assert (compare(got, truth.reshape(1)) is None) is right, (float(truth), count)
