"""Shadow memory: in a call that is watched in the interpreter, who has written and read each byte.

Every storage that the call meets has a flag of each byte: whether anything has written it, whether a kernel of the
candidate's own was the last to, and whether one has read it. Kernels report loads and stores here (`memory`), PyTorch's
operators what they made (`audit`). What was there before the call counts as written. Addresses in memory that is not
known, as behind pointers made of integers, are counted as such.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from . import bounds

SET, OWN, READ = 1, 2, 4
DEPTH = 4  # copies of copies that are followed
current: Shadow | None = None  # that of the call that is watched, if any
launches: list[Any] = []  # the kernels that run: operators that the interpreter itself uses are not the candidate's


@contextlib.contextmanager
def launch(function: Any, arguments: dict[str, Any]) -> Iterator[None]:
    """A launch of a kernel with these arguments, for the shadow that watches, if one does."""
    watching = current
    launches.append(function)
    if watching is not None:
        given = [getattr(value, "base", value) for value in bounds.leaves(arguments)]
        watching.begin(function, [value for value in given if isinstance(value, torch.Tensor)])
    try:
        yield
    finally:
        launches.pop()
        if watching is not None:
            watching.end()


class Region:
    """The flags of one storage. `data`: whether it may hold what came from the inputs."""

    def __init__(self, storage: Any, flags: int, data: bool):
        self.storage = storage  # kept, so that no other gets its address
        self.first, self.size = storage.data_ptr(), storage.nbytes()
        self.flags = np.full(self.size, flags, np.uint8)
        self.data = data

    def elements(self, tensor: torch.Tensor) -> np.ndarray:
        """A view of the flags: the tensor's shape, and one more axis for the bytes of an element."""
        width = tensor.element_size()
        start = self.flags[tensor.storage_offset() * width :]
        strides = (*(stride * width for stride in tensor.stride()), 1)
        return np.lib.stride_tricks.as_strided(start, (*tensor.shape, width), strides)


class Shadow:
    """The memory of one call.

    Attributes:
        loads, stores: elements that the candidate's own kernels loaded and stored; data_loads: those of the loads that
            may have given something that came from the inputs.
        macs: multiplications in their matrix products.
        uninitialised: by kernel, the elements that it loaded and nothing had written.
        unknown: accesses to memory that is not known.
    """

    def __init__(self, inputs: list[torch.Tensor], own_file: str):
        self.own_file = own_file
        self.regions: dict[int, Region] = {}
        self.loads = self.stores = self.data_loads = self.macs = self.unknown = 0
        self.uninitialised: Counter[str] = Counter()
        self.moves: list[tuple[int, torch.Tensor]] = []  # address of the storage that it came from, and the copy
        self._running: list[tuple[str, bool]] = []
        self._starts = np.zeros(0, np.int64)
        self._found: list[Region] = []
        for tensor in inputs:
            self.region(tensor)

    def region(self, tensor: torch.Tensor, flags: int = SET, data: bool = True) -> Region | None:
        """The region of a tensor's storage, made with these flags if it is not known; None if it has no bytes."""
        storage = tensor.untyped_storage()
        if not storage.nbytes():
            return None
        known = self.regions.get(storage.data_ptr())
        if known is None or known.size != storage.nbytes():
            known = self.regions[storage.data_ptr()] = Region(storage, flags, data)
            self._found = [self.regions[start] for start in sorted(self.regions)]
            self._starts = np.array([region.first for region in self._found], np.int64)
        return known

    # What kernels do.

    def begin(self, function: Any, tensors: list[torch.Tensor]) -> None:
        code = getattr(function, "__code__", None)
        self._running.append((function.__name__, getattr(code, "co_filename", None) == self.own_file))
        for tensor in tensors:
            self.region(tensor)

    def end(self) -> None:
        self._running.pop()

    @property
    def own(self) -> bool:
        """Whether a kernel of the candidate's own is running."""
        return bool(self._running) and self._running[-1][1]

    def loaded(self, addresses: np.ndarray, mask: np.ndarray, size: int) -> None:
        for region, places in self._places(addresses, mask, size):
            flags = region.flags[places]
            if not self.own:
                continue
            self.loads += len(places)
            self.data_loads += len(places) * region.data
            bare = int((flags & SET == 0).any(axis=1).sum())
            if bare:
                self.uninitialised[self._running[-1][0]] += bare
            region.flags[places] = flags | READ

    def stored(self, addresses: np.ndarray, mask: np.ndarray, size: int) -> None:
        for region, places in self._places(addresses, mask, size):
            self.stores += len(places) * self.own
            region.flags[places] = region.flags[places] & READ | (SET | OWN if self.own else SET)
            region.data |= self.data_loads > 0 or not self.own

    def multiplied(self, left: tuple[int, ...], right: tuple[int, ...]) -> None:
        """A matrix product of blocks of these shapes."""
        self.macs += int(np.prod(left)) * right[-1] * self.own

    def _places(self, addresses: np.ndarray, mask: np.ndarray, size: int) -> Iterator[tuple[Region, np.ndarray]]:
        """For every region, the places in it of the bytes of elements whose mask is true: a row for each element."""
        active = addresses[np.broadcast_to(mask, addresses.shape)].astype(np.int64).ravel()
        if not active.size:
            return
        which = np.searchsorted(self._starts, active, side="right") - 1
        for number in np.unique(which):
            chosen = active[which == number]
            region = self._found[number] if number >= 0 else None
            if region is None or int(chosen.max()) + size > region.first + region.size:
                self.unknown += len(chosen)
                continue
            yield region, (chosen - region.first)[:, None] + np.arange(size)

    # What operators do.

    def allocated(self, tensor: torch.Tensor) -> None:
        self.region(tensor, flags=0, data=False)

    def made(self, tensor: torch.Tensor, sources: list[torch.Tensor], moved: bool) -> None:
        """An operator wrote a tensor, from these. What it moved is the work of whoever had written it."""
        data = any(source.untyped_storage().data_ptr() in self._data() for source in sources)
        region = self.region(tensor, data=data)
        if region is None or not tensor.numel():
            return
        region.data |= data
        if moved:
            self.moves += [(source.untyped_storage().data_ptr(), tensor) for source in sources]
        flags = region.elements(tensor)
        flags[...] = flags & READ | SET | (self._of_kernels(tensor, sources) if moved else 0)

    def _data(self) -> set[int]:
        return {start for start, region in self.regions.items() if region.data}

    def _of_kernels(self, tensor: torch.Tensor, sources: list[torch.Tensor]) -> Any:
        """The flag OWN for what was moved from where kernels had written: element by element where the shapes agree."""
        shares = []
        for source in sources:
            known = self.regions.get(source.untyped_storage().data_ptr())
            if known is None or not source.numel():
                continue
            own = known.elements(source)[..., :1] & OWN
            if source.shape == tensor.shape and source is not tensor:
                return own
            shares.append(float((own > 0).mean()))
        return OWN if max(shares, default=0.0) > 0.5 else 0

    def share(self, tensor: torch.Tensor, flag: int) -> float:
        """The share of a tensor's bytes that have a flag; of an unknown one none, of an empty one all."""
        if not tensor.numel():
            return 1.0
        region = self.regions.get(tensor.untyped_storage().data_ptr())
        return 0.0 if region is None else float((region.elements(tensor) & flag > 0).mean())

    def read(self, tensor: torch.Tensor, depth: int = DEPTH) -> float:
        """The share of a tensor that own kernels have read, in it or in a copy of it."""
        address = tensor.untyped_storage().data_ptr()
        copies = [copy for source, copy in self.moves if source == address] if depth else []
        return max([self.share(tensor, READ), *(self.read(copy, depth - 1) for copy in copies)])
