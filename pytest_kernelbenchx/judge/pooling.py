"""Fractional max pooling chooses its windows at random: some choice must explain a result.

Along one axis of length n the windows of length k begin at 0 first and at n - k last, and the steps between are
floor(a) or ceil(a) with a = (n - k) / (windows - 1): the sequences of Graham, Fractional Max-Pooling (arXiv 1412.6071),
and those that PyTorch makes from one random number. Rows and columns of every plane are chosen on their own.

Only what must hold is asked for: a start of a row of windows stays possible while every column of windows has a
possible start at which the maximum is the one found (and the other way round), and while it has possible neighbours.
A plane without a possible start somewhere has no explanation. What is left over need not be one, so a wrong result
may pass, where maxima are equal; a right one never fails.

PyTorch computes the starts in float32, and once in about 10**6 planes a step is thereby off by one. So one plane in
eight may have steps that are.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from pytest_kernelbenchx.judge.properties import Residual


def fractional_max_pool_properties(inputs: Mapping[str, Any], got: tuple[Tensor, ...]) -> list[Residual]:
    """The residuals of fractional max pooling of relu(input): how many planes no choice of windows explains.

    Args:
        inputs: `input` [N, C, H, W] and `kernel_size`, one number or two.
        got: the maxima [N, C, OH, OW] and, if they are returned, their places in the plane, row * W + column.
    """
    planes = torch.relu(inputs["input"]).flatten(0, 1)
    size = inputs["kernel_size"]
    kernel = (size, size) if isinstance(size, int) else tuple(size)
    match = _matches(planes, kernel, *(each.flatten(0, 1) for each in got))
    strict = _unexplained(match, 0)
    loose = _unexplained(match, 1) if strict else 0
    return [
        Residual("planes that no windows explain, even with steps that are off by one", float(loose), 0.0),
        Residual("planes that no windows explain", float(strict), float(len(planes) // 8)),
    ]


def _matches(planes: Tensor, kernel: tuple[int, int], values: Tensor, places: Tensor | None = None) -> Tensor:
    """[plane, i, start of row, j, start of column]: whether output (i, j) may be the maximum of the window there."""
    table = torch.nn.functional.max_pool2d(planes, kernel, stride=1)
    match = values[:, :, None, :, None] == table[:, None, :, None, :]
    if places is None:
        return match
    height, width = planes.shape[1:]
    inside = (places >= 0) & (places < height * width)
    there = planes.flatten(1).gather(1, places.clamp(0, height * width - 1).flatten(1)).view(places.shape)
    inside &= there == values
    down = (places // width)[:, :, None, :, None] - torch.arange(table.shape[1])[:, None, None]
    right = (places % width)[:, :, None, :, None] - torch.arange(table.shape[2])
    within = (down >= 0) & (down < kernel[0]) & (right >= 0) & (right < kernel[1])
    return match & within & inside[:, :, None, :, None]


def _unexplained(match: Tensor, slack: int) -> int:
    """Number of planes without a possible start for some row or column of windows."""
    count, rows, starts, columns, beginnings = match.shape
    down = torch.ones(count, rows, starts, dtype=torch.bool)
    right = torch.ones(count, columns, beginnings, dtype=torch.bool)
    left = -1
    while left != (left := int(down.sum() + right.sum())):
        down = _chained(down & (match & right[:, None, None]).any(-1).all(-1), slack)
        right = _chained(right & (match & down[:, :, :, None, None]).any(2).all(1), slack)
    possible = down.any(-1).all(-1) & right.any(-1).all(-1)
    return int((~possible).sum())


def _chained(possible: Tensor, slack: int) -> Tensor:
    """Those of the `possible` starts [plane, window, start] from which the first and the last window can be reached."""
    _, windows, starts = possible.shape
    if windows == 1:
        return possible
    step = (starts - 1) / (windows - 1)
    least, most = max(0, math.floor(step) - slack), math.ceil(step) + slack
    ends = torch.zeros(2, starts, dtype=torch.bool)
    ends[0, 0] = ends[1, -1] = True
    forward = _reached(possible, ends[0], least, most)
    return forward & _reached(possible.flip(1, 2), ends[1].flip(0), least, most).flip(1, 2)


def _reached(possible: Tensor, first: Tensor, least: int, most: int) -> Tensor:
    """Those of the `possible` starts that steps of `least` to `most` lead to from a `first` one."""
    reached = [possible[:, 0] & first]
    for window in range(1, possible.shape[1]):
        onward = torch.zeros_like(reached[0])
        for step in range(least, min(most, possible.shape[2] - 1) + 1):
            onward[:, step:] |= reached[-1][:, : possible.shape[2] - step]
        reached.append(possible[:, window] & onward)
    return torch.stack(reached, 1)
