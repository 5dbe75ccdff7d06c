"""Functions of NVIDIA's libdevice in NumPy, by the symbol that Triton calls (`__nv_tanhf`, `__nv_tanh`).

Triton's interpreter has none of them. Each is computed in float64 and rounded to the result's type, which is at least
as exact as libdevice's own few units in the last place. Which argument types a function takes is Triton's own check,
made before. Meanings: https://docs.nvidia.com/cuda/libdevice-users-guide/.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .limits import InterpreterLimit


def each(function: Callable[..., float]) -> Callable[..., np.ndarray]:
    """A scalar function of Python's `math`, element by element; a domain error gives NaN, an overflow infinity."""

    def guarded(*values: float) -> float:
        try:
            return function(*values)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return np.vectorize(guarded, otypes=[np.float64])


def special(name: str) -> Callable[[np.ndarray], np.ndarray]:
    """A function of `torch.special`, imported at the first call."""

    def function(value: np.ndarray) -> np.ndarray:
        import torch

        return getattr(torch.special, name)(torch.from_numpy(np.array(value, dtype=np.float64))).numpy()

    return function


def gamma(value: float) -> float:
    return math.copysign(math.inf, value) if value == 0 else math.gamma(value)


def lgamma(value: float) -> float:
    return math.inf if value <= 0 and value == math.floor(value) else math.lgamma(value)


def away(value: np.ndarray) -> np.ndarray:
    """Round to the nearest integer, halves away from zero."""
    return np.copysign(np.floor(np.abs(value) + 0.5), value)


def sinpi(value: np.ndarray) -> np.ndarray:
    return np.sin(np.pi * np.fmod(value, 2.0))


def cospi(value: np.ndarray) -> np.ndarray:
    return np.cos(np.pi * np.fmod(value, 2.0))


NAMED_AS_NUMPY = (
    "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh floor ceil trunc rint fabs fmod"
    " hypot copysign isnan"
)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in NAMED_AS_NUMPY.split()},
    **{name: getattr(np, f"arc{name[1:]}") for name in ("acos", "asin", "atan", "acosh", "asinh", "atanh", "atan2")},
    "pow": np.power,
    "powi": lambda x, n: np.power(x, n.astype(np.float64)),
    "exp10": lambda x: np.power(10.0, x),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "rhypot": lambda x, y: 1 / np.hypot(x, y),
    "remainder": each(math.remainder),
    "round": away,
    "nearbyint": np.rint,
    "llrint": np.rint,
    "llround": away,
    "sinpi": sinpi,
    "cospi": cospi,
    "fma": lambda x, y, z: x * y + z,
    "fdim": lambda x, y: np.where(x > y, x - y, np.where(np.isnan(x + y), np.nan, 0.0)),
    "saturate": lambda x: np.where(np.isnan(x), 0.0, np.clip(x, 0.0, 1.0)),
    "ldexp": lambda x, n: np.ldexp(x, n.astype(np.int32)),
    "scalbn": lambda x, n: np.ldexp(x, n.astype(np.int32)),
    "signbit": np.signbit,
    "isinf": np.isinf,
    "finite": np.isfinite,
    "isfinite": np.isfinite,
    "erf": each(math.erf),
    "erfc": each(math.erfc),
    "lgamma": each(lgamma),
    "tgamma": each(gamma),
    "erfinv": special("erfinv"),
    "erfcx": special("erfcx"),
    "normcdf": special("ndtr"),
    "normcdfinv": special("ndtri"),
    "j0": special("bessel_j0"),
    "j1": special("bessel_j1"),
    "y0": special("bessel_y0"),
    "y1": special("bessel_y1"),
    "cyl_bessel_i0": special("i0"),
    "cyl_bessel_i1": special("i1"),
}
# The fast variants and the explicitly rounded ones (to nearest), by symbol: what they approximate or round.
for fast in ("exp", "exp10", "log", "log2", "log10", "sin", "cos", "tan", "pow"):
    FUNCTIONS[f"fast_{fast}"] = FUNCTIONS[fast]
FUNCTIONS["fast_fdivide"] = np.divide
ROUNDED = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt}
for operation, ufunc in ROUNDED.items():
    FUNCTIONS[f"f{operation}_rn"] = FUNCTIONS[f"d{operation}_rn"] = ufunc
for letter in "fd":
    FUNCTIONS[f"{letter}rcp_rn"] = np.reciprocal
FUNCTIONS["frsqrt_rn"] = FUNCTIONS["rsqrt"]
FUNCTIONS["fma_rn"] = FUNCTIONS["fmaf_rn"] = FUNCTIONS["fma"]
# On integers: computed as they are.
INTEGER: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "llabs": np.abs,
    "popc": lambda x: np.bitwise_count(x.view(f"u{x.itemsize}")),
    "popcll": lambda x: np.bitwise_count(x.view(f"u{x.itemsize}")),
}


def compute(symbol: str, arguments: list[np.ndarray], result: np.dtype) -> np.ndarray:
    """The value of a libdevice function on blocks of one shape, as the result's type.

    Raises InterpreterLimit for a symbol that has no definition here.
    """
    name = symbol.removeprefix("__nv_")
    with np.errstate(all="ignore"):
        if name in INTEGER:
            return INTEGER[name](*arguments).astype(result)
        function = FUNCTIONS.get(name) or FUNCTIONS.get(name[:-1] if name[-1:] in "fd" else name)
        if function is None:
            raise InterpreterLimit(f"Triton's interpreter has no libdevice function {symbol}.")
        return function(*(argument.astype(np.float64) for argument in arguments)).astype(result)
