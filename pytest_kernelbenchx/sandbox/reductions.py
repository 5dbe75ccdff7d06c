"""Reductions and scans of the interpreter, computed as a tree on whole blocks.

Triton's interpreter sums 16-bit blocks in float32, takes what a NaN leaves of `max` differently from version to
version, miscounts a negative axis, and calls any other combining function once per element. A GPU combines pairs, each
result rounded to the block's type; so does this: neighbours are combined in log2(n) steps, which keeps the order of
the operands. Blocks have power-of-two sizes, so the halves do, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

from .limits import InterpreterLimit

ARG_COMBINERS = {
    "_argmax_combine_tie_break_left": np.argmax,
    "_argmax_combine_tie_break_fast": np.argmax,
    "_argmin_combine_tie_break_left": np.argmin,
    "_argmin_combine_tie_break_fast": np.argmin,
}


class NotScalar(TypeError):
    """A block was used where Triton wants a scalar condition."""


def block(data: np.ndarray, dtype: Any) -> Any:
    """A `tl.tensor` of the data, cast to the scalar type; an array without axes becomes a scalar."""
    scalar = data.ndim == 0
    handle = interpreter.TensorHandle(data.reshape(1) if scalar else data, dtype.scalar)
    return tl.core.tensor(handle, dtype.scalar if scalar else tl.block_type(dtype.scalar, list(data.shape)))


def combine(function: Any, left: list[np.ndarray], right: list[np.ndarray], types: list[Any]) -> list[np.ndarray]:
    arguments = [block(x, t) for x, t in zip(left + right, types + types, strict=True)]
    try:
        result = function(*arguments)
    except NotScalar as error:
        raise InterpreterLimit("Triton's interpreter runs no combining function that branches.") from error
    values = result if isinstance(result, (tuple, tl.tuple)) else (result,)
    return [data_of(v, t, left[0].shape) for v, t in zip(values, types, strict=True)]


def data_of(value: Any, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
    data = value.handle.data if isinstance(value, tl.core.tensor) else np.asarray(getattr(value, "value", value))
    return block(np.broadcast_to(data, shape), dtype).handle.data


def tree(function: Any, data: list[np.ndarray], axis: int, types: list[Any]) -> list[np.ndarray]:
    """Reduce along `axis`, keeping it with length 1."""
    while (length := data[0].shape[axis]) > 1:
        even, odd = (take(data, axis, slice(start, length - length % 2, 2)) for start in (0, 1))
        rest = take(data, axis, slice(length - length % 2, None))
        data = combine(function, even, odd, types)
        if length % 2:
            data = [np.concatenate(pair, axis=axis) for pair in zip(data, rest, strict=True)]
    return data


def take(data: list[np.ndarray], axis: int, part: slice) -> list[np.ndarray]:
    index = (slice(None),) * axis + (part,)
    return [np.ascontiguousarray(x[index]) for x in data]


def wrap_axis(axis: Any, dimensions: int) -> int:
    axis = getattr(axis, "value", axis)
    if not isinstance(axis, int) or not -dimensions <= axis < dimensions:
        raise ValueError(f"The axis {axis!r} is out of bounds for a block of {dimensions} dimensions.")
    return int(axis % dimensions)


def extreme(name: str, data: list[np.ndarray], axis: int) -> list[np.ndarray]:
    """Value and index of the leftmost largest or smallest element that is no NaN, with the axis kept."""
    find = ARG_COMBINERS[name]
    values = data[0]
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), -np.inf if find is np.argmax else np.inf, values)
    place = np.expand_dims(find(values, axis=axis), axis)
    return [np.take_along_axis(x, place, axis) for x in data]


def reduce(self: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """Replaces `ReduceOps.apply_impl`."""
    types = [x.dtype for x in inputs]
    data = [x.handle.data for x in inputs]
    dimensions, axis = data[0].ndim, self.axis
    flat = axis is None or getattr(axis, "value", axis) is None
    axis = 0 if flat else wrap_axis(axis, dimensions)
    if flat:
        data = [x.reshape(-1) for x in data]
    name = getattr(self.combine_fn, "__name__", "")
    standard = getattr(tl.standard, name, None) is self.combine_fn
    if standard and name in ARG_COMBINERS:
        data = extreme(name, data, axis)
    elif standard and name == "_sum_combine" and data[0].dtype.kind in "iu":
        data = [np.sum(data[0], axis=axis, keepdims=True, dtype=data[0].dtype)]
    else:
        data = tree(self.combine_fn, data, axis, types)
    if getattr(self.keep_dims, "value", self.keep_dims):
        data = [x.reshape((1,) * dimensions) for x in data] if flat else data
    else:
        data = [np.squeeze(x, axis=axis) for x in data]
    return [block(x, t) for x, t in zip(data, types, strict=True)]


def scan(self: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """Replaces `ScanOps.apply_impl`: an inclusive scan by doubling distances."""
    types = [x.dtype for x in inputs]
    axis = wrap_axis(self.axis, inputs[0].handle.data.ndim)
    data = [np.flip(x.handle.data, axis) if self.reverse else x.handle.data for x in inputs]
    length = data[0].shape[axis]
    place = np.arange(length).reshape((-1,) + (1,) * (data[0].ndim - axis - 1))
    distance = 1
    while distance < length:
        earlier = [np.ascontiguousarray(np.roll(x, distance, axis)) for x in data]
        joined = combine(self.combine_fn, earlier, [np.ascontiguousarray(x) for x in data], types)
        data = [np.where(place >= distance, new, old) for new, old in zip(joined, data, strict=True)]
        distance *= 2
    data = [np.ascontiguousarray(np.flip(x, axis)) if self.reverse else x for x in data]
    return [block(x, t) for x, t in zip(data, types, strict=True)]


def install() -> None:
    interpreter.ReduceScanOpInterface.check_axis = lambda self, shape, axis: None
    interpreter.ReduceScanOpInterface.to_tensor = lambda self, ret, dtype: block(np.asarray(ret), dtype)
    interpreter.ReduceOps.apply_impl = reduce
    interpreter.ScanOps.apply_impl = scan
