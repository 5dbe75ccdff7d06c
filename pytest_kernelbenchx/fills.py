"""Ready ways to fill a tensor, for a task's `fill=`.

A fill is a function that returns a tensor. It is called with those of these keywords that it names: `rng` (a CPU
generator), `shape`, `dtype`, `kind` (one of `FILLS`), and every axis, option and earlier input of the case by its own
name. Its result is converted to `dtype`. The kind "edge" means something for inputs without a declared fill alone.

Outliers follow KernelBenchX (arXiv 2605.04956): each value becomes 50 times larger with probability 0.1 %; here at
least one in every tensor does.
"""

import inspect
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

FILLS = ("standard", "outlier", "edge")
OUTLIER_PROBABILITY = 0.001
OUTLIER_SCALE = 50.0

Fill = Callable[..., Tensor]


def call(fill: Fill, context: dict[str, Any]) -> Tensor:
    """Call `fill` with the keywords that it names."""
    parameters = inspect.signature(fill).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return fill(**context)
    if missing := [name for name in parameters if name not in context]:
        raise TypeError(f"a fill asks for {', '.join(missing)}; there are {', '.join(sorted(context))}")
    return fill(**{name: context[name] for name in parameters})


def with_outliers(values: Tensor, rng: torch.Generator) -> Tensor:
    """`values` with about one in a thousand, and at least one, made 50 times larger."""
    if not values.numel():
        return values
    chosen = torch.rand(values.shape, generator=rng) < OUTLIER_PROBABILITY
    chosen.view(-1)[int(torch.randint(values.numel(), (), generator=rng))] = True
    return torch.where(chosen, values * OUTLIER_SCALE, values)


LARGE = {torch.int64: 2**53 + 1, torch.int32: 2**24 + 1, torch.int16: 2**11 + 1}
"""The first integer that float64, float32 and float16 cannot hold."""


def large_integers(values: Tensor, rng: torch.Generator) -> Tensor:
    """`values` with about one in a thousand, and at least one, moved out by `LARGE`, away from zero."""
    moved = with_outliers(torch.ones(values.shape), rng) != 1
    return torch.where(moved, values + torch.where(values < 0, -1, 1).to(values.dtype) * LARGE[values.dtype], values)


def default(rng: torch.Generator, shape: list[int], dtype: torch.dtype, kind: str) -> Tensor:
    """Standard normal for floats and complex numbers, small integers, fair coin flips for booleans; see `edge`, too.

    Outliers among integers are those that narrower arithmetic cannot hold: beyond 2**53, 2**24 and 2**11 for 64, 32 and
    16 bits.
    """
    if kind == "edge":
        return edge(rng, shape, dtype)
    if dtype is torch.bool:
        return torch.rand(shape, generator=rng) < 0.5
    if not dtype.is_floating_point and not dtype.is_complex:
        small = torch.randint(0 if dtype is torch.uint8 else -100, 101, shape, generator=rng).to(dtype)
        return large_integers(small, rng) if kind == "outlier" and dtype in LARGE else small
    working = {torch.float64: torch.float64, torch.complex128: torch.complex128, torch.complex64: torch.complex64}
    values = torch.randn(shape, generator=rng, dtype=working.get(dtype, torch.float32))
    return with_outliers(values, rng) if kind == "outlier" else values


FAR = {torch.float16: 2.0**4, torch.bfloat16: 2.0**20}  # how much larger the large pattern of `edge` is, if not 2 ** 10
PATTERNS: dict[str, Callable[[Tensor], Tensor]] = {
    "zeros": lambda values: values * 0,  # of either sign
    "constant": lambda values: values[..., :1].expand(values.shape) if values.dim() else values,
    "one value": lambda values: values.new_full(values.shape, float(values.view(-1)[0])) if values.numel() else values,
    "negative": lambda values: -values.abs(),
    "ties": lambda values: values.round(),
    "sorted": lambda values: values.reshape(-1).sort().values.view(values.shape),
    "small": lambda values: values / 2**10,
    "large": lambda values: values * 2**10,
}
"""What tensors of `edge` look like; "constant": every row, so that its deviation is 0."""


def edge(rng: torch.Generator, shape: list[int], dtype: torch.dtype) -> Tensor:
    """Normal values (small integers, coin flips) in one of `PATTERNS`.

    They are what makes a kernel divide by 0, start a maximum at 0, choose the wrong one of equal elements, or drown a
    small result in a large eps. Complex numbers are those of two patterns.
    """
    name = list(PATTERNS)[int(torch.randint(len(PATTERNS), (), generator=rng))]
    if dtype.is_complex:
        return torch.complex(edge(rng, shape, torch.float64), edge(rng, shape, torch.float64))
    values = PATTERNS[name](torch.randn(shape, generator=rng, dtype=torch.float64))
    if dtype is torch.bool:
        return values > 0
    if not dtype.is_floating_point:
        return (values * 10).clamp(0 if dtype is torch.uint8 else -100, 100).round()
    return values / 2**10 * FAR[dtype] if name == "large" and dtype in FAR else values


EDGE = 1e-3
"""How close to an end of its range an outlier of `uniform` lies, as a share of the range, at most."""


def uniform(low: float = 0.0, high: float = 1.0) -> Fill:
    """Evenly spread over [low, high), a domain that outliers would leave: theirs are values next to its ends."""

    def fill(rng: torch.Generator, shape: list[int], kind: str) -> Tensor:
        share = torch.rand(shape, generator=rng, dtype=torch.float64)
        if kind == "outlier":
            near = torch.where(share < 0.5, share, share + 1 / EDGE - 1) * EDGE
            share = torch.where(with_outliers(torch.ones(shape), rng) != 1, near, share)
        return low + (high - low) * share

    return fill


def normal(mean: float = 0.0, std: float = 1.0, low: float = -math.inf, high: float = math.inf) -> Fill:
    """Normal values, outliers included where the case asks for them, all clamped to [low, high]."""

    def fill(rng: torch.Generator, shape: list[int], kind: str) -> Tensor:
        values = mean + std * torch.randn(shape, generator=rng, dtype=torch.float64)
        return (with_outliers(values, rng) if kind == "outlier" else values).clamp(low, high)

    return fill


def fan_in(rng: torch.Generator, shape: list[int], kind: str) -> Tensor:
    """Weights [.., K] of a standard deviation of K ** -0.5, so that sums over K are about as large as the input."""
    return normal(std=max(shape[-1], 1) ** -0.5)(rng, shape, kind)


def positive(low: float = 0.01) -> Fill:
    """|normal| + low; outliers included where the case asks for them."""
    signed = normal()
    return lambda rng, shape, kind: signed(rng, shape, kind).abs() + low


def one_of(*choices: Fill) -> Fill:
    """One of `choices`, drawn for every tensor, as where all values are small an error shows that others would hide."""

    def fill(rng: torch.Generator, **context: Any) -> Tensor:
        chosen = choices[int(torch.randint(len(choices), (), generator=rng))]
        return call(chosen, {"rng": rng, **context})

    return fill


def squashed(rng: torch.Generator, shape: list[int], kind: str) -> Tensor:
    """Logistic function of normal values: within (0, 1); outliers among these come close to 0 and 1, or reach them."""
    return torch.sigmoid(normal()(rng, shape, kind))


def for_gelu(rng: torch.Generator, shape: list[int], kind: str) -> Tensor:
    """Normal values, those between -6 and -2 mirrored: 1 + erf or tanh would be little but rounding there."""
    values = normal()(rng, shape, kind)
    return torch.where((values > -6) & (values < -2), -values, values)


def bits(rng: torch.Generator, shape: list[int], dtype: torch.dtype) -> Tensor:
    """Integers (or booleans) whose every bit is a fair coin flip."""
    words = torch.randint(-(2**63), 2**63 - 1, shape, generator=rng)
    return words < 0 if dtype is torch.bool else words


def integers(low: int, high: int) -> Fill:
    """Integers from low to high - 1."""
    return lambda rng, shape: torch.randint(low, high, shape, generator=rng)


def indices(axis: str) -> Fill:
    """Indices into the axis called `axis`, repeats allowed."""

    def fill(rng: torch.Generator, shape: list[int], **context: Any) -> Tensor:
        return torch.randint(context[axis], shape, generator=rng)

    return fill


def along_dim(rng: torch.Generator, shape: list[int], S: list[int], dim: int) -> Tensor:
    """Indices into the dimension `dim` of *S, repeats allowed."""
    return torch.randint(S[dim], shape, generator=rng)


def classes(rng: torch.Generator, shape: list[int], C: int, ignore_index: int) -> Tensor:
    """Indices of C classes; about one in eight is `ignore_index`, the first is C - 1."""
    chosen = torch.where(bernoulli(0.125)(rng, shape), ignore_index, torch.randint(C, shape, generator=rng))
    chosen.view(-1)[:1] = C - 1
    return chosen


def bernoulli(p: float = 0.5) -> Fill:
    """True with probability p."""
    return lambda rng, shape: torch.rand(shape, generator=rng) < p


def probabilities(dim: int = -1) -> Fill:
    """Positive values that add up to one along `dim`; with outliers among their logits, some are all but 0 or 1."""
    logits = normal()
    return lambda rng, shape, kind: torch.softmax(logits(rng, shape, kind), dim)


def positive_definite(rng: torch.Generator, shape: list[int], kind: str) -> Tensor:
    """Symmetric positive definite matrices; condition numbers of about 10, of 10^4 in outlier cases."""
    n = shape[-1]
    q, _ = torch.linalg.qr(torch.randn(shape, generator=rng, dtype=torch.float64))
    exponents = torch.rand(shape[:-1], generator=rng, dtype=torch.float64) * (4 if kind == "outlier" else 1)
    return (q * (10**exponents).unsqueeze(-2)) @ q.mT if n else torch.zeros(shape, dtype=torch.float64)


def well_conditioned(rng: torch.Generator, shape: list[int], kind: str) -> Tensor:
    """Square matrices that are safe to invert: normal entries and a dominant diagonal."""
    values = torch.randn(shape, generator=rng, dtype=torch.float64)
    values = with_outliers(values, rng) if kind == "outlier" else values
    row_sums = values.abs().sum(-1)
    return values + torch.diag_embed(row_sums + 1.0)


def constant(value: float) -> Fill:
    """Every element equals `value`."""
    return lambda shape: torch.full(shape, value, dtype=torch.float64)


def low(rng: torch.Generator, shape: list[int]) -> Tensor:
    """Normal values around -200: exp of each is 0 in float32, so that a maximum is to be found first, from -inf on."""
    return torch.randn(shape, generator=rng, dtype=torch.float64) - 200.0


NAMED: dict[str, Fill] = {"zeros": constant(0.0), "ones": constant(1.0), "low": low}  # what an example may name
