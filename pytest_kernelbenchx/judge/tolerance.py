"""How far from the truth a result may lie: one table, one dataclass, no hidden knob.

The table gives `(rtol, atol, factor)` for a type: an element may differ from the truth by the largest of

* `rtol * |truth|`,
* `atol * scale`, `scale` being the robust root mean square of the truth (`compare.scale_of`),
* `factor` times the error that PyTorch itself makes at elements of about this size.

With u the unit roundoff of a type (2**-53, 2**-24, 2**-11, 2**-8 for f64, f32, f16, bf16):

* **f64** 1e-9, 1e-9: the truth is a float64 result as well, so nothing below its own error may be asked; 1e-9 leaves
  room for an ill-conditioned solve and is still 60 times below u(f32), so arithmetic in float32 is seen.
* **f32** 1e-5, 2e-5: the hardware's approximate exp, log and sqrt are good to 2 units in the last place, but exp(x)
  has a relative error of |x| u, 5e-6 at 88, whoever computes it. A dot product of standard normal data that is summed
  one by one is wrong by up to 7e-6 of its root mean square at K = 1,024, 1.4e-5 at 4,096. TF32 (1.5e-3 to 4e-3 at
  most, 3e-4 to 8e-4 in the mean) lies more than ten times above both limits: it fails, deliberately.
* **f16, bf16** 4 u, 2 u: the result is rounded once (u), a value inside it may be (u), and sums are kept in float32.
* **c64, c128** are f32 and f64; **integers and bool** are exact.

The factor is 4 for f32 and f64, since sums in the order of a tiled kernel have measured errors of up to 3.2 times
those of the vendor's library at K = 16,384; 2 for f16 and bf16, where eager execution already rounds at every step.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from pytest_kernelbenchx.dtypes import NAMES

TABLE: dict[str, tuple[float, float, float]] = {
    "f64": (1e-9, 1e-9, 4.0),
    "f32": (1e-5, 2e-5, 4.0),
    "f16": (4 * 2.0**-11, 2 * 2.0**-11, 2.0),
    "bf16": (4 * 2.0**-8, 2 * 2.0**-8, 2.0),
}
SAME_AS = {"c64": "f32", "c128": "f64"}
FLUSHED = 2.0**-126
"""Smaller results may be 0: the least normal float32, below which GPUs flush in some functions and modes."""
NOISE_FACTOR = 32.0
"""Multiple of the rounding noise of the inputs that is allowed: a well-conditioned f32 result then gets 32 u = 2e-6."""
NOISE_MOST = 0.01
"""The most that noise may allow, as a share of the element or of the scale: jumps are larger, rounding is not."""


@dataclass(frozen=True)
class Tolerance:
    """What a task declares about closeness; the default is right for most.

    Args:
        table: `(rtol, atol)` for short names of types ("f32"), in place of the table's.
        factor: multiple of PyTorch's own error that is allowed, in place of the table's.
        exact: floating-point results must equal the truth rounded to their type.
        rows: the axis along which the output is normalised: scales are then taken along it, slice by slice.
        ties: how far a result may lie off where rounding the inputs flips it (rounding at .5, thresholds); 0 = never.
    """

    table: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    factor: float | None = None
    exact: bool = False
    rows: int | None = None
    ties: float = 0.0

    def limits(self, dtype: torch.dtype) -> tuple[float, float, float]:
        """`(rtol, atol, factor)` for a result of this type; all zero if it must be exact."""
        name = NAMES.get(dtype, "")
        name = SAME_AS.get(name, name)
        if self.exact or name not in TABLE:
            return 0.0, 0.0, 0.0
        rtol, atol, factor = TABLE[name]
        rtol, atol = self.table.get(name, (rtol, atol))
        return rtol, atol, factor if self.factor is None else self.factor

    @classmethod
    def of(cls, declared: "Mapping[str, Any] | Tolerance | None") -> "Tolerance":
        """Read a task's declaration: `{"f32": (1e-4, 1e-5), "factor": 8, "rows": -1}`.

        Raises:
            TypeError: an unknown key, or a value of the wrong type.
            ValueError: a negative or non-finite number.
        """
        if declared is None:
            return DEFAULT
        if isinstance(declared, Tolerance):
            return declared
        if not isinstance(declared, Mapping):
            raise TypeError(f"a tolerance is a dict such as {{'f32': (1e-4, 1e-5)}}, not {declared!r}")
        known = [*TABLE, "factor", "exact", "rows", "ties"]
        if strange := [key for key in declared if key not in known]:
            raise TypeError(f"a tolerance has no {strange[0]!r}; it has {', '.join(known)}")
        table = {key: _pair(key, declared[key]) for key in declared if key in TABLE}
        rest = {key: _option(key, declared[key]) for key in declared if key not in TABLE}
        return cls(table=table, **rest)


def _pair(name: str, value: Any) -> tuple[float, float]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"tolerance of {name}: a pair (rtol, atol) is wanted, not {value!r}")
    return _number(name, value[0]), _number(name, value[1])


def _option(name: str, value: Any) -> Any:
    if name == "exact":
        if not isinstance(value, bool):
            raise TypeError(f"tolerance's exact: True or False is wanted, not {value!r}")
        return value
    if name == "rows":
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"tolerance's rows: the number of an axis is wanted, not {value!r}")
        return value
    return _number(name, value)


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"tolerance of {name}: a number is wanted, not {value!r}")
    if not 0 <= value < float("inf"):
        raise ValueError(f"tolerance of {name}: {value!r} is no number from 0 up")
    return float(value)


DEFAULT = Tolerance()


FIELDS: tuple[int | None, ...] = (None, -1, -2, 0)
"""Axes along which errors drift: None is all of a tensor, in the order of its elements."""
WAVES = 4


def jitter(values: torch.Tensor, dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    """Floating-point `values` with every element changed by a random relative error of unit roundoff; others as is.

    Evaluating a reference on a few such copies of its inputs shows how far rounding alone moves each element of the
    result: the root mean square of the differences is what `compare` takes as `noise`. Types of 16 bits get float32's
    roundoff, since their arithmetic is done in it.

    Args:
        values: an input in the precision of the truth, float64 or complex128.
        dtype: the type in which the candidate sees this input.
    """
    if not (values.is_floating_point() or values.is_complex()):
        return values
    errors = torch.randn(values.shape, dtype=torch.float64, generator=generator, device=values.device)
    return values * (1 + _unit(dtype) * errors)


def drift(values: torch.Tensor, dtype: torch.dtype, number: int, axis: int | None) -> torch.Tensor:
    """As `jitter`, with relative errors that drift along `axis`: the `number`-th of `WAVES` waves.

    The root mean square change over all waves is that of a random walk from 0 to one unit roundoff (the first terms of
    its Karhunen-Loeve series). A sum then changes by one roundoff of the root mean square of its partial sums, which is
    what adding up block by block rounds. Of sorted values of both signs the partial sums are far larger than the sum:
    a tree of additions, as in PyTorch, has next to no error there, an honest loop over blocks a hundred times that.
    """
    if not (values.is_floating_point() or values.is_complex()) or not values.numel():
        return values
    whole = axis is None or not -values.dim() <= axis < values.dim()
    flat = values.reshape(-1, 1) if whole or axis is None else values.movedim(axis, 0)
    length, turns = flat.shape[0], (number + 0.5) * math.pi
    wave = torch.sin(turns / length * torch.arange(1, length + 1, dtype=torch.float64, device=values.device))
    wave = math.sqrt(2 * WAVES) / turns * wave.reshape(-1, *[1] * (flat.dim() - 1))
    moved = flat * (1 + _unit(dtype) * wave)
    return moved.reshape(values.shape) if whole or axis is None else moved.movedim(0, axis)


def _unit(dtype: torch.dtype) -> float:
    return 2.0**-53 if dtype in (torch.float64, torch.complex128) else 2.0**-24
