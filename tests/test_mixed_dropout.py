"""Dropout before a matrix product: right generators pass, wrong rates, scales and masks do not, whatever the shape."""

import pytest
import torch

from pytest_kernelbenchx.judge.mixed import MixedDropout, judge_mixed
from pytest_kernelbenchx.judge.verdicts import Verdict

WIDE, NARROW = (4, 64, 48, 64), (8, 64, 64, 32)  # batch, M, K, N: the mask can be recovered, and can't
SHAPES = [WIDE, NARROW, (1, 1, 1, 1), (2, 3, 4, 5), (3, 5, 8, 3), (2, 33, 31, 65), (1, 257, 65, 64), (2, 64, 33, 1)]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small tensors: more threads only wait for each other when tests run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def rng(seed):
    return torch.Generator().manual_seed(seed)


def made(shape, outliers=False):
    """x, as log-softmax gives it, and w."""
    batch, m, k, n = shape
    x, w = (torch.randn(batch, *sides, generator=rng(7), dtype=torch.float64) for sides in ((m, k), (k, n)))
    if outliers:
        x[:, ::7, k // 2] *= 50
        w[:, k // 3, ::5] *= 50
    return torch.log_softmax(3 * x, -1), w


def dropped(x, w, p, seed=0, scale=None, same_rows=False):
    shape = (1, *x.shape[1:]) if same_rows == "batch" else (*x.shape[:-2], 1, x.shape[-1]) if same_rows else x.shape
    keep = torch.rand(shape, generator=rng(seed)) >= p
    return (x.float() * keep * (1 / (1 - p) if scale is None else scale)) @ w.float()


@pytest.mark.parametrize("outliers", [False, True])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("shape", SHAPES)
def test_right_dropout_passes(shape, p, outliers):
    x, w = made(shape, outliers)
    for seed in range(6):
        outcome = judge_mixed(dropped(x, w, p, seed), x, w, p, second=dropped(x, w, p, seed + 100))
        assert outcome.passed, outcome.reason


def test_right_dropout_of_awkward_data_passes():
    x, w = made((2, 40, 32, 40))
    for shape in (torch.zeros_like(x), x * 1e-30, torch.where(x < -4, 0.0, x)):
        assert judge_mixed(dropped(shape, w, 0.5), shape, w, 0.5, second=dropped(shape, w, 0.5, 1)).passed
    w[:, :, 1:] = w[:, :, :1]  # of rank 1: nothing is recovered
    assert judge_mixed(dropped(x, w, 0.5), x, w, 0.5, second=dropped(x, w, 0.5, 1)).passed
    w[:] = 0
    assert judge_mixed(dropped(x, w, 0.5), x, w, 0.5, second=dropped(x, w, 0.5, 1)).passed


WRONG = {
    "not scaled": lambda x, w: dropped(x, w, 0.5, scale=1.0),
    "scaled by 2 / (1 - p)": lambda x, w: dropped(x, w, 0.5, scale=4.0),
    "no dropout": lambda x, w: (x @ w).float(),
    "scaled, none dropped": lambda x, w: (2 * x @ w).float(),
    "a wrong rate": lambda x, w: dropped(x, w, 0.3, scale=2.0),
    "a smaller rate, scaled for it": lambda x, w: dropped(x, w, 0.1),
    "a larger rate, scaled for it": lambda x, w: dropped(x, w, 0.9),
    "everything dropped": lambda x, w: (0 * x @ w).float(),
    "dropout after the product": lambda x, w: torch.nn.functional.dropout((x @ w).float(), 0.5),
    "one element far off": lambda x, w: dropped(x, w, 0.5) + 3000 * torch.eye(x.shape[1], w.shape[2])[None],
    "infinite": lambda x, w: dropped(x, w, 0.5) / 0,
}


@pytest.mark.parametrize("shape", [WIDE, NARROW])
@pytest.mark.parametrize("kind", WRONG)
def test_wrong_dropout_fails(kind, shape):
    x, w = made(shape)
    outcome = judge_mixed(WRONG[kind](x, w), x, w, 0.5)
    assert outcome.verdict is Verdict.WRONG_VALUES
    assert len(outcome.reason) < 400


@pytest.mark.parametrize(("same", "words"), [(True, "all slices along axis 1"), ("batch", "all slices along axis 0")])
def test_repeated_masks_are_seen_where_they_can_be_recovered(same, words):
    x, w = made(WIDE)
    assert words in judge_mixed(dropped(x, w, 0.5, same_rows=same), x, w, 0.5).reason


def test_an_element_that_fits_no_mask_is_seen():
    x, w = made(WIDE)
    got = dropped(x, w, 0.5)
    got[1, 3, 5] += 0.2
    assert "1 of 16384 elements do not fit" in judge_mixed(got, x, w, 0.5).reason


@pytest.mark.parametrize("shape", [WIDE, NARROW])
def test_another_seed_must_give_another_result(shape):
    x, w = made(shape)
    got = dropped(x, w, 0.5)
    assert "another seed" in judge_mixed(got, x, w, 0.5, second=got.clone()).reason
    few = (1, 3, 8, 8)
    x, w = made(few)
    assert judge_mixed(dropped(x, w, 0.5), x, w, 0.5, second=dropped(x, w, 0.5)).passed


@pytest.mark.parametrize("p", [0, 1])
def test_without_a_choice_every_element_is_judged(p):
    x, w = made(NARROW)
    right = ((1 - p) * x @ w).float()
    assert judge_mixed(right, x, w, p).passed
    right[0, 0, 0] += 5
    assert "there is no choice" in judge_mixed(right, x, w, p).reason


def test_bounds_are_what_they_say(monkeypatch):
    """With a risk of 2 % honest results fail, but no more often than that."""
    monkeypatch.setattr("pytest_kernelbenchx.judge.mixed.RISK", 0.02)
    x, w = made((2, 32, 16, 8))
    failed = sum(not judge_mixed(dropped(x, w, 0.5, seed), x, w, 0.5).passed for seed in range(300))
    assert failed <= 4 * 0.02 * 300 + 15


def test_declaration():
    spec = MixedDropout(parts=lambda x: (x, x))
    assert spec.rate({"p": 0.25, "training": True}) == 0.25
    assert spec.rate({"p": 0.25, "training": False}) == 0.0
