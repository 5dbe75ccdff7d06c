"""The interpreter's builder, repaired: `install` puts the methods of `memory`, `arithmetic` and this module over those
of `triton.runtime.interpreter.InterpreterBuilder`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

from . import arithmetic, blocks, libdevice, memory
from .blocks import Handle, numpy_dtype
from .limits import InterpreterLimit


class Additions:
    """Constants that a version lacks, and what the interpreter leaves out; `self` is the builder."""

    def get_bf16(self, value: float) -> Any:
        return Handle(np.array([value], dtype=np.float32), tl.bfloat16)

    def get_all_ones_value(self, type: Any) -> Any:
        want = numpy_dtype(type)
        ones = np.ones(1, want) if want == np.bool_ else np.full(1, -1, np.int64).astype(want)
        return Handle(ones, type.scalar)

    def create_extern_elementwise(self, lib: Any, path: Any, symbol: str, args: list[Any], type: Any, pure: Any) -> Any:
        return Handle(libdevice.compute(symbol, [arg.data for arg in args], numpy_dtype(type)), type.scalar)

    def create_cat(self, lhs: Any, rhs: Any) -> Any:
        raise InterpreterLimit("tl.cat leaves the order of the elements to the GPU, and the interpreter can't know it.")

    def create_inline_asm(self, *args: Any, **options: Any) -> Any:
        raise InterpreterLimit("Triton's interpreter does not run inline assembly (tl.inline_asm_elementwise).")


def mx_values(handle: Any) -> np.ndarray:
    """Values of an operand of a scaled matrix product: packed 4-bit floats or a format of `FORMATS`."""
    return interpreter._e2m1_to_f32(handle.data) if handle.dtype == tl.uint8 else handle.data.astype(np.float32)


def install() -> None:
    """Put the repairs in place, in Triton's module and class (every builder, also those made later)."""
    interpreter._get_np_dtype = numpy_dtype
    interpreter._validate_np_data_size = lambda array, dtype: True
    interpreter._mxfp_value_handle_to_float32 = mx_values
    Handle.__post_init__ = blocks.normalise
    builder = interpreter.InterpreterBuilder
    for repairs in (memory.Memory, arithmetic.Floats, arithmetic.Integers, Additions):
        for name, method in vars(repairs).items():
            if not name.startswith("__"):
                setattr(builder, name, method)
    for suffix, compare in arithmetic.COMPARE.items():
        for letter in "OU":
            setattr(builder, f"create_fcmp{letter}{suffix}", arithmetic.comparison(compare, letter == "U"))
        for letter in "SU":
            setattr(builder, f"create_icmp{letter}{suffix}", arithmetic.comparison(compare, False))
        setattr(builder, f"create_icmp{suffix}", arithmetic.comparison(compare, False))
    memory.watch_integers()
    install_options(builder)


def install_options(builder: Any) -> None:
    """Matrix products take the precisions and refuse the block sizes that a CUDA GPU takes and refuses."""
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import min_dot_size

    precisions = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
    initialise = builder.__init__

    def initialised(self: Any) -> None:
        initialise(self)
        self.options = dataclasses.replace(self.options, allowed_dot_input_precisions=precisions)
        self.codegen_fns["min_dot_size"] = min_dot_size(GPUTarget("cuda", 90, 32))

    builder.__init__ = initialised
    initialised(interpreter.interpreter_builder)
    interpreter.interpreter_semantic.builder = interpreter.interpreter_builder
