"""Is a quantized result as good as quantization allows, and no better?

The truth is the operation without any quantization, in float64. Three errors of the whole output (cosine, relative L1,
relative RMSE, that is root mean square error over root mean square of the truth) must all be within limits, and so
must the relative RMSE of every tile of 16 x 16 elements of the last two axes: a corrupt corner does not show in a
global cosine. On standard normal inputs with a long reduction the error must not be smaller than quantization makes
it, either: that is `NOT_QUANTIZED`.

Limits come from float64 simulations of honest and broken schemes (`benchmarks/quantization_limits.py`): symmetric and
asymmetric, per tensor, per row, in groups of 32 to 128, on standard normal data and data with outliers. Relative RMSE:

========================  ===============  ================  ==========================================
scheme                    int8 x int8      int4 weights      limit
========================  ===============  ================  ==========================================
honest, standard          0.0047 - 0.022   0.080 - 0.187     0.03 and 0.2
truncated, standard       0.010  - 0.034   0.21  - 0.28      tolerated for int8, unless `noise` is given
wrong scales, standard    0.17 and more    0.25 and more
bfloat16, TF32 or better  0.0024 and less  0.0024 and less   floor 0.003 and 0.03
per row, outliers         0.006 - 0.145    0.11  - 0.67      0.2 and 0.75
per tensor, outliers      0.03  - 0.57     0.44  - 0.78      not guaranteed to pass
========================  ===============  ================  ==========================================

With `noise`, the root mean square error that a scale per row makes at every element of this very case
(`Quantized.dither`), the limits are multiples of it and so follow the fill, the shape and cancellation: 2.2 times for
the whole (a scale per tensor makes up to 1.7 times the error on standard data, probabilities in int8 as well up to
2.12, truncation 2.36 and more), more for few elements, whose mean square scatters. Without it a small output gets
wider limits, since the truth of a few elements can be small by chance: 1 + 40/n, the lower quantile at 1e-6 of the
root mean square of n normal numbers.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from pytest_kernelbenchx.judge.mismatch import errors
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict

MOST = 0.9
"""No limit on a relative error is above this: an answer of zeros has 1."""


@dataclass(frozen=True)
class Quantized:
    """The limits of one kind of quantization.

    Args:
        name: as in the names of the tasks.
        bits: bits of the quantized inputs.
        limits: cosine (at least), relative L1 and relative RMSE (at most) on standard normal inputs.
        outlier_limits: the same on any other inputs.
        floor: the smallest relative RMSE that a quantized result has on standard normal inputs.
        min_reduction: the shortest reduction at which the floor holds.
        min_elements: the fewest output elements at which the floor holds.
        factor: multiple of `noise` that is allowed.
    """

    name: str
    bits: int
    limits: tuple[float, float, float]
    outlier_limits: tuple[float, float, float]
    floor: float
    min_reduction: int = 64
    min_elements: int = 256
    factor: float = 2.2

    def dither(self, values: Tensor, axis: int | tuple[int, ...] | None, generator: torch.Generator) -> Tensor:
        """Float64 `values` with an error like that of rounding to `bits` bits, one scale per slice along `axis`.

        `axis` may be several axes. The errors are uniform and independent. The root mean square change of a result over
        a few such inputs (8 are enough) is the `noise` of `judge_quantized`. Inputs that the task leaves unquantized
        are not to be dithered.
        """
        flat, axis = (values.flatten(), 0) if axis is None else (values, axis)
        if flat.numel() == 0:
            return values
        step = flat.abs().amax(dim=axis, keepdim=True) / (2 ** (self.bits - 1) - 1)
        shift = torch.rand(flat.shape, dtype=torch.float64, generator=generator, device=flat.device) - 0.5
        return (flat + step * shift).reshape(values.shape)


W8A8 = Quantized("w8a8", 8, limits=(0.999, 0.03, 0.03), outlier_limits=(0.98, 0.2, 0.2), floor=0.003)
W4A16 = Quantized("w4a16", 4, limits=(0.975, 0.2, 0.2), outlier_limits=(0.7, 0.7, 0.75), floor=0.03)


def measure(got: Tensor, truth: Tensor, tile: int = 16) -> dict[str, float]:
    """The three errors, and those of the worst tile and the worst element over the root mean square of the truth.

    A tile or an element that is larger than the rest is measured by its own size.
    """
    error, size = (got.to(torch.float64) - truth).square(), truth.to(torch.float64).square()
    mean = size.mean() if size.numel() else torch.zeros(())
    of_tile = _ratio(_tiles(error, tile), torch.maximum(_tiles(size, tile), mean))
    return {
        **errors(got, truth),
        "worst_tile": float(of_tile.amax()) if of_tile.numel() else 0.0,
        "worst_element": float(_ratio(error, torch.maximum(size, mean)).amax()) if error.numel() else 0.0,
    }


def judge_quantized(
    got: Tensor,
    truth: Tensor,
    *,
    spec: Quantized,
    reduction: int,
    standard: bool,
    tile: int = 16,
    noise: Tensor | None = None,
) -> Outcome:
    """`PASSED`, `WRONG_VALUES` or `NOT_QUANTIZED`; the errors and limits are in the outcome's facts.

    Args:
        got: the result, with the shape and type of the task's output (`compare.check_form`).
        truth: the unquantized operation in float64.
        spec: `W8A8` or `W4A16`.
        reduction: the length of the sum behind every element (K, or the normalised size).
        standard: the quantized inputs are standard normal, without outliers.
        tile: side of the tiles.
        noise: the root mean square error of a scheme with a scale per row, at every element; see `Quantized.dither`.
    """
    got = got.to(torch.float64)
    if not torch.equal(torch.isfinite(got), torch.isfinite(truth)):
        wrong = int((torch.isfinite(got) != torch.isfinite(truth)).sum())
        return Outcome(Verdict.WRONG_VALUES, f"{wrong} of {got.numel()} elements are NaN or infinite and should not be")
    finite = torch.isfinite(truth)
    got, truth = torch.where(finite, got, 0.0), torch.where(finite, truth, 0.0)
    facts = measure(got, truth, tile)
    limit = _limits(truth, spec, standard, noise)
    facts.update({f"limit_{key}": value for key, value in limit.items()})
    facts["tile_over_limit"], place = _worst_tile(got, truth, limit["relative_rmse"], spec, tile, noise)
    bad = _beyond(facts, limit, place)
    if bad:
        return Outcome(Verdict.WRONG_VALUES, f"not what {spec.name} can explain: " + "; ".join(bad), facts=facts)
    if standard and reduction >= spec.min_reduction and got.numel() >= spec.min_elements:
        facts["floor"] = spec.floor
        if facts["relative_rmse"] < spec.floor and bool((truth != 0).any()):
            reason = (
                f"relative RMSE {facts['relative_rmse']:.3g} is below {spec.floor:g}, the least that {spec.name} can "
                f"reach: the result was computed without quantization; quantize to {spec.bits} bits"
            )
            return Outcome(Verdict.NOT_QUANTIZED, reason, facts=facts)
    return Outcome(Verdict.PASSED, facts=facts)


def _limits(truth: Tensor, spec: Quantized, standard: bool, noise: Tensor | None) -> dict[str, float]:
    """The limits on the errors of the whole output."""
    count = max(truth.numel(), 1)
    if noise is None:
        cosine, l1, rmse = spec.limits if standard else spec.outlier_limits
        wider = 1 + 40 / count
        l1, rmse = min(wider * l1, MOST), min(wider * rmse, MOST)
    else:
        noise = torch.nan_to_num(noise.to(torch.float64), nan=0.0, posinf=0.0)
        size = float(truth.square().mean().sqrt()) if truth.numel() else 0.0
        share = float(noise.square().mean().sqrt()) / size if size else 0.0
        of_l1 = float(noise.mean()) / float(truth.abs().mean()) if size else 0.0
        factor = spec.factor + 3 / math.sqrt(count)
        cosine, l1, rmse = 1.0, min(factor * max(share, of_l1), MOST), min(factor * share, MOST)
    # An error of r times the length of a vector turns it by at most asin(r).
    return {"cosine": min(cosine, math.sqrt(1 - rmse**2)) - 1e-12, "relative_l1": l1, "relative_rmse": rmse}


def _beyond(facts: dict[str, float], limit: dict[str, float], place: str) -> list[str]:
    """What exceeds its limit, in words."""
    bad = []
    if facts["cosine"] < limit["cosine"]:
        bad.append(f"cosine {facts['cosine']:.6g}, at least {limit['cosine']:.6g} is wanted")
    for key, label in (("relative_l1", "relative L1"), ("relative_rmse", "relative RMSE")):
        if not facts[key] <= limit[key]:
            bad.append(f"{label} {facts[key]:.3g}, at most {limit[key]:.3g} is allowed")
    if facts["tile_over_limit"] > 1:
        bad.append(f"the error in the tile at {place} is {facts['tile_over_limit']:.3g} times what is allowed there")
    return bad


def _worst_tile(
    got: Tensor, truth: Tensor, rmse: float, spec: Quantized, tile: int, noise: Tensor | None
) -> tuple[float, str]:
    """The largest error of a tile over the error allowed in it, and the tile's first index."""
    if truth.numel() == 0:
        return 0.0, ""
    size = truth.square()
    counts = _tiles(torch.ones_like(truth), tile, sums=True)
    if noise is None:
        widening = 1.2 + 8 / counts.sqrt()
        share = torch.clamp(rmse * widening, max=MOST)
        allowed = share * torch.maximum(_tiles(size, tile), size.mean()).sqrt()
    else:
        square = torch.nan_to_num(noise.to(torch.float64), nan=0.0, posinf=0.0).square()
        allowed = (spec.factor + 10 / counts.sqrt()) * torch.maximum(_tiles(square, tile), square.mean()).sqrt()
    ratio = _ratio(_tiles((got - truth).square(), tile), allowed.square())
    worst = torch.unravel_index(ratio.argmax(), ratio.shape)
    lead = [int(i) for i in torch.unravel_index(worst[0], truth.shape[:-2])] if truth.ndim > 2 else []
    last = [int(i) * tile for i in worst[-2:]]
    return float(ratio.amax()), str(lead + (last if truth.ndim >= 2 else last[1:] if truth.ndim else []))


def _tiles(values: Tensor, tile: int, sums: bool = False) -> Tensor:
    """Means (or sums) over tiles of the last two axes: [product of the leading axes, tiles, tiles]."""
    if values.numel() == 0:
        return values.reshape(0)
    flat = values.reshape(1, 1, -1) if values.ndim < 2 else values.reshape(-1, *values.shape[-2:])
    padded = torch.nn.functional.pad(flat, (0, -flat.shape[-1] % tile, 0, -flat.shape[-2] % tile))
    total = padded.unflatten(-1, (-1, tile)).unflatten(-3, (-1, tile)).sum((-1, -3))
    return total if sums else total / _tiles(torch.ones_like(flat), tile, sums=True)


def _ratio(error: Tensor, allowed: Tensor) -> Tensor:
    """The root of error over allowed, 0 where there is no error."""
    return torch.where(error == 0, 0.0, error / allowed).sqrt()
