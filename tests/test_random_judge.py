"""Random outputs: any right generator passes, wrong rates, scales, masks and distributions do not."""

import math

import pytest
import torch
import torch.nn.functional as F

from pytest_kernelbenchx.judge.chance import credible
from pytest_kernelbenchx.judge.randomized import Dropout, Fixed, Uniform, judge_dropout, judge_uniform
from pytest_kernelbenchx.judge.verdicts import Verdict

SHAPES = [(5,), (3, 7), (5000,), (64, 257), (4, 33, 65)]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small tensors: more threads only wait for each other when tests run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def rng(seed):
    return torch.Generator().manual_seed(seed)


def data(shape, seed=0):
    return torch.randn(shape, generator=rng(seed), dtype=torch.float64)


def masked(x, p, seed=1, scale=None):
    keep = torch.rand(x.shape, generator=rng(seed)) >= p
    return torch.where(keep, x * (1 / (1 - p) if scale is None else scale), 0.0)


def judged(got, x, p, **more):
    outcome = judge_dropout(got, x / (1 - p) if p < 1 else x, torch.zeros_like(x), p, **more)
    assert outcome.verdict in (Verdict.PASSED, Verdict.WRONG_VALUES)
    return outcome


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_right_dropout_passes(shape, p, dtype):
    x = data(shape)
    for seed in range(4):
        got, second = (masked(x, p, s, 0 if p == 1 else None) for s in (seed, seed + 50))
        outcome = judged(got.to(dtype), x, p, second=second.to(dtype))
        assert outcome.passed, outcome.reason


def test_small_kept_values_do_not_shift_the_share():
    generator = torch.Generator().manual_seed(1)
    kept = F.gelu(8 * torch.randn(400, 300, generator=generator, dtype=torch.float64))
    # One in seven is so small that 0 might be a kept one; kept ones that are not 0 are no dropped ones all the same.
    got = torch.where(torch.rand(400, 300, generator=generator) < 0.3, 0.0, kept).to(torch.float16)
    outcome = judge_dropout(got, kept, torch.zeros_like(kept), 0.3)
    assert outcome.passed, outcome.reason


def test_right_dropout_of_sparse_data_passes():
    """Where the kept value is 0 the mask cannot be seen."""
    x = data((40, 50)).relu()
    outcome = judged(masked(x, 0.5).float(), x, 0.5, second=masked(x, 0.5, 2).float())
    assert outcome.passed
    assert outcome.facts["judged"] == int((x > 0).sum())
    assert judged(torch.zeros(40, 50), 0 * x, 0.5).facts == {"judged": 0, "dropped": 0}


X = data((64, 257), 3)
SLICES = masked(torch.ones(257, dtype=torch.float64), 0.3)
BLOCK = masked(torch.ones(64, dtype=torch.float64), 0.3)
WRONG = {
    "not scaled": (masked(X, 0.3, scale=1.0), "1 / (1 - p)"),
    "scaled by 1 / p": (masked(X, 0.3, scale=1 / 0.3), "neither kept nor dropped"),
    "kept at rate p": (masked(X, 0.7, scale=1 / 0.7), "were dropped"),
    "rate 0.35": (masked(X, 0.35, scale=1 / 0.7), "were dropped"),
    "nothing dropped": (X / 0.7, "0 of"),
    "everything dropped": (0 * X, "were dropped (100 %)"),
    "no dropout at all": (X, "1 / (1 - p)"),
    "the same mask in every row": (X * SLICES, "all slices along axis 0"),
    "the same mask in every block": (
        X.flatten()[: 256 * 64] * BLOCK.repeat(256),
        "period of 64",
    ),
    "one wrong element": (masked(X, 0.3) + F.one_hot(torch.tensor(200), 257) * torch.eye(64)[:, :1], "1 of 16448"),
    "NaN for dropped": (masked(X, 0.3).masked_fill(masked(X, 0.3) == 0, math.nan), "neither kept nor dropped"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_dropout_fails(kind):
    got, words = WRONG[kind]
    x = X if got.shape == X.shape else X.flatten()[: got.numel()].reshape(got.shape)
    outcome = judged(got.float(), x, 0.3)
    assert outcome.verdict is Verdict.WRONG_VALUES
    assert words in outcome.reason
    assert len(outcome.reason) < 400


def test_another_seed_must_give_another_mask():
    got = masked(X, 0.3).float()
    assert judged(got, X, 0.3, second=masked(X, 0.3, 2).float()).passed
    assert "another seed" in judged(got, X, 0.3, second=got).reason
    few = X[0, :5]
    assert judged(masked(few, 0.3).float(), few, 0.3, second=masked(few, 0.3).float()).passed


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_without_a_choice_every_element_is_judged(p):
    right = torch.zeros(64, 257) if p else X.float()
    assert judged(right, X, p, second=right).passed
    assert "there is no choice" in judged(masked(X, 0.3).float(), X, p).reason


def test_declaration_reads_the_arguments():
    assert Dropout().rate({"p": 0.3, "training": True}) == 0.3
    assert Dropout().rate({"p": 0.3, "training": False}) == 0.0
    assert Dropout(p="dropout_p", training=None).rate({"dropout_p": 1}) == 1.0
    with pytest.raises(KeyError):
        Dropout(p="q").rate({"p": 0.3, "training": True})


@pytest.mark.parametrize("call", [F.dropout, torch.dropout, torch.nn.Dropout(0.25)])
def test_fixed_dropout_gives_both_ends(call):
    x = torch.ones(4)
    arguments = () if isinstance(call, torch.nn.Dropout) else (0.25, True)
    with Fixed(keep=True):
        assert torch.equal(torch.exp(call(x, *arguments)), torch.exp(x / 0.75))
    with Fixed(keep=False):
        assert torch.equal(call(x, *arguments), torch.zeros(4))


def test_fixed_dropout_leaves_evaluation_alone():
    with Fixed(keep=False):
        assert torch.equal(F.dropout(torch.ones(4), 0.5, training=False), torch.ones(4))
        assert torch.equal(F.dropout(torch.ones(4), p=0.0), torch.ones(4))
    with Fixed(keep=True):
        assert torch.equal(F.dropout(torch.ones(4), p=1.0), torch.zeros(4))
        assert torch.equal(F.dropout(torch.ones(4)), torch.full((4,), 2.0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 3), (5000,), (128, 256)])
def test_right_uniform_numbers_pass(shape, dtype):
    for seed in range(10):
        got, second = (torch.rand(shape, generator=rng(s), dtype=dtype) for s in (seed, seed + 100))
        outcome = judge_uniform(got, Uniform(), second=second)
        assert outcome.passed, outcome.reason
    got = torch.rand(shape, generator=rng(0)) * 3 - 1
    assert judge_uniform(got, Uniform(-1, 2)).passed


R = torch.rand(64, 128, generator=rng(0))
NOT_UNIFORM = {
    "zeros": (0 * R, "all slices along axis 0"),
    "a constant": (0 * R + 0.5, "all slices along axis 0"),
    "few numbers, all small": (R[0, :50] / 9, "not uniform"),
    "normal": (torch.randn(64, 128, generator=rng(0)), "outside"),
    "1 reached": (torch.where(R < 0.01, 1.0, R), "outside"),
    "NaN": (torch.where(R < 0.01, math.nan, R), "outside"),
    "half the range": (R / 2, "not uniform"),
    "squared": (R**2, "not uniform"),
    "8 bits": ((R * 8).floor() / 8, "not uniform"),
    "a ramp": (torch.arange(64 * 128).reshape(64, 128) / (64 * 128), "depend on each other"),
    "every number twice": (R.flatten()[:4096].repeat_interleave(2), "depend on each other"),
    "the same row": (R[:1].expand(64, 128).contiguous(), "all slices along axis 0"),
    "the same block": (R.flatten()[:1024].repeat(8), "period of 1024"),
    "blocks all but the same": ((torch.randperm(64, generator=rng(1)).repeat(64, 2) + R) / 64, " apart depend on"),
    "the tail unwritten": (torch.cat([R.flatten()[:6000], torch.zeros(2192)]), "not uniform"),
}


@pytest.mark.parametrize("kind", NOT_UNIFORM)
def test_wrong_uniform_numbers_fail(kind):
    got, words = NOT_UNIFORM[kind]
    outcome = judge_uniform(got, Uniform())
    assert outcome.verdict is Verdict.WRONG_VALUES
    assert words in outcome.reason


def test_another_seed_must_give_other_numbers():
    assert "another seed" in judge_uniform(R, Uniform(), second=R.clone()).reason
    assert judge_uniform(R, Uniform(), second=torch.rand(64, 128, generator=rng(1))).passed


def test_credible_counts():
    assert credible(0, 0, 0.5)
    assert credible(0, 20, 0.5)
    assert not credible(0, 40, 0.5)
    assert credible(5_000, 10_000, 0.5)
    assert credible(5_200, 10_000, 0.5)
    assert not credible(5_400, 10_000, 0.5)
    assert not credible(4_600, 10_000, 0.5)
