"""Which kernels ran: the launcher is wrapped, in the candidate's process, before the candidate is imported.

In Triton's interpreter every launch passes GridExecutor.__call__ and sets its grid on the interpreter's builder; on a
GPU it passes CudaLauncher.__call__(gridX, gridY, gridZ, stream, function, ...), alike in Triton 3.6 and 3.9. A kernel
is the candidate's own if its code was written in the candidate's file: names prove nothing. What a process says of
itself may be forged, so a launch log can only count against a candidate, never for it.
"""

import threading
import time
from typing import Any

from pytest_kernelbenchx.sandbox import failures

LOG_LIMIT = 1000


class Log:
    """Launches since the last `clear`: in `entries` the first LOG_LIMIT and the first of every kernel.

    `dropped` counts the rest; `fault` says why there is no witness, if there is none. An entry is {"kernel": name,
    "grid": [x, y, z], "own": bool}; the grid is empty if the launch failed before it was known, and one that failed has
    "raised": what it raised, see `failures.raised`. While `idle` is set, launches are logged and not made. `spans`, if
    there is a list, gets the times (ns since the epoch) before and after every launch of an own kernel on a GPU.
    """

    def __init__(self, own_file: str):
        self.own_file = own_file
        self.entries: list[dict] = []
        self.dropped = 0
        self.fault: str | None = None
        self.idle = False
        self.spans: list[tuple[int, int]] | None = None
        self._kinds: set[tuple[str, bool]] = set()
        self.seat: tuple[Any, Any] = (None, None)

    def clear(self) -> None:
        self.entries, self.dropped = [], 0
        self._kinds.clear()

    def add(self, function: Any, grid: list[int]) -> dict:
        code = getattr(function, "__code__", None)
        name = str(getattr(function, "__name__", "?"))[:100]
        own = getattr(code, "co_filename", None) == self.own_file
        entry, kind = {"kernel": name, "grid": grid, "own": own}, (name, own)
        if len(self.entries) < LOG_LIMIT or (kind not in self._kinds and len(self._kinds) < LOG_LIMIT):
            self._kinds.add(kind)
            self.entries.append(entry)
        else:
            self.dropped += 1
        return entry

    def intact(self) -> bool:
        """Whether the wrapper is still where it was put."""
        owner, wrapper = self.seat
        return owner is not None and owner.__call__ is wrapper

    def report(self) -> dict:
        return {"launches": self.entries, "dropped": self.dropped, "witness": self.intact()}


def install(own_file: str, device: str = "cpu") -> Log:
    """Wrap the launcher of this process and return the log that it fills."""
    log = Log(own_file)
    try:
        (_watch_gpu if device == "cuda" else _watch_interpreter)(log)
    except (ImportError, AttributeError) as error:
        log.fault = f"{type(error).__name__}: {error}"
    return log


def _watch_interpreter(log: Log) -> None:
    from triton.runtime.interpreter import GridExecutor, interpreter_builder

    running: list[dict] = []
    launch, set_grid = GridExecutor.__call__, interpreter_builder.set_grid_dim

    def watched_launch(self, *args, **kwargs):
        running.append(log.add(self.fn, []))
        try:
            return None if log.idle else launch(self, *args, **kwargs)
        except BaseException as error:
            running[-1]["raised"] = failures.raised(error)
            raise
        finally:
            running.pop()

    def watched_grid(*grid):
        if running:
            running[-1]["grid"] = [int(size) for size in grid]
        return set_grid(*grid)

    interpreter_builder.set_grid_dim = watched_grid
    GridExecutor.__call__ = watched_launch
    log.seat = (GridExecutor, watched_launch)


def _watch_gpu(log: Log) -> None:
    import triton
    from triton.backends.nvidia.driver import CudaLauncher
    from triton.runtime.jit import JITFunction

    current = threading.local()
    run, launch = JITFunction.run, CudaLauncher.__call__

    def watched_run(self, *args, **kwargs):
        outer, current.function, current.entry = getattr(current, "function", None), self.fn, None
        try:
            return run(self, *args, **kwargs)
        except BaseException as error:  # what does not compile never came to the launcher
            (current.entry or log.add(self.fn, []))["raised"] = failures.raised(error)
            raise
        finally:
            current.function = outer

    def watched_launch(self, x, y, z, stream, function, *args, **kwargs):
        current.entry = log.add(getattr(current, "function", None), [int(x), int(y), int(z)])
        start = time.time_ns()
        try:
            return None if log.idle else launch(self, x, y, z, stream, function, *args, **kwargs)
        finally:
            if log.spans is not None and current.entry["own"]:
                log.spans.append((start, time.time_ns()))

    JITFunction.run, CudaLauncher.__call__ = watched_run, watched_launch
    log.seat = (CudaLauncher, watched_launch)
    triton.knobs.runtime.launch_enter_hook.add(_nothing)  # with a hook, compiled graphs use this launcher, too


def _nothing(*_: Any) -> None:
    """A launch hook without effect."""
