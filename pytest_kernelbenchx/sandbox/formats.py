"""Floating-point formats that NumPy lacks, kept as float32 values that the format can represent.

The interpreter stores bf16 and fp8 as raw unsigned integers and computes on those bits. Here a block of such a type
is a float32 array whose every value is representable, so that arithmetic is float32 arithmetic followed by one
rounding (to nearest even), as on a GPU; the bits appear only in memory and in bit casts. All functions take and
return arrays of one shape.

Sources: bfloat16 is the upper half of IEEE binary32; E4M3 (no infinity, NaN = S.1111.111, largest 448) and E5M2 (IEEE
layout, largest 57344) are defined in https://arxiv.org/abs/2209.05433, and a GPU narrows to them with `satfinite`
(PTX ISA, `cvt`): what is too large becomes the largest finite value.
"""

from __future__ import annotations

import numpy as np


class BFloat16:
    """1 sign, 8 exponent and 7 fraction bits, in the upper half of a float32."""

    bits = np.dtype(np.uint16)

    @staticmethod
    def decode(raw: np.ndarray) -> np.ndarray:
        return (raw.astype(np.uint32) << np.uint32(16)).view(np.float32)

    @staticmethod
    def round(value: np.ndarray) -> np.ndarray:
        raw = value.view(np.uint32)
        if not (raw & np.uint32(0xFFFF)).any():
            return value
        even = raw + np.uint32(0x7FFF) + ((raw >> np.uint32(16)) & np.uint32(1))
        return np.where(np.isnan(value), value, (even & np.uint32(0xFFFF0000)).view(np.float32))

    @staticmethod
    def encode(value: np.ndarray) -> np.ndarray:
        raw = (value.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        return np.where(np.isnan(value), np.uint16(0x7FC0), raw)

    @staticmethod
    def truncate(value: np.ndarray) -> np.ndarray:
        cut = (value.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        return np.where(np.isnan(value), value, cut)


class Float8:
    """An 8-bit format given by its exponent bits, its largest finite value and whether it has infinities."""

    bits = np.dtype(np.uint8)

    def __init__(self, exponent_bits: int, largest: float, infinities: bool) -> None:
        self.fraction = 7 - exponent_bits
        self.bias = 2 ** (exponent_bits - 1) - 1
        self.largest = np.float32(largest)
        self.table = self._values(infinities)

    def _values(self, infinities: bool) -> np.ndarray:
        raw = np.arange(128)
        exponent, fraction = raw >> self.fraction, (raw & (2**self.fraction - 1)) / 2**self.fraction
        normal = (1 + fraction) * 2.0 ** (exponent - self.bias)
        positive = np.where(exponent == 0, fraction * 2.0 ** (1 - self.bias), normal)
        positive = np.where(positive > self.largest, np.nan, positive)
        if infinities:
            positive[(raw == 0x7C)] = np.inf
        return np.concatenate([positive, -positive]).astype(np.float32)

    def decode(self, raw: np.ndarray) -> np.ndarray:
        return self.table[raw]

    def round(self, value: np.ndarray) -> np.ndarray:
        _, exponent = np.frexp(value)
        step = np.ldexp(np.float32(1), np.maximum(exponent - 1, 1 - self.bias) - self.fraction)
        rounded = np.clip(np.rint(value / step) * step, -self.largest, self.largest)
        if np.isinf(self.table).any():  # an infinity that was loaded stays one: only a conversion saturates
            rounded = np.where(np.isinf(value), value, rounded)
        return rounded.astype(np.float32)

    def saturate(self, value: np.ndarray) -> np.ndarray:
        return np.clip(value, -self.largest, self.largest)

    def encode(self, value: np.ndarray) -> np.ndarray:
        ordered = np.where(np.isnan(self.table[:128]), np.float32(np.inf), self.table[:128])
        raw = np.searchsorted(ordered, np.abs(value)).astype(np.uint8)
        raw = np.where(np.isnan(value), np.uint8(0x7F), raw)
        return raw | (np.signbit(value).astype(np.uint8) << np.uint8(7))


BF16 = BFloat16()
E4M3 = Float8(4, 448.0, infinities=False)
E5M2 = Float8(5, 57344.0, infinities=True)
