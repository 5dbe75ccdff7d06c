"""Ways to quantize the operations of the six tasks, honest and broken, simulated in float64 with exact sums.

A scheme changes the operands that a task quantizes to the values that their levels stand for; the reference, evaluated
on these, gives what a kernel would return. What no operand explains (sums in int8, weights of attention in int8) is
computed apart.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import seed as seeded
from hypothesis.errors import Unsatisfiable
from torch import Tensor

from pytest_kernelbenchx.cases import Case, from_example
from pytest_kernelbenchx.drawing import cases
from pytest_kernelbenchx.judge.judging import Reply, judge, tensors_of
from pytest_kernelbenchx.judge.oracle import Expectation, copied, run, widened
from pytest_kernelbenchx.judge.sharing import shares
from pytest_kernelbenchx.judge.verdicts import Outcome
from pytest_kernelbenchx.task import Task

Operand = Callable[..., Tensor]
"""From an operand's rows [..., n], each of which shares a scale, and `bits`, `other`: the values that are used."""


def half_away(x: Tensor) -> Tensor:
    return x.sign() * (x.abs() + 0.5).floor()


def levels(
    x: Tensor,
    bits: int,
    *,
    rounding: Callable[[Tensor], Tensor] = torch.round,
    asymmetric: bool = False,
    full: bool = False,
    group: int = 0,
    **context: Any,
) -> Tensor:
    """What x [..., n] stands for after quantization with one scale per row, or per `group` elements of it.

    `asymmetric`: with an offset, from the least to the greatest; `full`: from -8 to 7, with a scale of amax / 7.5.
    """
    if group and group < x.shape[-1]:
        padded = torch.nn.functional.pad(x, (0, -x.shape[-1] % group)).unflatten(-1, (-1, group))
        how: dict[str, Any] = {"rounding": rounding, "asymmetric": asymmetric, "full": full}
        return levels(padded, bits, **how).flatten(-2)[..., : x.shape[-1]]
    top = 2 ** (bits - 1) - 1
    if asymmetric:
        low, high = x.amin(-1, keepdim=True).clamp(max=0), x.amax(-1, keepdim=True).clamp(min=0)
        step = ((high - low) / (2 * top + 1)).clamp(min=1e-30)
        zero = torch.round(-low / step)
        return ((rounding(x / step) + zero).clamp(0, 2 * top + 1) - zero) * step
    step = (x.abs().amax(-1, keepdim=True) / (top + 0.5 * full)).clamp(min=1e-30)
    return rounding(x / step).clamp(-top - full, top) * step


def split(x: Tensor, bits: int) -> tuple[Tensor, Tensor]:
    """Levels and scales, one scale per row."""
    scale = (x.abs().amax(-1, keepdim=True) / (2 ** (bits - 1) - 1)).clamp(min=1e-30)
    return torch.round(x / scale), scale


def per_tensor(x: Tensor, bits: int, **how: Any) -> Tensor:
    return levels(x.flatten(), bits, **how).reshape(x.shape)


def bfloat16(x: Tensor, bits: int, **context: Any) -> Tensor:
    return x.bfloat16().double()


def float8(x: Tensor, bits: int, **context: Any) -> Tensor:
    scale = (x.abs().amax() / 448).clamp(min=1e-30)
    return (x / scale).float().to(torch.float8_e4m3fn).double() * scale


def shifted_scales(x: Tensor, bits: int, **context: Any) -> Tensor:
    """Every row with the scale of the one before it."""
    level, scale = split(x, bits)
    return level * scale.flatten().roll(1).reshape(scale.shape)


def scale_of_the_other(x: Tensor, bits: int, other: Tensor | None = None, **context: Any) -> Tensor:
    """Rows with the scales of the other operand's rows; of an only operand, with those of the activations."""
    level, scale = split(x, bits)
    if other is None or not other.numel():
        return level * scale
    theirs = split(other, bits)[1].flatten()
    return level * theirs[torch.arange(scale.numel()) % theirs.numel()].reshape(scale.shape)


def along_the_wrong_axis(x: Tensor, bits: int, **context: Any) -> Tensor:
    """Scales that were found across the rows, looked up by the number of the row."""
    flat = x.reshape(-1, x.shape[-1])
    columns = (flat.abs().amax(0) / (2 ** (bits - 1) - 1)).clamp(min=1e-30)
    level = torch.round(flat / columns)
    return (level * columns[torch.arange(flat.shape[0]) % columns.numel()].unsqueeze(-1)).reshape(x.shape)


def first_scale(x: Tensor, bits: int, **context: Any) -> Tensor:
    """All rows with the scale of the first, beyond which they saturate."""
    top = 2 ** (bits - 1) - 1
    scale = split(x.reshape(-1, x.shape[-1])[:1], bits)[1].reshape(())
    return torch.round(x / scale).clamp(-top, top) * scale


def scale_of_unsigned(x: Tensor, bits: int, wraps: bool = False, **context: Any) -> Tensor:
    """A scale of amax / 255, as for unsigned levels: what does not fit saturates at 127, or wraps."""
    top = 2 ** (bits - 1)
    scale = split(x, bits)[1] * (top - 1) / (2 * top - 1)
    level = torch.round(x / scale)
    level = torch.remainder(level + top, 2 * top) - top if wraps else level.clamp(-top, top - 1)
    return level * scale


def scale_left_out(x: Tensor, bits: int, **context: Any) -> Tensor:
    return split(x, bits)[0]


def without_a_guard(x: Tensor, bits: int, **context: Any) -> Tensor:
    """0 / 0 where a row is all zeros."""
    scale = x.abs().amax(-1, keepdim=True) / (2 ** (bits - 1) - 1)
    return torch.round(x / scale) * scale


def swapped_pairs(x: Tensor, bits: int, **context: Any) -> Tensor:
    """The two values of every byte in the other order."""
    values, even = levels(x, bits), x.shape[-1] // 2 * 2
    return torch.cat([values[..., :even].unflatten(-1, (-1, 2)).flip(-1).flatten(-2), values[..., even:]], -1)


def without_sign(x: Tensor, bits: int, **context: Any) -> Tensor:
    level, scale = split(x, bits)
    return torch.remainder(level, 2**bits) * scale


def one_level_off(x: Tensor, bits: int, **context: Any) -> Tensor:
    level, scale = split(x, bits)
    return (level - 1) * scale


def with_bits(bits: int) -> Operand:
    return lambda x, other=None, **context: levels(x, bits)


GROUPS: dict[str, Operand] = {f"group {n}": partial(levels, group=n) for n in (128, 64, 32)}
HONEST: dict[str, Operand] = {
    "per row": levels,
    "per row, half away": partial(levels, rounding=half_away),
    "per row, asymmetric": partial(levels, asymmetric=True),
    "per tensor": per_tensor,
    "per tensor, asymmetric": partial(per_tensor, asymmetric=True),
    **GROUPS,
    "group 32, asymmetric": partial(levels, group=32, asymmetric=True),
}
BROKEN: dict[str, Operand] = {
    "truncated": partial(levels, rounding=torch.trunc),
    "6 bits": with_bits(6),
    "scales of the rows before": shifted_scales,
    "scales along the wrong axis": along_the_wrong_axis,
    "scale of the other operand": scale_of_the_other,
    "scale of the first row for all": first_scale,
    "saturates at half": scale_of_unsigned,
    "wraps at half": partial(scale_of_unsigned, wraps=True),
    "scale left out": scale_left_out,
    "no guard against zeros": without_a_guard,
    "bfloat16": bfloat16,
}
FOUR_BITS: dict[str, Operand] = {
    "nibbles swapped": swapped_pairs,
    "nibbles without sign": without_sign,
    "nibbles one off": one_level_off,
    "8 bits": with_bits(8),
}


def rows(x: Tensor, axis: int | tuple[int, ...] | None, change: Callable[[Tensor], Tensor]) -> Tensor:
    """`x` with its slices along `axis` (None: as one) changed."""
    if x.numel() == 0:
        return x
    if axis is None:
        return change(x.reshape(1, -1)).reshape(x.shape)
    if isinstance(axis, tuple):
        return change(x.flatten(1)).reshape(x.shape)
    return change(x.movedim(axis, -1)).movedim(-1, axis)


def output(task: Task, expected: Expectation, schemes: Mapping[str, Operand] | Operand) -> Tensor:
    """What a kernel returns that quantizes by a scheme, or by one for each of some operands (the others stay exact)."""
    wide, exact = widened(expected.arguments), widened(expected.arguments)
    names = [name for name in task.scales or {} if wide.get(name) is not None]
    for name in names:
        scheme = schemes.get(name) if isinstance(schemes, Mapping) else schemes
        others = [exact[other] for other in names if other != name] or [
            value for key, value in exact.items() if key != name and isinstance(value, Tensor)
        ]
        axes = (task.scales or {}).get(names[1 - names.index(name)] if len(names) == 2 else name)
        if scheme is not None:
            other = _as_rows(others[0], axes) if others else None
            change = partial(scheme, bits=task.quantized.bits, other=other)
            wide[name] = rows(wide[name], (task.scales or {})[name], change)
    return run(task, wide)[0][0].to(expected.eager[0].dtype)


def _as_rows(x: Tensor, axis: int | tuple[int, ...] | None) -> Tensor:
    found: list[Tensor] = []
    rows(x, axis, lambda values: found.append(values) or values)  # type: ignore[func-returns-value]
    return found[0] if found else x


def narrow_sums(task: Task, expected: Expectation, bits: int = 8) -> Tensor:
    """One scale per tensor, and sums of products that wrap like integers of so many bits; for products alone."""
    wide, exact = widened(expected.arguments), widened(expected.arguments)
    factor = 1.0
    for name in task.scales or {}:
        level, scale = split(wide[name].reshape(1, -1), task.quantized.bits)
        wide[name], factor = level.reshape(wide[name].shape), factor * float(scale)
    bias = exact.get("bias")
    if bias is not None:
        wide["bias"] = torch.zeros_like(bias)
    sums = run(task, wide)[0][0]
    sums = (torch.remainder(sums + 2 ** (bits - 1), 2**bits) - 2 ** (bits - 1)) * factor
    if bias is not None:
        sums = sums + (bias.reshape(-1, 1, 1) if sums.ndim == 4 else bias)
    return sums.to(expected.eager[0].dtype)


def attention_in_int8(task: Task, expected: Expectation, scheme: Operand = levels) -> Tensor:
    """Softmax weights in int8, too, as FlashAttention for int8 does: round(127 * exp(score - max))."""
    q, k, v = (expected.arguments[name].double() for name in ("query", "key", "value"))
    q, k, v = scheme(q, bits=8), scheme(k, bits=8), scheme(v.mT, bits=8).mT
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    weights = torch.exp(scores - scores.amax(-1, keepdim=True))
    return (torch.round(127 * weights) / 127 @ v / weights.sum(-1, keepdim=True)).float()


def honest(task: Task, expected: Expectation) -> dict[str, Tensor]:
    """Results of the schemes that the task allows on any values; scales per tensor are `per_tensor`'s."""
    found = {name: output(task, expected, scheme) for name, scheme in HONEST.items() if "tensor" not in name}
    if task.name == "attention_w8a8":
        found["per row, weights in int8"] = attention_in_int8(task, expected)
        found["group 32, weights in int8"] = attention_in_int8(task, expected, GROUPS["group 32"])
    if task.name == "layernorm_w8a8":
        found["per row, weight in float8"] = output(task, expected, {"input": levels, "weight": float8})
    if task.name == "linear_w4a16":
        found["per row, -8 to 7"] = output(task, expected, partial(levels, full=True))
    return found


def per_tensor_of(task: Task, expected: Expectation) -> dict[str, Tensor]:
    """Results of one scale per tensor: allowed where the values allow it."""
    return {name: output(task, expected, scheme) for name, scheme in HONEST.items() if "tensor" in name}


def broken(task: Task, expected: Expectation) -> dict[str, Tensor]:
    """Results of mistakes, and of operands that are not quantized; those that say nothing of a task are left out."""
    names = [name for name in task.scales or {} if expected.arguments.get(name) is not None]
    found = {name: output(task, expected, scheme) for name, scheme in BROKEN.items()}
    found["unquantized"] = output(task, expected, {})
    if task.quantized.bits == 4:
        found |= {name: output(task, expected, scheme) for name, scheme in FOUR_BITS.items()}
    elif task.name in ("matmul_w8a8", "bmm_w8a8", "conv2d_w8a8"):
        found |= {"sums in int8": narrow_sums(task, expected), "sums in int16": narrow_sums(task, expected, 16)}
    for number, name in enumerate(names if len(task.scales or {}) > 1 else ()):
        place = ("first", "second", "third")[number]
        found[f"{place} operand of 6 bits"] = output(
            task, expected, {**dict.fromkeys(names, levels), name: with_bits(6)}
        )
        if len(names) > 1:
            found[f"{place} operand alone"] = output(task, expected, {name: levels})
            found[f"{place} operand alone, group 32"] = output(task, expected, {name: GROUPS["group 32"]})
        if len(names) > 2:
            rest = {other: levels for other in names if other != name}
            found[f"{place} operand exact"] = output(task, expected, rest)
    return found


def drawn(task: Task, count: int, seed: int = 0) -> list[Case]:
    """The task's examples, and `count` cases as a trial in the interpreter draws them."""
    found = [from_example(task, number) for number in range(len(task.examples))]
    for number, share in enumerate(shares(task, count, "cpu")):
        drawing = given(case=cases(task, share.budget, share.kind))
        quiet = {"database": None, "deadline": None, "suppress_health_check": list(HealthCheck)}
        decorate = settings(max_examples=share.count, **quiet)
        with suppress(Unsatisfiable):  # no case is so large
            seeded(seed + number)(decorate(drawing(lambda case: found.append(case))))()
    return found


def verdict(task: Task, case: Case, expected: Expectation, got: Tensor) -> Outcome:
    """What the judge says of `got`, returned by a call that changed nothing."""
    after = {name: value if tensors_of(value) else [] for name, value in copied(expected.arguments).items()}
    return judge(task, case, expected, Reply(got, after, [got.device.type]))
