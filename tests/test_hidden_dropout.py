"""Dropout whose mask is recovered through the operations after it: right generators pass, all else fails."""

import pytest
import torch
from torch.nn import functional

from pytest_kernelbenchx.judge.hidden import Hidden
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
        ("not every element is finite", lambda a: answer(a, drawn(a, 1)) / 0),
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


def test_an_empty_output_passes():
    arguments = {"x": torch.zeros(0, 4), "w": torch.ones(4, 9), "p": 0.3, "scale": 2.0}
    assert hidden(arguments).judge(torch.zeros(0, 9)).passed
