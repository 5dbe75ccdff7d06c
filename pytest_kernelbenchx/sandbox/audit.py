"""A call that is watched: what PyTorch's operators do in it, and in the interpreter what every byte went through.

Fresh memory holds one byte everywhere, which the judge chooses. Nothing here changes what the candidate computes, but
for torch.compile, which does not compile under a dispatch mode. The candidate could switch a mode off: what is reported
can only count against it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from pytest_kernelbenchx.sandbox import aten, shadow

ALIKE = 64  # different values in a result that is compared with what operators computed
KEPT = 1 << 26  # bytes of computed tensors that are kept for it
LISTED = 40


class Audit(TorchDispatchMode):
    """Watches what happens inside `with`; `report` says what was seen.

    Args:
        inputs: the tensors of the call.
        fresh: the byte in memory that is not written yet.
        own_file: the file of the candidate's kernels.
        memory: whether to keep shadow memory; only in the interpreter.
        launched: how many kernels of the candidate's own were launched until now.
    """

    def __init__(
        self, inputs: list[torch.Tensor], fresh: int, own_file: str, memory: bool, launched: Callable[[], int]
    ):
        super().__init__()
        self.inputs, self.fresh, self.launched = inputs, fresh, launched
        self.shadow = shadow.Shadow(inputs, own_file) if memory else None
        self.kinds: dict[str, Counter[str]] = {kind: Counter() for kind in aten.KINDS}
        self.work: dict[str, list[int]] = {}
        self.computed: list[tuple[str, torch.Tensor, int]] = []
        self.fault: str | None = None
        self._kept = 0
        self._alive: list[Any] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # the default imports torch._dynamo, which takes seconds

    def __enter__(self) -> Audit:
        shadow.current = self.shadow
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shadow.current = None
        super().__exit__(kind, error, trace)

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if shadow.launches:
            return out
        try:
            self.saw(func, args, kwargs, out)
        except Exception as error:  # the candidate's call goes on, with less evidence
            self.fault = self.fault or f"{func}: {type(error).__name__}: {error}"[:300]
        return out

    def saw(self, func: Any, args: tuple, kwargs: dict, out: Any) -> None:
        kind = aten.kind_of(func)
        given, made = list(aten.leaves((args, kwargs))), list(aten.leaves(out))
        if func._schema.is_mutable and not made:
            made = given
        count = aten.elements([*given, *made])
        if kind == "compute" and count <= aten.SMALL:
            kind = "meta"
            self._wrote(made, given, moved=False)
        elif kind == "compute":
            self._wrote(made, given, moved=False)
            self._computed(func, args, kwargs, out, made, count)
        elif kind == "alloc":
            self._allocated(func, given, made)
        elif kind == "fill":
            self._wrote(made, [], moved=False)
        elif kind == "move":
            self._wrote(made, given, moved=True)
        elif kind == "view":
            self._alive.extend(tensor.untyped_storage() for tensor in made)
        self.kinds[kind][func._schema.name] += 1

    def _allocated(self, func: Any, given: list[torch.Tensor], made: list[torch.Tensor]) -> None:
        resized = {tensor.untyped_storage().data_ptr() for tensor in given if func._schema.is_mutable}
        for tensor in made:
            storage = tensor.untyped_storage()
            self._alive.append(storage)
            if storage.data_ptr() in resized or not storage.nbytes():
                continue
            byte = min(self.fresh, 1) if tensor.dtype is torch.bool else self.fresh
            torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage).fill_(byte)
            if self.shadow is not None and tensor.device.type == "cpu":
                self.shadow.allocated(tensor)

    def _wrote(self, made: list[torch.Tensor], given: list[torch.Tensor], moved: bool) -> None:
        for tensor in made:
            self._alive.append(tensor.untyped_storage())
            if self.shadow is not None and tensor.device.type == "cpu":
                others = [source for source in given if source is not tensor] if moved else given
                self.shadow.made(tensor, others, moved)

    def _computed(self, func: Any, args: tuple, kwargs: dict, out: Any, made: list[torch.Tensor], count: int) -> None:
        name = func._schema.name
        work = self.work.setdefault(name, [0, 0, 0])
        for place, amount in enumerate((1, count, aten.flops(func, args, kwargs, out))):
            work[place] += amount
        for tensor in made:
            self._kept += tensor.numel() * tensor.element_size()
            if tensor.numel() >= ALIKE and self._kept <= KEPT:
                self.computed.append((name, tensor.detach(), self.launched()))

    # What is reported, after the call.

    def report(self, result: Any) -> dict:
        returned = list(aten.leaves(result))
        kinds = {kind: sum(counts.values()) for kind, counts in self.kinds.items()}
        compute = [[name, *work] for name, work in sorted(self.work.items(), key=lambda item: -sum(item[1][1:]))]
        seen = {"kinds": kinds, "compute": compute[:LISTED], "copied": self._copied(returned), "fault": self.fault}
        return {**seen, "memory": self._memory(returned)}

    def _copied(self, returned: list[torch.Tensor]) -> str | None:
        """The operator whose result a kernel handed on: everything that is returned was computed before a launch.

        None if that is not so, and "" if what is returned has too few values to say where they came from.
        """
        names = [self._source(tensor) for tensor in returned if values(tensor) >= ALIKE]
        return None if None in names else next(iter(names), "")

    def _source(self, tensor: torch.Tensor) -> str | None:
        for name, computed, launches in self.computed:
            same = computed.numel() == tensor.numel() and computed.untyped_storage().data_ptr() != (
                tensor.untyped_storage().data_ptr()
            )
            if same and launches < self.launched() and self._read(computed) and equal(computed, tensor):
                return name
        return None

    def _read(self, tensor: torch.Tensor) -> bool:
        """Whether a kernel has read most of a tensor, as far as that is known."""
        return self.shadow is None or self.shadow.share(tensor, shadow.READ) > 0.9

    def _memory(self, returned: list[torch.Tensor]) -> dict | None:
        """What shadow memory has seen, or None without it."""
        if (seen := self.shadow) is None:
            return None
        made = [tensor for tensor in returned if tensor.device.type == "cpu" and tensor.numel()]
        bytes_made = sum(tensor.numel() * tensor.element_size() for tensor in made)
        own = sum(seen.share(tensor, shadow.OWN) * tensor.numel() * tensor.element_size() for tensor in made)
        return {
            "loads": seen.loads,
            "data_loads": seen.data_loads,
            "stores": seen.stores,
            "macs": seen.macs,
            "unknown": seen.unknown,
            "uninitialised": [[name, count] for name, count in sorted(seen.uninitialised.items())][:LISTED],
            "written": round(own / bytes_made, 6) if bytes_made else None,
            "read": [round(seen.read(tensor), 6) for tensor in self.inputs],
        }


def equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors hold the same elements in the same order, in the type of the second."""
    first, second = real(one.to(other.dtype)), real(other)
    return bool(torch.equal(first.nan_to_num(), second.nan_to_num()))


def values(tensor: torch.Tensor) -> int:
    """How many different values a tensor holds."""
    return len(real(tensor).unique()) if tensor.numel() >= ALIKE else 0


def real(tensor: torch.Tensor) -> torch.Tensor:
    flat = tensor.detach().reshape(-1)
    return torch.view_as_real(flat.resolve_conj()) if flat.is_complex() else flat
