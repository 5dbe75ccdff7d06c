"""Casts and arithmetic of the interpreter's builder, as a GPU computes them.

C semantics for casts and shifts, IEEE semantics for comparisons with NaN, and matrix products that accumulate in
float32, with TF32 operands where the kernel allows TF32 (tensor cores ignore the lower 13 bits of each operand: PTX
ISA, `mma` with `.tf32`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton._C.libtriton import ir

from . import formats, shadow
from .blocks import FORMATS, Handle, format_of, from_bits, memory_dtype, numpy_dtype, to_bits
from .limits import InterpreterLimit


def truncate_tf32(data: np.ndarray) -> np.ndarray:
    cut = (np.ascontiguousarray(data).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return np.where(np.isfinite(data), cut, data)


def to_integer(data: np.ndarray, want: np.dtype) -> np.ndarray:
    """Toward zero, saturating, NaN becomes 0 (PTX `cvt.rzi`); 8 bits are the low bits of a 16-bit conversion."""
    if want.itemsize == 1 and want != np.bool_:
        return to_integer(data, np.dtype(f"{want.kind}2")).astype(want)
    info = np.iinfo(want)
    wide = np.nan_to_num(np.trunc(data.astype(np.float64)), nan=0.0, posinf=np.inf, neginf=-np.inf)
    inside = (wide > float(info.min) - 1) & (wide < float(info.max) + (info.bits < 64))
    limit = np.where(wide > 0, info.max, info.min).astype(want)
    return np.where(inside, np.where(inside, wide, 0).astype(want), limit)


def toward_zero(data: np.ndarray, dtype: Any) -> np.ndarray:
    if dtype == tl.bfloat16:
        return formats.BF16.truncate(data.astype(np.float32))
    if dtype in FORMATS:
        raise InterpreterLimit(f"Triton's interpreter does not round toward zero to {dtype}.")
    rounded = data.astype(numpy_dtype(dtype))
    return np.where(np.abs(rounded) > np.abs(data), np.nextafter(rounded, np.zeros_like(rounded)), rounded)


class Floats:
    """Casts and floating-point methods that replace those of the builder; `self` is that builder."""

    def cast_impl(self, src: Any, dst_type: Any) -> Any:
        want, data = numpy_dtype(dst_type), src.data
        if data.dtype.kind == "f" and want.kind in "iu":
            data = to_integer(data, want)
        return Handle(data, dst_type.scalar)

    def create_fp_to_fp(self, src: Any, dst_type: Any, rounding_mode: Any) -> Any:
        dtype, data = dst_type.scalar, src.data
        if rounding_mode == ir.ROUNDING_MODE.RTZ:
            return Handle(toward_zero(data, dtype), dtype)
        if isinstance(format_of(dtype), formats.Float8):
            data = FORMATS[dtype].saturate(data)
        return Handle(data, dtype)

    def create_bitcast(self, src: Any, dst_type: Any) -> Any:
        raw = np.ascontiguousarray(to_bits(src.data, src.dtype)).reshape(src.data.shape)
        return Handle(from_bits(raw.view(memory_dtype(dst_type)), dst_type), dst_type.scalar)

    create_int_to_ptr = create_bitcast
    create_ptr_to_int = create_bitcast

    # Arithmetic.

    def binary_op(self, lhs: Any, rhs: Any, op: Any) -> Any:
        left, right = lhs.data, rhs.data
        if left.dtype == np.bool_ and right.dtype == np.bool_:  # int1 is an integer of one bit: it wraps
            return Handle((op(left.astype(np.int8), right.astype(np.int8)) & 1) != 0, lhs.dtype.scalar)
        return Handle(op(left, right), lhs.dtype.scalar)

    def create_fabs(self, arg: Any) -> Any:
        return Handle(np.abs(arg.data), arg.dtype.scalar)

    def create_fneg(self, arg: Any) -> Any:
        return Handle(np.negative(arg.data), arg.dtype.scalar)

    def create_minnumf(self, lhs: Any, rhs: Any) -> Any:
        return Handle(np.fmin(lhs.data, rhs.data), lhs.dtype.scalar)

    def create_maxnumf(self, lhs: Any, rhs: Any) -> Any:
        return Handle(np.fmax(lhs.data, rhs.data), lhs.dtype.scalar)

    def create_clampf(self, arg: Any, low: Any, high: Any, propagate_nans: Any) -> Any:
        if propagate_nans == ir.PROPAGATE_NAN.NONE:
            return Handle(np.fmin(np.fmax(arg.data, low.data), high.data), arg.dtype.scalar)
        return Handle(np.minimum(np.maximum(arg.data, low.data), high.data), arg.dtype.scalar)


class Integers:
    """Integer methods and matrix products that replace those of the builder; `self` is that builder."""

    def create_idiv(self, lhs: Any, rhs: Any) -> Any:
        left, right = lhs.data, rhs.data
        return Handle((left - np.fmod(left, right)) // right, lhs.dtype.scalar)

    def create_shl(self, lhs: Any, rhs: Any) -> Any:
        return Handle(np.left_shift(lhs.data, rhs.data.astype(lhs.data.dtype)), lhs.dtype.scalar)

    def create_lshr(self, lhs: Any, rhs: Any) -> Any:
        unsigned = np.dtype(f"u{lhs.data.dtype.itemsize}")
        shifted = np.right_shift(lhs.data.astype(unsigned), rhs.data.astype(unsigned))
        return Handle(shifted, lhs.dtype.scalar)

    def create_ashr(self, lhs: Any, rhs: Any) -> Any:
        signed = np.dtype(f"i{lhs.data.dtype.itemsize}")
        shifted = np.right_shift(lhs.data.astype(signed), rhs.data.astype(signed))
        return Handle(shifted, lhs.dtype.scalar)

    def create_umulhi(self, lhs: Any, rhs: Any) -> Any:
        size = lhs.data.dtype.itemsize
        unsigned, half = np.dtype(f"u{size}"), 4 * size
        a, b = lhs.data.astype(unsigned), rhs.data.astype(unsigned)
        shift, mask = unsigned.type(half), unsigned.type(2**half - 1)
        low, cross = (a & mask) * (b & mask), (a >> shift) * (b & mask)
        middle = (a & mask) * (b >> shift) + (cross & mask) + (low >> shift)
        high = (a >> shift) * (b >> shift) + (cross >> shift) + (middle >> shift)
        return Handle(high, lhs.dtype.scalar)

    def create_fma(self, x: Any, y: Any, z: Any) -> Any:
        wide = np.longdouble if z.data.dtype == np.float64 else np.float64
        return Handle(np.add(np.multiply(x.data, y.data, dtype=wide), z.data, dtype=wide), z.dtype.scalar)

    def create_dot(self, a: Any, b: Any, d: Any, input_precision: Any, max_num_imprecise_acc: Any) -> Any:
        left, right, acc = a.data, b.data, d.data
        if shadow.current is not None:
            shadow.current.multiplied(left.shape, right.shape)
        if acc.dtype.kind in "iu":  # exact: |sum| < 2**53 for any block of 8-bit operands
            product = np.matmul(left.astype(np.float64), right.astype(np.float64)).astype(np.int64)
            return Handle(product + acc, d.dtype.scalar)
        if left.dtype == np.float64:
            return Handle(np.matmul(left, right) + acc, d.dtype.scalar)
        if a.dtype.scalar == tl.float32 and input_precision == ir.INPUT_PRECISION.TF32:
            left, right = truncate_tf32(left), truncate_tf32(right)
        product = np.matmul(left.astype(np.float32), right.astype(np.float32))
        return Handle(product + acc.astype(np.float32), d.dtype.scalar)

    def create_histogram(self, data: Any, bins: int, mask: Any) -> Any:
        values = data.data.ravel()
        valid = (values >= 0) & (values < bins)
        if mask is not None:
            valid &= np.broadcast_to(mask.data, data.data.shape).ravel()
        return Handle(np.bincount(values[valid].astype(np.int64), minlength=bins), tl.int32)


def comparison(compare: Any, unordered: bool) -> Any:
    """A builder method that compares; an unordered comparison is true where an operand is NaN."""

    def method(self: Any, lhs: Any, rhs: Any) -> Any:
        result = compare(lhs.data, rhs.data)
        if lhs.data.dtype.kind == "f":
            nan = np.isnan(lhs.data) | np.isnan(rhs.data)
            result = (result | nan) if unordered else (result & ~nan)
        return Handle(result, tl.int1)

    return method


COMPARE: dict[str, Callable[..., Any]] = {
    "LE": np.less_equal,
    "LT": np.less,
    "GE": np.greater_equal,
    "GT": np.greater,
    "EQ": np.equal,
    "NE": np.not_equal,
}
