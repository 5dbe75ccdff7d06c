"""Launches in the interpreter: arguments, grid, keywords and tuning as on a GPU.

What differs from Triton's interpreter: a float argument is a float32 scalar and not a Python number (an fp16 block
times such a scalar is float32); an int has the type that it has on a GPU; the grid function sees the plain arguments;
an unknown keyword, a grid that a GPU refuses and a kernel called without a grid are errors; `triton.language` is
prepared once and not at every launch and every call; tuning takes the first configuration.
"""

from __future__ import annotations

import inspect
import itertools
import operator
import sys
from typing import Any

import numpy as np
import triton
import triton.language as tl
from triton.backends.nvidia.compiler import CUDAOptions
from triton.runtime import autotuner, interpreter
from triton.runtime.errors import AutotunerError, InterpreterError
from triton.tools.tensor_descriptor import TensorDescriptor

from . import bounds, constructs, reductions, shadow

OPTIONS = frozenset(CUDAOptions.__dataclass_fields__)
LARGEST_GRID = (2**31 - 1, 65535, 65535)  # CUDA programming guide, compute capabilities: maximum grid dimensions
LIBRARY = ("triton.language.semantic", "triton.language.core")
_convert = interpreter._implicit_cvt
_running: list[Any] = []  # the kernels being executed


def scalar(value: Any, dtype: Any) -> Any:
    handle = interpreter.TensorHandle(np.array([value]), dtype)
    return tl.core.tensor(handle, dtype)


def convert(argument: Any) -> Any:
    """Replaces `_implicit_cvt`: an argument as the kernel sees it."""
    if isinstance(argument, bool):
        return scalar(argument, tl.int1)
    if isinstance(argument, int):
        return scalar(argument, tl.str_to_ty(triton.runtime.jit.mangle_type(argument), None))
    if isinstance(argument, float):
        return scalar(argument, tl.float32)
    if argument is not None and not isinstance(argument, (tuple, TensorDescriptor)):
        triton.runtime.jit.mangle_type(argument)  # raises as on a GPU: "failed to specialize argument of type: str"
    return _convert(argument)


def launch(self: Any, *arguments: Any, **keywords: Any) -> None:
    """Replaces `GridExecutor.__call__`. The tensors are on the CPU: the kernel works on them in place."""
    parameters = inspect.signature(self.fn).parameters
    for name in keywords:
        if name not in parameters and name not in OPTIONS:
            raise KeyError(f"Keyword argument {name} was specified but unrecognised")
    keywords = {name: value for name, value in keywords.items() if name in parameters}
    for hook in self.pre_run_hooks:
        hook(*arguments, **keywords)
    bound = inspect.getcallargs(self.fn, *arguments, **keywords)
    grid = self.grid(bound) if callable(self.grid) else self.grid
    sizes = [operator.index(size) for size in grid] + [1] * (3 - len(grid))
    if len(sizes) > 3 or any(size > most for size, most in zip(sizes, LARGEST_GRID, strict=True)):
        raise RuntimeError(f"Triton Error [CUDA]: invalid argument (the grid {tuple(sizes)})")
    converted = {name: value if name in self.constexprs else convert(value) for name, value in bound.items()}
    bounds.begin(bound)
    try:
        with shadow.launch(self.fn, bound):
            run_programs(self.fn, converted, sizes)
    finally:
        bounds.end()


def run_programs(kernel: Any, arguments: dict[str, Any], sizes: list[int]) -> None:
    builder = interpreter.interpreter_builder
    builder.set_grid_dim(*sizes)
    _running.append(kernel)
    try:
        with np.errstate(all="ignore"):
            for place in itertools.product(*map(range, sizes)):
                builder.set_grid_idx(*place)
                kernel(**arguments)
    except Exception as error:
        raise InterpreterError(repr(error)) from error
    finally:
        _running.pop()


def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
    """Replaces `InterpretedFunction.__call__`: a kernel calls another function."""
    if not _running:
        raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel")
    return self.rewrite()(*arguments, **keywords)


def tune(self: Any, *arguments: Any, **keywords: Any) -> Any:
    """Replaces `Autotuner.run`: the first configuration that survives pruning, with its hooks, without timing."""
    self.nargs = dict(zip(self.arg_names, arguments, strict=False))
    named = {name: v for name, v in {**self.nargs, **keywords}.items() if name in self.arg_names}
    key = (*(named[name] for name in self.keys if name in named), *(str(v.dtype) for v in named.values() if typed(v)))
    if fresh := key not in self.cache:
        self.cache[key] = first_config(self, keywords)
    self.best_config = config = self.cache[key]
    everything = {**self.nargs, **keywords, **config.all_kwargs()}
    if fresh and len(self.configs) > 1:  # after timing, Triton resets what timing wrote
        self.pre_hook(everything, reset_only=True)
    if config.pre_hook is not None:
        config.pre_hook(everything)
    result = self.fn.run(*arguments, **keywords, **config.all_kwargs())
    self.nargs = None
    return result


def typed(value: Any) -> bool:
    return hasattr(value, "dtype")


def first_config(self: Any, keywords: dict[str, Any]) -> Any:
    configs = self.configs
    if len(configs) > 1 and self.early_config_prune:
        configs = self.early_config_prune(configs, self.nargs, **keywords)
        if not configs:
            raise AutotunerError("No valid autotuner configs after pruning. Let `early_config_prune` return one.")
    return configs[0]


def truth(self: Any) -> bool:
    """A scalar in a condition; a block there does not compile. Triton's own `if other:` asks whether there is one."""
    if self.handle.data.size != 1:
        if sys._getframe(1).f_globals["__name__"] in LIBRARY:
            return True
        raise reductions.NotScalar(f"A condition must be a scalar, not a block of shape {self.handle.data.shape}.")
    return bool(self.handle.data.item())


def no_float(self: Any) -> float:
    raise TypeError("A Triton scalar has no Python value while a kernel is compiled.")


def prepare_language() -> None:
    """Do for good, once, what Triton does to `triton.language` around every launch: names imported from it by a
    candidate (`from triton.language import exp`) are then the interpreter's, too.
    """
    import triton.language.extra.cuda.libdevice as device
    from triton.language.extra import libdevice as stubs

    scope = interpreter._LangPatchScope()
    builder = interpreter.interpreter_builder
    for module in (tl, tl.core, tl.math, tl.tensor, tl.core.tensor_descriptor_base, device):
        interpreter._patch_builtin(module, builder, scope)
    interpreter._patch_lang_tensor(tl.tensor, scope)
    for module in (tl, tl.core):
        interpreter._patch_lang_core(module, scope)
        module.range, module.static_range = constructs.loop, constructs.unrolled
    for name, function in vars(stubs).items():
        if inspect.isfunction(function) and hasattr(device, name):
            setattr(stubs, name, getattr(device, name))
    tl.tensor.__bool__ = truth
    tl.tensor.__index__ = lambda self: int(self.handle.data.item())
    tl.tensor.__float__ = no_float
    interpreter._patch_lang = lambda fn: interpreter._LangPatchScope()


def install() -> None:
    prepare_language()
    interpreter._implicit_cvt = convert
    interpreter.GridExecutor.__call__ = launch
    interpreter.InterpretedFunction.__call__ = call
    autotuner.Autotuner.run = tune
