"""Errors of the tiles of an output, 16 x 16 elements of its last two axes: a global cosine can't see one of them."""

import torch
from torch import Tensor

from pytest_kernelbenchx.judge.mismatch import errors


def measure(got: Tensor, truth: Tensor, tile: int = 16) -> dict[str, float]:
    """The three errors, and those of the worst tile and the worst element over the root mean square of the truth.

    A tile or an element that is larger than the rest is measured by its own size.
    """
    error, size = (got.to(torch.float64) - truth).square(), truth.to(torch.float64).square()
    mean = size.mean() if size.numel() else torch.zeros(())
    of_tile = ratio(tiles(error, tile), torch.maximum(tiles(size, tile), mean))
    return {
        **errors(got, truth),
        "worst_tile": float(of_tile.amax()) if of_tile.numel() else 0.0,
        "worst_element": float(ratio(error, torch.maximum(size, mean)).amax()) if error.numel() else 0.0,
    }


def tiles(values: Tensor, tile: int, sums: bool = False) -> Tensor:
    """Means (or sums) over tiles of the last two axes: [product of the leading axes, tiles, tiles]."""
    if values.numel() == 0:
        return values.reshape(0)
    flat = values.reshape(1, 1, -1) if values.ndim < 2 else values.reshape(-1, *values.shape[-2:])
    padded = torch.nn.functional.pad(flat, (0, -flat.shape[-1] % tile, 0, -flat.shape[-2] % tile))
    total = padded.unflatten(-1, (-1, tile)).unflatten(-3, (-1, tile)).sum((-1, -3))
    return total if sums else total / tiles(torch.ones_like(flat), tile, sums=True)


def counts(values: Tensor, tile: int) -> Tensor:
    """How many elements each tile has: those at the end have fewer."""
    return tiles(torch.ones_like(values), tile, sums=True)


def worst(error: Tensor, allowed: Tensor, shape: torch.Size, tile: int) -> tuple[float, str]:
    """The largest ratio of two mean squares by tile, as a ratio of errors, and the first index of that tile."""
    if error.numel() == 0:
        return 0.0, ""
    over = ratio(error, allowed)
    place = torch.unravel_index(over.argmax(), over.shape)
    lead = [int(i) for i in torch.unravel_index(place[0], shape[:-2])] if len(shape) > 2 else []
    last = [int(i) * tile for i in place[-2:]]
    return float(over.amax()), str(lead + (last if len(shape) >= 2 else last[1:] if len(shape) else []))


def ratio(error: Tensor, allowed: Tensor) -> Tensor:
    """The root of error over allowed, 0 where there is no error."""
    return torch.where(error == 0, 0.0, error / allowed).sqrt()
