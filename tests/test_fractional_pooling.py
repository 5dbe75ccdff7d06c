"""Fractional max pooling: whatever windows are chosen a right result passes; results that no windows give do not."""

import pytest
import torch
from torch.nn.functional import fractional_max_pool2d

from pytest_kernelbenchx.judge.pooling import fractional_max_pool_properties
from pytest_kernelbenchx.judge.properties import judge_properties


def data(shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def judged(x, kernel, *got):
    return judge_properties(fractional_max_pool_properties({"input": x, "kernel_size": kernel}, got))


def pooled(x, kernel, rows, columns):
    """Maxima of relu(x) over the windows that begin at these rows and columns."""
    tall, wide = kernel
    return torch.relu(
        torch.stack(
            [torch.stack([x[..., r : r + tall, c : c + wide].amax((-2, -1)) for c in columns], -1) for r in rows], -2
        )
    )


@pytest.mark.parametrize("kernel", [1, 2, (2, 3), 3])
@pytest.mark.parametrize("size", [(4, 4), (5, 7), (9, 8), (2, 10), (1, 6)])
def test_the_windows_of_pytorch_pass(kernel, size):
    x = data((2, 4, 13, 17))
    for seed in range(5):
        torch.manual_seed(seed)
        values, places = fractional_max_pool2d(torch.relu(x), kernel, size, return_indices=True)
        assert judged(x, kernel, values).passed
        assert judged(x, kernel, values, places).passed


def test_any_order_of_the_steps_passes():
    x = data((1, 3, 9, 9))
    for rows in ([0, 1, 3, 5, 7], [0, 2, 3, 5, 7], [0, 2, 4, 6, 7]):
        assert judged(x, 2, pooled(x, (2, 2), rows, [0, 2, 4, 5, 7])).passed


def test_places_may_be_those_of_any_equal_maximum():
    x = -torch.ones(1, 1, 4, 4)
    zeros = torch.zeros(1, 1, 2, 2)
    assert judged(x, 2, zeros, torch.tensor([[[[5, 6], [12, 15]]]])).passed
    assert not judged(x, 2, zeros, torch.tensor([[[[5, 5], [12, 15]]]])).passed
    assert not judged(x, 2, zeros, torch.tensor([[[[5, 6], [12, 16]]]])).passed
    assert not judged(x, 2, zeros, torch.tensor([[[[-1, 6], [12, 15]]]])).passed


X = data((2, 3, 12, 12), 3)
RIGHT = fractional_max_pool2d(torch.relu(X), 3, (5, 5))
STARTS = [0, 2, 4, 7, 9]
WRONG = {
    "zeros": 0 * RIGHT,
    "ones": 0 * RIGHT + 1,
    "the mean": RIGHT.mean().expand(RIGHT.shape),
    "a corner of the input": X[..., :5, :5].relu(),
    "without relu": fractional_max_pool2d(X - 3, 3, (5, 5)),
    "one element larger": RIGHT + 1e-6 * torch.eye(5),
    "another plane": RIGHT.flip(0),
    "the last window too early": pooled(X, (3, 3), STARTS, [0, 2, 4, 6, 8]),
    "the first window too late": pooled(X, (3, 3), [1, 3, 5, 7, 9], STARTS),
    "steps too long": pooled(X, (3, 3), [0, 4, 5, 6, 9], STARTS),
    "columns in another order": pooled(X, (3, 3), STARTS, [0, 4, 2, 7, 9]),
    "a smaller kernel": pooled(X, (2, 2), STARTS, STARTS),
    "columns that change from row to row": torch.cat(
        [pooled(X, (3, 3), STARTS[:2], [0, 2, 4, 6, 9]), pooled(X, (3, 3), STARTS[2:], [0, 3, 5, 7, 9])], -2
    ),
    "NaN": RIGHT * float("nan"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_no_windows_give_fails(kind):
    assert judged(X, 3, RIGHT).passed
    assert not judged(X, 3, WRONG[kind]).passed


def test_one_plane_in_eight_may_have_a_step_that_is_off_by_one():
    x = data((1, 8, 9, 9))
    right, off = (pooled(x, (1, 1), rows, [0, 2, 4, 6, 8]) for rows in ([0, 2, 4, 6, 8], [0, 2, 4, 7, 8]))
    mixed = right.clone()
    mixed[:, 0] = off[:, 0]
    assert judged(x, 1, mixed).passed
    mixed[:, 1] = off[:, 1]
    assert not judged(x, 1, mixed).passed
    assert not judged(x[:, :1], 1, off[:, :1]).passed
