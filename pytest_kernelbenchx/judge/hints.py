"""Where a wrong result is wrong, and what known mistake it looks like.

A hint is given only when the whole pattern fits; a wrong hint costs more than none.
"""

import torch
from torch import Tensor

from pytest_kernelbenchx.sandbox.fresh import BYTE

TF32 = "the error is of TF32's size everywhere: tl.dot uses TF32 by default: pass input_precision='ieee'"
UNWRITTEN = "nothing was written there: are all blocks launched (triton.cdiv), is the mask of tl.store right?"
HALF = "the error is that of sums kept in 16 bits: accumulate in float32 (acc = tl.zeros(..., tl.float32))"


def find_where(wrong: Tensor, got: Tensor, truth: Tensor) -> str:
    """One clause: everything, a tail, one row, a box. `wrong` is boolean with at least one True."""
    total, count = wrong.numel(), int(wrong.sum())
    if total == 1:
        return "the only element"
    if count == total:
        return "everything"
    if got.is_floating_point() and bool(torch.isnan(got[wrong]).all()):
        return f"NaN where the truth has none, {_box(wrong)}"
    if truth.is_floating_point() and bool(torch.isnan(truth[wrong]).all()):
        return f"numbers where the truth is NaN, {_box(wrong)}"
    if count == 1:
        return f"one element, {_box(wrong)}"
    flat = wrong.flatten()
    first = int(flat.nonzero()[0])
    if first > 0 and count >= 0.9 * (total - first) and wrong.ndim == 1:
        return f"only the last elements, from {first} on (the tail of a block?)"
    return _slab(wrong) or _box(wrong)


def _slab(wrong: Tensor) -> str:
    """A whole slice, or the last slices, along one axis."""
    for axis, length in enumerate(wrong.shape):
        if length < 2:
            continue
        hit = wrong.movedim(axis, 0).reshape(length, -1).any(1)
        first, last = int(hit.nonzero()[0]), int(hit.nonzero()[-1])
        if first == last:
            kind = {0: "row", 1: "column"}.get(axis) if wrong.ndim == 2 else None
            return f"only {kind} {first}" if kind else f"only index {first} of axis {axis}"
        if first > 0 and last == length - 1 and bool(hit[first:].all()):
            return f"only the end of axis {axis}, from {first} on (the tail of a block?)"
    return ""


def _box(wrong: Tensor) -> str:
    places = wrong.nonzero()
    first, last = places.amin(0).tolist(), places.amax(0).tolist()
    return f"at {first}" if first == last else f"within {first} to {last}"


def find_hint(got: Tensor, truth: Tensor, wrong: Tensor) -> str:
    """A sentence on the likely mistake, or ""."""
    if bool(wrong.any()) and _unwritten(got[wrong]):
        return UNWRITTEN
    if got.numel() < 2:
        return ""
    exact = truth.to(got.dtype)
    checks = (_constant, _moved, _multiple, _imprecise)
    return next((hint for check in checks if (hint := check(got, exact, wrong))), "")


def _unwritten(values: Tensor) -> bool:
    """Whether these are the bytes that fresh memory holds, in the interpreter."""
    return values.element_size() > 1 and bool((values.contiguous().view(torch.uint8) == BYTE).all())


def _constant(got: Tensor, exact: Tensor, wrong: Tensor) -> str:
    """Output of NaN or zeros alone."""
    if not got.is_complex() and got.is_floating_point() and bool(torch.isnan(got).all()):
        return "everything is NaN: the output was not written, or NaN was computed from the start"
    zeros = got.numel() >= 4 and got.dtype is not torch.bool and not bool(got.any())
    told_apart = not bool((exact == exact.reshape(-1)[0]).all())
    return "everything is 0: what was computed did not reach the output" if zeros and told_apart else ""


def _moved(got: Tensor, exact: Tensor, wrong: Tensor) -> str:
    """Right values at wrong places."""
    if got.numel() < 4 or not bool(wrong.any()) or bool((exact == exact.reshape(-1)[0]).all()):
        return ""
    flat, want = got.flatten(), exact.flatten()
    if _same(flat, want):
        return ""
    if got.ndim >= 2 and min(got.shape[-2:]) > 1 and _same(flat, exact.mT.flatten()):
        return "these are the values of the transposed result: swap the strides of the last two axes"
    if _same(flat[1:], want[:-1]) or _same(flat[:-1], want[1:]):
        return "the values are shifted by one element"
    if got.ndim and _same(flat, exact.flip(-1).flatten()):
        return "the values stand in reverse order along the last axis"
    return ""


def _multiple(got: Tensor, exact: Tensor, wrong: Tensor) -> str:
    """One wrong factor on everything."""
    if not got.is_floating_point() or got.numel() < 8 or float(wrong.double().mean()) < 0.5:
        return ""
    a, b = got.double().flatten(), exact.double().flatten()
    keep = torch.isfinite(a) & torch.isfinite(b)
    a, b = a[keep], b[keep]
    if not bool((b != 0).any()) or not bool((b != b[0]).any()):
        return ""
    factor = float((a @ b) / (b @ b))
    if abs(factor - 1) < 0.02 or factor == 0 or not _same(a, factor * b, 16 * torch.finfo(got.dtype).eps):
        return ""
    return f"every element is {factor:.5g} times what it should be"


def _imprecise(got: Tensor, exact: Tensor, wrong: Tensor) -> str:
    """A small error, everywhere alike."""
    if not got.is_floating_point() or got.numel() < 16 or float(wrong.double().mean()) < 0.2:
        return ""
    a, b = got.double().flatten(), exact.double().flatten()
    keep = torch.isfinite(a) & torch.isfinite(b)
    a, b = a[keep], b[keep].abs()
    middle = b.median() if b.numel() else 0
    if not middle > 0:
        return ""
    error = ((a.abs() - b).abs() / (b + middle)).sort().values
    share = 2 * float(error[len(error) // 2])  # of normal data, about the root mean square error over that of the data
    if not error[int(0.95 * len(error))] < 6 * share:
        return ""
    if got.dtype == torch.float32 and 1e-4 < share < 3e-3:
        return TF32
    if got.dtype == torch.float16 and 6e-4 < share < 3e-2:
        return HALF
    if got.dtype == torch.bfloat16 and 5e-3 < share < 0.2:
        return HALF
    return ""


def _same(a: Tensor, b: Tensor, rtol: float = 1e-3) -> bool:
    """Nearly all elements agree, non-finite ones included."""
    if a.shape != b.shape:
        return False
    return bool(torch.isclose(a, b, rtol=rtol, atol=0.0, equal_nan=True).double().mean() > 0.98)
