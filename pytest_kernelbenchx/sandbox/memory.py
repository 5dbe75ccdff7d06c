"""Loads, stores and atomic operations of the interpreter; bf16 and fp8 exist as bits only here."""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl
from triton._C.libtriton import interpreter as native
from triton._C.libtriton import ir
from triton.runtime.interpreter import InterpreterBuilder

from . import bounds, shadow
from .blocks import FORMATS, Handle, from_bits, memory_dtype, numpy_dtype, raw_data, to_bits
from .limits import InterpreterLimit


class Memory:
    """Methods that replace those of the interpreter's builder; `self` is that builder."""

    def create_masked_load(self, ptrs: Any, mask: Any, other: Any, *policy: Any, **options: Any) -> Any:
        dtype = ptrs.get_element_ty()
        memory = memory_dtype(dtype)
        fill = np.zeros(ptrs.data.shape, memory) if other is None else to_bits(other.data, dtype).astype(memory)
        fill = np.ascontiguousarray(np.broadcast_to(fill, ptrs.data.shape))
        bounds.check(ptrs.data, raw_data(mask), fill.itemsize, "it read")
        if shadow.current is not None:
            shadow.current.loaded(ptrs.data, raw_data(mask), fill.itemsize)
        raw = native.load(ptrs.data, raw_data(mask), fill, memory)
        return Handle(from_bits(raw, dtype), dtype)

    def create_masked_store(self, ptrs: Any, value: Any, mask: Any, *policy: Any, **options: Any) -> Any:
        bits = to_bits(value.data, value.dtype)
        bounds.check(ptrs.data, raw_data(mask), bits.itemsize, "it wrote")
        if shadow.current is not None:
            shadow.current.stored(ptrs.data, raw_data(mask), bits.itemsize)
        return native.store(ptrs.data, bits, raw_data(mask))

    def create_load(self, ptr: Any, *policy: Any, **options: Any) -> Any:
        return Memory.create_masked_load(self, ptr, np.ones(ptr.data.shape, bool), None)

    def create_store(self, ptr: Any, val: Any, *policy: Any, **options: Any) -> Any:
        return Memory.create_masked_store(self, ptr, val, np.ones(ptr.data.shape, bool))

    def create_atomic_cas(self, ptr: Any, cmp: Any, val: Any, sem: Any, scope: Any) -> Any:
        order = InterpreterBuilder.ir_sem_to_interpreter_sem[sem]
        wanted, new = to_bits(cmp.data, cmp.dtype), to_bits(val.data, val.dtype)
        bounds.check(ptr.data, np.ones(1, bool), new.itemsize, "it wrote")
        changed(ptr.data, np.ones(1, bool), new.itemsize)
        old = native.atomic_cas(ptr.data, wanted, new, order)
        return Handle(from_bits(old, cmp.dtype), cmp.dtype.scalar)

    def create_atomic_rmw(self, operation: Any, ptr: Any, val: Any, mask: Any, sem: Any, scope: Any) -> Any:
        dtype = val.dtype.scalar
        size = np.dtype(memory_dtype(dtype)).itemsize
        bounds.check(ptr.data, mask.data, size, "it wrote")
        changed(ptr.data, mask.data, size)
        if dtype in FORMATS or dtype == tl.float16:
            return one_by_one(operation, ptr, val, mask)
        old = native.atomic_rmw(
            InterpreterBuilder.ir_rmw_op_to_interpreter_rmw_op[operation],
            ptr.data,
            val.data,
            np.ascontiguousarray(np.broadcast_to(mask.data, ptr.data.shape)),
            InterpreterBuilder.ir_sem_to_interpreter_sem[sem],
        )
        return Handle(old, dtype)


def changed(addresses: np.ndarray, mask: np.ndarray, size: int) -> None:
    """An atomic operation reads and writes, for whoever watches."""
    if shadow.current is not None:
        shadow.current.loaded(addresses, mask, size)
        shadow.current.stored(addresses, mask, size)


def watch_integers() -> None:
    """Addresses that a kernel makes of integers may lie anywhere: its launch is watched no longer."""
    original = InterpreterBuilder.create_int_to_ptr

    def create_int_to_ptr(self: Any, *arguments: Any) -> Any:
        bounds.forget()
        return original(self, *arguments)

    InterpreterBuilder.create_int_to_ptr = create_int_to_ptr


def one_by_one(operation: Any, ptr: Any, val: Any, mask: Any) -> Any:
    """An atomic operation on 16-bit floats, one element after the other; returns what was there before."""
    rules: dict[Any, Any] = {ir.ATOMIC_OP.FADD: np.add, ir.ATOMIC_OP.XCHG: lambda old, new: new}
    rules.update({ir.ATOMIC_OP.MAX: np.fmax, ir.ATOMIC_OP.MIN: np.fmin})
    if operation not in rules:
        raise InterpreterLimit(f"Triton's interpreter has no atomic {operation} on {val.dtype}.")
    dtype = val.dtype.scalar
    memory, shape = memory_dtype(dtype), ptr.data.shape
    values, chosen = (np.broadcast_to(x.data, shape) for x in (val, mask))
    before = np.zeros(shape, numpy_dtype(dtype))
    yes = np.ones(1, bool)
    for index in zip(*np.nonzero(chosen), strict=True):
        where = ptr.data[index].reshape(1)
        old = from_bits(native.load(where, yes, np.zeros(1, memory), memory), dtype)
        new = Handle(rules[operation](old, values[index].reshape(1)), dtype).data
        native.store(where, to_bits(new, dtype), yes)
        before[index] = old[0]
    return Handle(before, dtype)
