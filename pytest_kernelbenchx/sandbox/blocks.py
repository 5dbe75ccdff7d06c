"""Blocks of the interpreter: which array holds which Triton type, and how its bits look in memory.

Blocks of bf16 and fp8 are float32 arrays of representable values (see `formats`). `normalise` runs for every new
handle: it casts the data to the handle's type and rounds it, so that each operation rounds exactly once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

from . import formats
from .limits import InterpreterLimit

Handle = interpreter.TensorHandle
FORMATS: dict[Any, Any] = {
    tl.bfloat16: formats.BF16,
    tl.float8e4nv: formats.E4M3,
    tl.float8e5: formats.E5M2,
}
ALIEN = (tl.float8e4b15, tl.float8e4b8, tl.float8e5b16)
KNOWN: dict[str, np.dtype] = {}  # by the name of the Triton type
_numpy_dtype = interpreter._get_np_dtype


def numpy_dtype(dtype: Any) -> np.dtype:
    """The NumPy type that holds blocks of a Triton type. Asked for every operation, so it does not ask Triton twice."""
    element = element_type(dtype)
    if isinstance(element, tl.pointer_type):
        return _numpy_dtype(element)
    if element.name not in KNOWN:
        if element in ALIEN:
            raise InterpreterLimit(f"The interpreter does not compute in {element}, which NVIDIA GPUs lack.")
        KNOWN[element.name] = np.dtype(np.float32) if format_of(element) else _numpy_dtype(element)
    return KNOWN[element.name]


def element_type(dtype: Any) -> Any:
    return dtype.element_ty if isinstance(dtype, tl.block_type) else dtype


def format_of(dtype: Any) -> Any:
    """The emulated format of a type, or None where NumPy has the type (and for pointers, which have no hash)."""
    element = element_type(dtype)
    return None if isinstance(element, tl.pointer_type) else FORMATS.get(element)


def normalise(handle: Any) -> None:
    """Give a new handle data of exactly its type: cast, then rounded to the format."""
    want = numpy_dtype(handle.dtype)
    data = np.asarray(handle.data)
    if data.dtype != want:
        with np.errstate(all="ignore"):
            data = data.astype(want)
    form = format_of(handle.dtype)
    handle.data = data if form is None else form.round(data)


def to_bits(data: np.ndarray, dtype: Any) -> np.ndarray:
    form = format_of(dtype)
    return data if form is None else form.encode(data)


def from_bits(raw: np.ndarray, dtype: Any) -> np.ndarray:
    form = format_of(dtype)
    return raw if form is None else form.decode(raw)


def memory_dtype(dtype: Any) -> np.dtype:
    form = format_of(dtype)
    return numpy_dtype(dtype) if form is None else form.bits


def raw_data(value: Any) -> np.ndarray:
    return value if isinstance(value, np.ndarray) else value.data
