"""What a watched call reported, after every field of it has been checked. It can only count against the candidate."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from pytest_kernelbenchx.sandbox.aten import KINDS
from pytest_kernelbenchx.sandbox.wire import ProtocolError, as_list, natural, text

MOST = 1 << 60
ROWS = 100
COUNTS = ("loads", "data_loads", "stores", "macs", "unknown")


@dataclass(frozen=True)
class Memory:
    """What shadow memory has seen, see `shadow.Shadow`.

    Attributes:
        loads, data_loads, stores, macs, unknown: counts.
        uninitialised: by kernel, the elements that it loaded and nothing had written.
        written: share of the returned bytes that the candidate's own kernels wrote; None where nothing was returned.
        read: of each tensor of the request, in their order, the share of its bytes that they read.
    """

    loads: int
    data_loads: int
    stores: int
    macs: int
    unknown: int
    uninitialised: dict[str, int]
    written: float | None
    read: list[float]


@dataclass(frozen=True)
class Evidence:
    """One watched call.

    Attributes:
        kinds: how many operators of each kind were called, see `aten`.
        compute: by operator that computes, how often, with how many elements of all its tensors, and how many further
            floating-point operations.
        copied: the operator whose result was returned by way of a kernel that changed nothing in it; "" if the result
            has too few values to say.
        memory: what shadow memory has seen, in the interpreter.
        device: by what ran on the GPU, the seconds: "own" the candidate's own kernels, "moves" what reserves, fills
            and copies, the rest by operator; empty where that was not measured.
        fault: why the evidence is incomplete, if it is.
    """

    kinds: dict[str, int] = field(default_factory=dict)
    compute: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    copied: str | None = None
    memory: Memory | None = None
    device: dict[str, float] = field(default_factory=dict)
    fault: str | None = None

    @property
    def delegated(self) -> float:
        """Elements and operations of PyTorch's operators that compute."""
        return float(sum(elements + flops for _, elements, flops in self.compute.values()))

    @property
    def own(self) -> float | None:
        """Elements that own kernels loaded and stored, and two for each multiplication of a matrix product."""
        seen = self.memory
        return None if seen is None else float(seen.loads + seen.stores + 2 * seen.macs)


def checked(value: Any) -> Evidence:
    """The evidence in an answer. Raises ProtocolError."""
    if type(value) is not dict:
        raise ProtocolError("the evidence is no object")
    kinds = _object(value.get("kinds", {}))
    rows = [_row(row) for row in as_list(value.get("compute", []), "compute", ROWS)]
    device = _object(value.get("device", {}))
    memory = value.get("memory")
    return Evidence(
        kinds={kind: natural(kinds.get(kind, 0), kind, MOST) for kind in KINDS if kind in kinds},
        compute={name: (calls, elements, flops) for name, calls, elements, flops in rows},
        copied=_optional(value.get("copied")),
        memory=None if memory is None else _memory(_object(memory)),
        device={text(name, "device", 200): _real(seconds) for name, seconds in device.items()},
        fault=_optional(value.get("fault")),
    )


def _memory(value: dict) -> Memory:
    counts = {name: natural(value.get(name), name, MOST) for name in COUNTS}
    pairs = [as_list(pair, "uninitialised", 2) for pair in as_list(value.get("uninitialised"), "uninitialised", ROWS)]
    if any(len(pair) != 2 for pair in pairs):
        raise ProtocolError("a kernel's loads are no pair")
    named = {text(name, "kernel", 200): natural(count, "loads", MOST) for name, count in pairs}
    written = value.get("written")
    read = [_real(share) for share in as_list(value.get("read"), "read")]
    return Memory(**counts, uninitialised=named, written=None if written is None else _real(written), read=read)


def _row(row: Any) -> tuple[str, int, int, int]:
    row = as_list(row, "an operator", 4)
    if len(row) != 4:
        raise ProtocolError("an operator has no four numbers")
    return text(row[0], "operator", 200), *(natural(number, "work", MOST) for number in row[1:])  # type: ignore[return-value]


def _object(value: Any) -> dict:
    if type(value) is not dict or len(value) > ROWS:
        raise ProtocolError("a part of the evidence is no object")
    return value


def _optional(value: Any) -> str | None:
    return None if value is None else text(value, "evidence", 400)


def _real(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
        raise ProtocolError("a part of the evidence is no number")
    return float(value)
