"""Who may use a GPU: many processes at once for correctness, one alone for timing.

Two lock files per GPU. Everybody takes the gate first, then the GPU's own lock (shared or exclusive), then lets the
gate go. A process that wants the GPU for itself waits behind the gate for those that are in, and nobody new gets in:
without the gate, shared holders that come and go keep it waiting for ever. The kernel releases both locks when a
process ends, however it ends.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path


class Lease:
    """The leases of one GPU.

    Args:
        name: of the GPU, the same in every process (its UUID).
        directory: where the lock files are; of the system's temporary directory if not given.
    """

    def __init__(self, name: str, directory: Path | None = None):
        readable = re.sub(r"[^\w-]", "_", name)[:60]
        unique = hashlib.sha256(name.encode()).hexdigest()[:8]
        self.directory = directory or Path(tempfile.gettempdir(), "kernelbenchx-leases")
        self.path = self.directory / f"{readable}-{unique}"

    @contextlib.contextmanager
    def shared(self) -> Iterator[float]:
        """Use the GPU beside others; gives the seconds that were waited."""
        with self._held(fcntl.LOCK_SH) as waited:
            yield waited

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[float]:
        """Use the GPU alone; gives the seconds that were waited."""
        with self._held(fcntl.LOCK_EX) as waited:
            yield waited

    @contextlib.contextmanager
    def _held(self, kind: int) -> Iterator[float]:
        start = time.monotonic()
        with self._opened("gate") as gate, self._opened("lease") as lease:
            fcntl.flock(gate, fcntl.LOCK_EX)
            fcntl.flock(lease, kind)
            fcntl.flock(gate, fcntl.LOCK_UN)
            yield time.monotonic() - start

    @contextlib.contextmanager
    def _opened(self, name: str) -> Iterator[int]:
        """A descriptor of a lock file that any user may lock; closing it releases the lock."""
        if not self.directory.is_dir():
            self.directory.mkdir(mode=0o777, parents=True, exist_ok=True)
            with contextlib.suppress(PermissionError):
                self.directory.chmod(0o1777)
        path = f"{self.path}.{name}"
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags)
        except FileNotFoundError:
            descriptor = os.open(path, flags | os.O_CREAT, 0o644)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


class NoLease(Lease):
    """For a device that needs none: nothing is locked, nothing waits."""

    def __init__(self) -> None:
        super().__init__("none")

    @contextlib.contextmanager
    def _held(self, kind: int) -> Iterator[float]:
        yield 0.0


def device_lease() -> Lease:
    """The lease of the GPU that this process uses, named by its UUID, or by what CUDA_VISIBLE_DEVICES says of it."""
    import torch

    try:
        return Lease(f"GPU-{torch.cuda.get_device_properties(0).uuid}")
    except (AttributeError, RuntimeError):
        return Lease("visible-" + os.environ.get("CUDA_VISIBLE_DEVICES", "all"))
