"""Is a quantized result as good as quantization allows, and no better?

The truth is the operation without any quantization, in float64. Three errors of the whole output (cosine, relative L1,
relative RMSE, that is root mean square error over root mean square of the truth) must all be within limits, and so
must the error of every tile of 16 x 16 elements of the last two axes.

The limits are multiples of the error that quantization makes in this very case, the `noise`: the reference is evaluated
on operands with errors like those of rounding to 8 (4) bits with a scale per row (`Quantized.dither`), and so the
limits follow the values, the shape and cancellation. Which multiples accept honest schemes and reject broken ones is
derived in `docs/quantization.md` (made by `benchmarks/quantization_limits.py`).

On standard normal inputs with sums over 16 and more, two things more must hold:

* the error is not smaller than quantization makes it (`least`), else the result was computed without:
  `NOT_QUANTIZED`, as where single operands are exact (`judge.operands`);
* results are not smaller (or larger) throughout (`gain`), as where levels are truncated instead of rounded: an error
  that depends on the sign of the values adds up in sums, that of rounding does not.

Where a case is too large for the noise to be measured, absolute limits hold for standard inputs, and wider ones else.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from pytest_kernelbenchx.judge.tiles import counts, measure, tiles, worst
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict

MOST = 0.9
"""No limit on a relative error is above this: an answer of zeros has 1."""
HIDDEN = 0.5
"""Unless the noise is as large as this share of the truth: outliers met outliers there, and the case says little."""
SHORTEST, FEWEST = 16, 256  # sums, and elements of an output, of which floor and gain are asked
SIGMAS = 6  # of the gain that errors without a direction make by chance: exceeded once in 10**9 times


@dataclass(frozen=True)
class Quantized:
    """The limits of one kind of quantization.

    Args:
        name: as in the names of the tasks.
        bits: bits of the quantized inputs.
        limits: cosine (at least), relative L1 and relative RMSE (at most) on standard normal inputs, without `noise`.
        outlier_limits: the same on any other inputs.
        floor: the smallest relative RMSE that a quantized result has on standard normal inputs, without `noise`.
        gain: how far from 1 the factor may be that explains most of a result, beyond what is chance.
        factor: multiple of `noise` that is allowed.
        least: multiple of `noise` that is the least error on standard normal inputs.
        float8: inputs that may be rounded to float8 (e4m3) instead.
    """

    name: str
    bits: int
    limits: tuple[float, float, float]
    outlier_limits: tuple[float, float, float]
    floor: float
    gain: float
    factor: float = 2.2
    least: float = 0.35
    float8: tuple[str, ...] = ()

    def dither(
        self,
        values: Tensor,
        axis: int | tuple[int, ...] | None,
        generator: torch.Generator,
        group: int = 0,
        float8: bool = False,
    ) -> Tensor:
        """Float64 `values` with an error like that of rounding to `bits` bits, one scale per slice along `axis`.

        `axis` may be several axes, all but the first; with None there is one scale. `group` splits every slice into
        groups of that length, which have scales of their own; `float8`: the step is at least that of e4m3. The errors
        are independent and have the root mean square of uniform ones, all of them: where a single one decides, even one
        draw shows its effect. The root mean square change of a result over some such inputs is the `noise` of
        `judge_quantized`. Inputs that the task leaves unquantized are not to be dithered.
        """
        if values.numel() == 0:
            return values
        if isinstance(axis, int):
            rows = values.movedim(axis, -1)
        else:
            rows = values.reshape(1, -1) if axis is None else values.flatten(1)
        step = _amax(rows, group) / (2 ** (self.bits - 1) - 1)
        step = torch.maximum(step, rows.abs() / 8) if float8 else step
        signs = 2 * torch.randint(2, rows.shape, generator=generator, device=rows.device) - 1
        moved = rows + step * signs / math.sqrt(12)
        return moved.movedim(-1, axis) if isinstance(axis, int) else moved.reshape(values.shape)


def _amax(rows: Tensor, group: int) -> Tensor:
    """The largest magnitude of every row, or of the group that each element is in."""
    length = rows.shape[-1]
    if not 0 < group < length:
        return rows.abs().amax(-1, keepdim=True)
    groups = torch.nn.functional.pad(rows, (0, -length % group)).unflatten(-1, (-1, group))
    return groups.abs().amax(-1).repeat_interleave(group, -1)[..., :length]


W8A8 = Quantized("w8a8", 8, limits=(0.999, 0.03, 0.03), outlier_limits=(0.98, 0.2, 0.2), floor=0.002, gain=0.004)
W4A16 = Quantized("w4a16", 4, limits=(0.975, 0.2, 0.2), outlier_limits=(0.7, 0.7, 0.75), floor=0.03, gain=0.03)


def judge_quantized(
    got: Tensor,
    truth: Tensor,
    *,
    spec: Quantized,
    reduction: int,
    standard: bool,
    tile: int = 16,
    noise: Tensor | None = None,
    float8: bool = False,
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
        float8: the noise has errors of float8, of which int8 makes an eighth; no gain beyond them can be told.
    """
    got = got.to(torch.float64)
    if not torch.equal(torch.isfinite(got), torch.isfinite(truth)):
        wrong = int((torch.isfinite(got) != torch.isfinite(truth)).sum())
        return Outcome(Verdict.WRONG_VALUES, f"{wrong} of {got.numel()} elements are NaN or infinite and should not be")
    finite = torch.isfinite(truth)
    got, truth = torch.where(finite, got, 0.0), torch.where(finite, truth, 0.0)
    noise = None if noise is None else torch.nan_to_num(noise.to(torch.float64), nan=0.0, posinf=0.0)
    facts = measure(got, truth, tile)
    limit = _limits(truth, spec, standard, noise)
    facts.update({f"limit_{key}": value for key, value in limit.items()})
    allowed = _of_tiles(truth, tile, limit["relative_rmse"], noise, spec.factor)
    facts["tile_over_limit"], place = worst(tiles((got - truth).square(), tile), allowed, truth.shape, tile)
    if bad := _beyond(facts, limit, place):
        return Outcome(Verdict.WRONG_VALUES, f"not what {spec.name} can explain: " + "; ".join(bad), facts=facts)
    long = reduction >= SHORTEST and got.numel() >= FEWEST and bool((truth != 0).any())
    if not (standard and long):
        return Outcome(Verdict.PASSED, facts=facts)
    spec = replace(spec, least=spec.least / 8, gain=math.inf) if float8 else spec
    failure = _exact(facts, spec, truth, noise) or _gain(facts, spec, got, truth, noise, reduction)
    return failure or Outcome(Verdict.PASSED, facts=facts)


def _exact(facts: dict[str, float], spec: Quantized, truth: Tensor, noise: Tensor | None) -> Outcome | None:
    """`NOT_QUANTIZED` where the error is smaller than quantization makes it."""
    facts["floor"] = spec.floor if noise is None else spec.least * _share(noise, truth)
    if facts["relative_rmse"] >= facts["floor"]:
        return None
    reason = (
        f"relative RMSE {facts['relative_rmse']:.3g} is below {facts['floor']:.3g}, the least that {spec.name} can "
        f"reach: the result was computed without quantization; quantize to {spec.bits} bits"
    )
    return Outcome(Verdict.NOT_QUANTIZED, reason, facts=facts)


def _gain(
    facts: dict[str, float], spec: Quantized, got: Tensor, truth: Tensor, noise: Tensor | None, reduction: int
) -> Outcome | None:
    """`WRONG_VALUES` where results are too small, or too large, throughout.

    Errors without a direction make a gain of their share over the root of how many of them are independent, at least
    as many as a sum is long.
    """
    facts["gain"] = gain = float((got * truth).sum() / truth.square().sum())
    share = facts["relative_rmse"] if noise is None else _share(noise, truth)
    if abs(gain - 1) <= spec.gain + SIGMAS * share / math.sqrt(min(got.numel(), reduction)):
        return None
    what = f"{100 * abs(gain - 1):.2g} % too {'small' if gain < 1 else 'large'} throughout"
    reason = f"the results are {what}, which rounding does not explain: are levels truncated, is a scale wrong?"
    return Outcome(Verdict.WRONG_VALUES, reason, facts=facts)


def _share(noise: Tensor, truth: Tensor) -> float:
    """The root mean square of the noise over that of the truth."""
    size = float(truth.square().mean().sqrt()) if truth.numel() else 0.0
    return float(noise.square().mean().sqrt()) / size if size else 0.0


def _limits(truth: Tensor, spec: Quantized, standard: bool, noise: Tensor | None) -> dict[str, float]:
    """The limits on the errors of the whole output; wider ones where few elements can be small, or near, by chance."""
    count = max(truth.numel(), 1)
    if noise is None:
        cosine, l1, rmse = spec.limits if standard else spec.outlier_limits
        wider = 1 + 40 / count  # the lower quantile at 1e-6 of the root mean square of so many normal numbers
        l1, rmse = min(wider * l1, MOST), min(wider * rmse, MOST)
    else:
        share, sizes = _share(noise, truth), float(truth.abs().sum())
        of_l1 = float(noise.sum()) / sizes if sizes else 0.0
        factor = spec.factor + 3 / math.sqrt(count)
        most = MOST if share < HIDDEN else math.inf
        cosine, l1, rmse = 1.0, min(factor * max(share, of_l1), most), min(factor * share, most)
    # An error of r times the length of a vector turns it by at most asin(r).
    least = math.sqrt(1 - rmse**2) if rmse < 1 else -1.0
    return {"cosine": min(cosine, least) - 1e-12, "relative_l1": l1, "relative_rmse": rmse}


def _of_tiles(truth: Tensor, tile: int, rmse: float, noise: Tensor | None, factor: float) -> Tensor:
    """The mean square error that is allowed in every tile."""
    root = counts(truth, tile).sqrt()
    if noise is None:
        size = truth.square()
        return (rmse * (1.2 + 8 / root)).clamp(max=MOST).square() * torch.maximum(tiles(size, tile), size.mean())
    square = noise.square()
    return (factor + 10 / root).square() * torch.maximum(tiles(square, tile), square.mean())


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
