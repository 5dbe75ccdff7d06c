"""Which memory a kernel may touch in the interpreter: the storages of the tensors that it was launched with.

A read past the end of a tensor gives whatever lies there, often 0, and on a GPU mostly goes unnoticed; a write changes
what belongs to another tensor. Here both are an error, whatever they would have done. Views may reach all of the
storage that they are views of. A kernel that makes pointers of integers (addresses that it loads) is not watched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

Span = tuple[int, int]  # first address, and the one after the last

_spans: list[list[Span] | None] = []  # of the launches that run; None: not watched


class OutOfBoundsError(Exception):
    """A kernel read or wrote outside the tensors that it was given."""


def begin(arguments: Any) -> None:
    """A launch begins with these arguments; `end` ends it."""
    _spans.append(None if any(strange(value) for value in leaves(arguments)) else spans(arguments))


def end() -> None:
    _spans.pop()


def forget() -> None:
    """The running kernel makes pointers of integers: what it may touch is not known."""
    if _spans:
        _spans[-1] = None


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def strange(value: Any) -> bool:
    """Whether a value that is no tensor stands for memory, as a reinterpreted tensor or a descriptor does."""
    return not isinstance(value, torch.Tensor) and (hasattr(value, "data_ptr") or hasattr(value, "base"))


def spans(arguments: Any) -> list[Span]:
    """The storages of the tensors in the arguments, in the order of their addresses."""
    storages = [value.untyped_storage() for value in leaves(arguments) if isinstance(value, torch.Tensor)]
    return sorted({(s.data_ptr(), s.data_ptr() + s.nbytes()) for s in storages if s.nbytes()})


def check(addresses: np.ndarray, mask: np.ndarray, size: int, doing: str) -> None:
    """Raise OutOfBoundsError unless every address whose mask is true begins `size` bytes of one of the storages."""
    allowed = _spans[-1] if _spans else None
    if allowed is None:
        return
    active = addresses[np.broadcast_to(mask, addresses.shape)].astype(np.int64)
    if not active.size:
        return
    low, high = int(active.min()), int(active.max()) + size
    if any(first <= low and high <= last for first, last in allowed):
        return
    inside = np.zeros(active.shape, bool)
    for first, last in allowed:
        inside |= (first <= active) & (active + size <= last)
    if inside.all():
        return
    raise OutOfBoundsError(told(int(active[~inside][0]), int((~inside).sum()), size, doing, allowed))


def told(address: int, count: int, size: int, doing: str, allowed: list[Span]) -> str:
    """One sentence: how many elements, how far from which end of the nearest tensor."""
    what = f"{doing} {count} element{'s' * (count > 1)} of {size} bytes outside its tensors"
    if not allowed:
        return f"{what}; it was given none"
    first, last = min(allowed, key=lambda span: min(abs(address - span[0]), abs(address - span[1])))
    past = address + size > last
    where = f"{address - last} bytes past the end" if past else f"{first - address} bytes before the start"
    return f"{what}, the first {where} of one of {last - first} bytes: is a mask missing, or too wide?"
