"""Dropout whose mask is recovered through the operations after it: right generators pass, all else fails."""

import pytest
import torch
from torch.nn import functional

from pytest_kernelbenchx.judge.hidden import Hidden, judge_hidden, judge_rows
from pytest_kernelbenchx.judge.tolerance import Tolerance
from pytest_kernelbenchx.judge.verdicts import Verdict

SHAPES = [(65, 16, 48), (40, 32, 130), (7, 3, 9), (1, 1, 5)]  # rows, terms, columns


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small tensors: more threads only wait for each other when tests run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def operation(x, w, p=0.3, scale=2.0):
    """Dropout, a product, then something that is linear no more."""
    return torch.sinh(scale * functional.dropout(x, p) @ w / 8)


def before(output, w, scale):
    return 8 / scale * torch.asinh(output) @ torch.linalg.pinv(w)


def made(shape, seed=0):
    rows, terms, columns = shape
    rng = torch.Generator().manual_seed(seed)
    x = torch.softmax(4 * torch.randn(rows, terms, generator=rng), -1)  # some of it is far too small to be told
    return {"x": x, "w": torch.randn(terms, columns, generator=rng), "p": 0.3, "scale": 2.0}


def hidden(arguments, p=0.3):
    return Hidden(operation, before, {**arguments, "p": p}, p, Tolerance(rows=-1))


def answer(arguments, mask, factor=1 / 0.7):
    return torch.sinh(arguments["scale"] * (arguments["x"] * mask * factor) @ arguments["w"] / 8)


def drawn(arguments, seed, p=0.3, shape=None):
    keep = torch.rand(shape or arguments["x"].shape, generator=torch.Generator().manual_seed(seed)) >= p
    return keep.expand_as(arguments["x"])


@pytest.mark.parametrize("shape", SHAPES)
def test_right_dropout_passes(shape):
    for seed in range(8):
        arguments = made(shape, seed)
        first, second = (answer(arguments, drawn(arguments, seed + more)) for more in (1000, 2000))
        outcome = hidden(arguments).judge(first, second)
        assert outcome.passed, outcome.reason


@pytest.mark.parametrize(
    ("what", "wrong"),
    [
        ("there is no mask", lambda a: answer(a, drawn(a, 1), factor=1.0)),
        ("there is no mask", lambda a: answer(a, torch.tensor(1.0), factor=1.0)),
        ("there is no mask", lambda a: answer(a, drawn(a, 1)) * 1.001),
        ("there is no mask", lambda a: torch.ones_like(answer(a, drawn(a, 1)))),
        ("elements were dropped", lambda a: torch.zeros_like(answer(a, drawn(a, 1)))),
        ("elements were dropped", lambda a: answer(a, drawn(a, 1, p=0.7))),
        ("elements were dropped", lambda a: answer(a, torch.tensor(1.0))),
        ("the mask repeats", lambda a: answer(a, drawn(a, 1, shape=(1, 16)))),
    ],
)
def test_wrong_dropout_fails(what, wrong):
    arguments = made(SHAPES[0])
    outcome = hidden(arguments).judge(wrong(arguments), answer(arguments, drawn(arguments, 2)))
    assert outcome.verdict is Verdict.WRONG_VALUES
    assert what in outcome.reason


def test_the_same_mask_for_every_seed_fails():
    arguments = made(SHAPES[0])
    same = answer(arguments, drawn(arguments, 1))
    assert "another seed" in hidden(arguments).judge(same, same).reason


def test_an_error_in_one_element_is_seen():
    arguments = made(SHAPES[0])
    got = answer(arguments, drawn(arguments, 1))
    got[-1, -1] += 0.01 * got[-1].abs().max()
    assert "there is no mask" in hidden(arguments).judge(got).reason


NARROW = (1024, 64, 16)  # terms are too many for recovering them


def outputs(arguments, p=0.3, seed=1000, **how):
    """With a mask, with another one, and with everything kept."""
    first, second = (answer(arguments, drawn(arguments, n, p=p, **how)) for n in (seed, seed + 1))
    return first, second, answer(arguments, torch.tensor(1.0)).double()


def test_right_dropout_that_cannot_be_recovered_passes():
    for seed in range(20):
        first, second, kept = outputs(made(NARROW, seed), seed=1000 + 2 * seed)
        outcome = judge_rows(first, second.double(), kept, 0.3, second=second)
        assert outcome.passed, outcome.reason


@pytest.mark.parametrize(
    ("what", "wrong"),
    [
        ("distance", lambda a: answer(a, torch.tensor(1.0), factor=1.0)),
        ("distance", lambda a: answer(a, torch.tensor(1.0))),
        ("distance", lambda a: answer(a, drawn(a, 1001, p=0.6), factor=1 / 0.4)),
        ("share", lambda a: answer(a, drawn(a, 1001), factor=1.0)),
        ("share", lambda a: torch.zeros(1024, 16)),
        ("share", lambda a: 0.7 * answer(a, drawn(a, 1001))),
    ],
)
def test_wrong_dropout_that_cannot_be_recovered_fails(what, wrong):
    arguments = made(NARROW)
    first, _, kept = outputs(arguments)
    outcome = judge_rows(wrong(arguments), first.double(), kept, 0.3)
    assert outcome.verdict is Verdict.WRONG_VALUES
    assert "the output without dropout is" in outcome.reason


def test_the_same_hidden_mask_for_every_seed_fails():
    first, second, kept = outputs(made(NARROW))
    assert "another seed" in judge_rows(first, second.double(), kept, 0.3, second=first).reason


def test_dropout_without_effect_has_no_seeds_to_tell_apart():
    arguments = {**made(NARROW), "x": torch.zeros(1024, 64)}
    first, second, kept = outputs(arguments)
    assert judge_rows(first, second.double(), kept, 0.3, second=first).passed


def test_both_ways_of_judging_are_taken():
    for shape in (SHAPES[0], NARROW):
        arguments = made(shape)
        first, second, kept = outputs(arguments)
        recover = before if shape is SHAPES[0] else lambda output: None
        how = dict(drawn=second.double(), kept=kept, second=second)
        assert judge_hidden(first, operation, recover, arguments, 0.3, **how).passed
        reasons = (
            judge_hidden(wrong, operation, recover, arguments, 0.3, **how).reason for wrong in (first / 0, kept.float())
        )
        assert next(reasons) == "output: not every element is finite"
        assert ("elements were dropped" if shape is SHAPES[0] else "distance") in next(reasons)


def test_an_empty_output_passes():
    arguments = {"x": torch.zeros(0, 4), "w": torch.ones(4, 9), "p": 0.3, "scale": 2.0}
    nothing = torch.zeros(0, 9)
    assert judge_hidden(nothing, operation, before, arguments, 0.3, drawn=nothing, kept=nothing).passed
