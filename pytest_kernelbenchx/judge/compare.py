"""The one comparison: is a result as close to the truth as its type, its size and its task allow?

An element of a floating-point result is right when it lies between `truth - a` and `truth + a`, both rounded to the
type of the result. So the truth rounded to that type is always right, whatever the step of the type at that place,
denormals and overflow to infinity included, and near the overflow threshold both neighbours are. The allowed error
`a` is the largest of the five terms

* `rtol * |truth|` and `atol * scale` (`tolerance.TABLE`),
* the least normal number of float32, since denormal results may be flushed to 0 (not in float64),
* `factor` times the error of PyTorch's own result (`eager`), as a share of the size of the element, the worst among
  all elements that are no larger than twice this one, or than twice the scale: an element of 1e20 lends none of its
  error to an element of 1,
* `NOISE_FACTOR * noise`: how far rounding the inputs moves this very element (`tolerance.jitter`), but no more than
  `NOISE_MOST` of its size or of the scale, or what the task declares as `ties`: a step function that jumps there
  has a large noise and no excuse.

`scale` is robust: the root mean square of the non-zero finite elements, after those above 4 times their median were
cut down to that. Outliers do not inflate it (50-fold ones leave it within 1 % for normal data, exp of them too), the
zeros of a sparse output do not shrink it.

What the rule lets through: an error of `atol * scale` at an element that is much smaller than the others, for
instance 1e-5 at a zero of a standard normal f32 output, 8e-3 for bf16; and where PyTorch itself is inexact, anything
at most `factor` times as inexact. NaN must stand exactly where the truth has it, infinities too.
Integers and booleans are equal or wrong. Complex numbers are held to their magnitude's limits in the real part, the
imaginary part and the magnitude; a complex element without a finite value matches any other such element.
"""

import math

import torch
from torch import Tensor

from pytest_kernelbenchx.dtypes import NAMES
from pytest_kernelbenchx.judge.hints import find_hint, find_where
from pytest_kernelbenchx.judge.mismatch import Mismatch, errors, wide
from pytest_kernelbenchx.judge.tolerance import DEFAULT, FLUSHED, NOISE_FACTOR, NOISE_MOST, Tolerance
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict

EXACT_NEAR_0 = (torch.float64, torch.complex128)  # the others are computed in float32, denormals of which may be 0


def check_form(got: object, expected_like: Tensor, name: str = "output") -> Outcome | None:
    """`WRONG_OUTPUT` when `got` is no tensor, or its shape or dtype is not that of `expected_like`; else None."""
    want = f"{NAMES.get(expected_like.dtype, expected_like.dtype)}{list(expected_like.shape)}"
    if not isinstance(got, Tensor):
        have = type(got).__name__
    elif got.shape == expected_like.shape and got.dtype == expected_like.dtype:
        return None
    else:
        have = f"{NAMES.get(got.dtype, got.dtype)}{list(got.shape)}"
    what = "type" if not isinstance(got, Tensor) else "shape" if got.shape != expected_like.shape else "dtype"
    return Outcome(Verdict.WRONG_OUTPUT, f"{name} has the wrong {what}: got {have}, expected {want}")


def scale_of(size: Tensor, rows: int | None = None) -> Tensor:
    """The robust root mean square of `size` (float64, >= 0), of each slice along the axis `rows` if that is given."""
    if size.numel() == 0:
        return torch.zeros((), dtype=torch.float64)
    whole = rows is None or size.ndim == 0
    flat, axis = (size.reshape(-1), 0) if rows is None or whole else (size, rows)
    flat = torch.where(torch.isfinite(flat) & (flat > 0), flat, math.nan)
    cut = torch.minimum(flat, 4 * torch.nanmedian(flat, dim=axis, keepdim=True).values)
    top = torch.nan_to_num(cut, nan=0.0).amax(dim=axis, keepdim=True)
    scale = top * torch.sqrt(torch.nanmean((cut / top) ** 2, dim=axis, keepdim=True))
    scale = torch.nan_to_num(scale, nan=0.0)
    return scale.reshape(()) if whole else scale


def allowed_error(
    truth: Tensor,
    dtype: torch.dtype,
    *,
    eager: Tensor | None = None,
    noise: Tensor | None = None,
    tolerance: Tolerance = DEFAULT,
    rows: int | None = None,
) -> Tensor:
    """The error allowed at every element of a result of type `dtype`: float64, 0 where the truth is not finite."""
    rows = tolerance.rows if rows is None else rows
    rtol, atol, factor = tolerance.limits(dtype)
    exact = wide(truth)
    size = torch.where(torch.isfinite(exact), exact.abs(), 0.0).to(torch.float64)
    if rtol == atol == factor == 0:
        allowed = torch.zeros_like(size)
        return allowed + tolerance.ties * (noise > 0) if tolerance.ties and noise is not None else allowed
    scale = scale_of(size, rows)
    allowed = torch.maximum(rtol * size, atol * scale).clamp(min=0.0 if dtype in EXACT_NEAR_0 else FLUSHED)
    if eager is not None and factor:
        allowed = torch.maximum(allowed, factor * _eager_error(eager, truth, dtype, torch.maximum(size, scale), scale))
    if noise is not None:
        noise = NOISE_FACTOR * torch.nan_to_num(noise.to(torch.float64), 0.0, 0.0, 0.0)
        most = (NOISE_MOST * torch.maximum(size, scale)).clamp(min=tolerance.ties)
        allowed = torch.maximum(allowed, torch.where(most > 0, torch.minimum(noise, most), noise))
    return torch.where(torch.isfinite(exact), allowed, 0.0)


def _eager_error(eager: Tensor, truth: Tensor, dtype: torch.dtype, size: Tensor, scale: Tensor) -> Tensor:
    """PyTorch's error beyond the rounding of the result, at every element, from those no more than twice as large.

    Of elements of its size (a sixteenth of it at least) it is the relative error that counts, of smaller ones the error
    itself: where PyTorch gives 0 for what is next to nothing, that excuses no 0 in place of something.
    """
    error = (wide(eager) - wide(truth.to(dtype))).abs()
    if error.numel() == 0:
        return torch.zeros_like(size)
    error = torch.where(torch.isfinite(error), error, 0.0)
    one = scale_of(size)
    one = one if one > 0 else torch.ones_like(one)
    size = torch.where(size > 0, size, one)
    octave = torch.log2(size / torch.where(scale > 0, scale, one)).floor().clamp(0, 2100).long()
    relative, absolute = torch.zeros(2, 2102, dtype=torch.float64)
    relative.scatter_reduce_(0, octave.flatten(), (error / size).flatten(), "amax")
    absolute.scatter_reduce_(0, octave.flatten(), error.flatten(), "amax")
    beside = torch.nn.functional.max_pool1d(torch.nn.functional.pad(relative[None], (4, 0)), 5, 1)[0]
    return torch.maximum(beside[octave] * size, torch.cummax(absolute, 0).values[octave])


def agreement(
    got: Tensor,
    truth: Tensor,
    *,
    eager: Tensor | None = None,
    noise: Tensor | None = None,
    tolerance: Tolerance = DEFAULT,
    rows: int | None = None,
) -> tuple[Tensor, Tensor]:
    """`(right, allowed)`: which elements of `got` are right, and the allowed errors; arguments as for `compare`."""
    allowed = allowed_error(truth, got.dtype, eager=eager, noise=noise, tolerance=tolerance, rows=rows)
    if got.is_complex():
        a, b = got.to(torch.complex128), truth.to(torch.complex128)
        part = torch.float32 if got.dtype == torch.complex64 else torch.float64
        right = _between(a.real, b.real, allowed, part) & _between(a.imag, b.imag, allowed, part)
        right &= (a.abs() - b.abs()).abs() <= allowed + 2 * torch.finfo(part).eps * b.abs()
        finite = torch.isfinite(a)
        rounded = torch.isfinite(b.to(got.dtype))
        return torch.where(finite & rounded, right, finite == rounded), allowed
    if not got.is_floating_point():
        whole = torch.float64 if truth.is_floating_point() else torch.int64
        return (got.to(whole) - truth.to(whole)).abs() <= allowed, allowed
    return _between(got.to(torch.float64), truth.to(torch.float64), allowed, got.dtype), allowed


def _between(got: Tensor, truth: Tensor, allowed: Tensor, dtype: torch.dtype) -> Tensor:
    low, high = (truth - allowed).to(dtype).to(torch.float64), (truth + allowed).to(dtype).to(torch.float64)
    return ((got >= low) & (got <= high)) | (torch.isnan(got) & torch.isnan(truth))


def compare(
    got: Tensor,
    truth: Tensor,
    *,
    eager: Tensor | None = None,
    noise: Tensor | None = None,
    tolerance: Tolerance = DEFAULT,
    name: str = "output",
    rows: int | None = None,
) -> Mismatch | None:
    """None when `got` is right, else what is wrong with it.

    Args:
        got: what the candidate returned, in its own type. Shape and type were checked (`check_form`).
        truth: the exact result in the same shape: float64, complex128, int64 or bool.
        eager: PyTorch's own result for the same inputs in the task's type, if there is one.
        noise: the root mean square change of every element when the inputs are rounded (`tolerance.jitter`).
        tolerance: what the task declares.
        name: what to call the output.
        rows: the axis along which the output is normalised, in place of the tolerance's.

    Raises:
        ValueError: shapes differ, which `check_form` should have found.
    """
    if got.shape != truth.shape:
        raise ValueError(f"{name}: {list(got.shape)} cannot be compared with {list(truth.shape)}")
    right, allowed = agreement(got, truth, eager=eager, noise=noise, tolerance=tolerance, rows=rows)
    if bool(right.all()):
        return None
    return _mismatch(got, truth, ~right, allowed)


def _mismatch(got: Tensor, truth: Tensor, wrong: Tensor, allowed: Tensor) -> Mismatch:
    error = (wide(got) - wide(truth)).abs()
    finite = torch.where(torch.isfinite(error), error, 0.0)
    step = torch.finfo(got.dtype).smallest_normal if got.dtype.is_floating_point or got.is_complex() else 1
    badness = torch.where(torch.isfinite(error), error / (allowed + step), math.inf)
    index = torch.unravel_index(torch.where(wrong, badness, -1.0).argmax(), wrong.shape)
    place = tuple(int(i) for i in index)
    return Mismatch(
        count=int(wrong.sum()),
        total=wrong.numel(),
        index=place,
        got=got[place].item(),
        expected=truth[place].item(),
        allowed=float(allowed[place]),
        max_abs=float(finite.max()),
        errors=errors(got, truth),
        where=find_where(wrong, got, truth),
        hint=find_hint(got, truth, wrong),
    )
