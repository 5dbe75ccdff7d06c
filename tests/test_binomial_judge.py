"""Binomial counts: right generators pass, whatever their stream; wrong ones fail, each for what it does wrong."""

import pytest
import torch

from pytest_kernelbenchx.judge.binomial import judge_binomial
from pytest_kernelbenchx.judge.verdicts import Verdict

SIZE = 2048


def drawn(seed, size=SIZE):
    """Numbers of trials (0 among them), probabilities, and a right sample."""
    rng = torch.Generator().manual_seed(seed)
    n = torch.randint(0, 40, (size,), generator=rng).double()
    p = torch.rand(size, generator=rng, dtype=torch.float64)
    return n, p, torch.binomial(n, p, generator=rng).float()


@pytest.mark.parametrize("size", [0, 1, 2, 7, 100, SIZE, 20_011])
def test_right_samples_pass(size):
    for seed in range(5):
        n, p, got = drawn(seed, size)
        second = torch.binomial(n, p, generator=torch.Generator().manual_seed(seed + 100)).float()
        assert judge_binomial(got, n, p, second=second).passed


@pytest.mark.parametrize("seed", range(8))
def test_sums_of_single_trials_pass_and_shapes_broadcast(seed):
    """Also under the seeds that cases have, 0 above all: the judge's own chance must not be that of the candidate."""
    torch.manual_seed(seed)
    n, p = torch.tensor([[3.0], [9.0]]), torch.rand(500, dtype=torch.float64)
    got = (torch.rand(9, 2, 500, dtype=torch.float64) < p) & (torch.arange(9).view(9, 1, 1) < n)
    assert judge_binomial(got.sum(0).float(), n, p).passed


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_counts(p):
    n = torch.arange(5.0)
    assert judge_binomial(n * p, n, torch.tensor(p, dtype=torch.float64), second=n * p).passed
    wrong = judge_binomial(n * (1 - p), n, torch.tensor(p, dtype=torch.float64))
    assert "4 of 5 counts are impossible: at [1]" in wrong.reason


def all_or_nothing(n, p):
    return n * torch.bernoulli(p)


def normal(n, p):
    """With the variance of one trial."""
    return (n * p + (p * (1 - p)).sqrt() * torch.randn(n.shape)).round().clamp(min=0).minimum(n)


def without_the_last_block(n, p):
    got = torch.binomial(n, p)
    got[1024:] = 0
    return got


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (lambda n, p: n * p, "counts are impossible"),
        (lambda n, p: n + 1, "counts are impossible"),
        (lambda n, p: torch.binomial(n, p) * float("nan"), "counts are impossible"),
        (lambda n, p: torch.zeros_like(n), "the counts repeat"),
        (lambda n, p: (n * p).round(), "do not follow"),
        (lambda n, p: torch.binomial(n, 1 - p), "do not follow"),
        (lambda n, p: torch.binomial(n, p.mean().expand_as(n)), "do not follow"),
        (lambda n, p: torch.binomial(n, (p + 0.05).clamp(max=1)), "trials succeeded"),
        (lambda n, p: torch.binomial(n.clamp(max=20), p), "trials succeeded"),
        (all_or_nothing, "do not follow"),
        (normal, "do not follow"),
        (without_the_last_block, "trials succeeded"),
    ],
)
def test_wrong_generators_fail(wrong, reason):
    torch.manual_seed(0)
    n, p, _ = drawn(3)
    outcome = judge_binomial(wrong(n, p).float(), n, p)
    assert outcome.verdict is Verdict.WRONG_VALUES
    assert reason in outcome.reason


def test_numbers_that_are_used_again_fail():
    n, p, rng = torch.full((SIZE,), 10.0), torch.full((SIZE,), 0.3, dtype=torch.float64), torch.Generator()

    def judged(got, shape=(SIZE,)):
        return judge_binomial(got.float().view(shape), n.view(shape), p.view(shape)).reason

    block = torch.binomial(n[:64].double(), p[:64], generator=rng.manual_seed(0)).repeat(SIZE // 64)
    assert "the counts repeat: it has a period of 64 elements" in judged(block)
    assert "the counts repeat: all slices along axis 0" in judged(block, (SIZE // 64, 64))
    pairs = torch.binomial(n[::2].double(), p[::2], generator=rng).repeat_interleave(2)
    assert "numbers 1 apart depend on each other" in judged(pairs)


def test_another_seed_must_give_other_counts():
    n, p, got = drawn(1)
    assert "another seed gives the same counts" in judge_binomial(got, n, p, second=got).reason
    few = slice(3)
    assert judge_binomial(got[few], n[few], p[few], second=got[few]).passed
