"""The process that candidates are forked from: it has imported what they need, and does nothing else.

It is started by exec, never forked from pytest, serves one control socket, and runs no tensor operation and no CUDA
call: a thread pool or a CUDA context does not survive a fork. Orphans of a candidate, in sessions of their own too,
become this process's children and are killed with it. When the judge is gone, the socket ends: everything is killed.

Requests (one JSON packet each, answered by one packet):
    {"do": "fork", "directory": path, "environment": {}} with a channel and an output pipe attached -> {"pid": n}
    {"do": "reap", "pid": n, "patience": seconds} -> {"status": wait status or null, "killed": bool, "orphans": n,
    "stuck": [pids]}: wait that long for the child to end by itself, kill it, then sweep
    {"do": "quit"} -> the end
"""

import contextlib
import gc
import importlib
import json
import os
import platform
import signal
import socket
import sys
import time
import types
from pathlib import Path
from typing import Any

from pytest_kernelbenchx.sandbox import child, interpreter, processes

REAP_SECONDS = 5.0


class Zygote:
    """The server; `children` maps each child that has not been reaped for the judge to its wait status, if known."""

    def __init__(self, control: socket.socket, device: str, memory: int):
        self.control, self.device, self.memory = control, device, memory
        self.children: dict[int, int | None] = {}

    def serve(self) -> None:
        while True:
            packet, descriptors, *_ = socket.recv_fds(self.control, 1 << 16, 2)
            request = json.loads(packet or b'{"do": "quit"}')
            if request["do"] == "quit":
                return
            if request["do"] == "fork":
                answer = self.fork(request["directory"], request["environment"], *descriptors)
            else:
                answer = self.reap(request["pid"], request["patience"])
            self.control.send(json.dumps(answer).encode())

    def fork(self, directory: str, environment: dict[str, str], channel: int, output: int) -> dict:
        me = os.getpid()
        pid = os.fork()
        if pid == 0:
            child.run(channel, output, Path(directory), environment, self.device, self.memory, me)
        os.close(channel)
        os.close(output)
        self.children[pid] = None
        return {"pid": pid}

    def reap(self, pid: int, patience: float) -> dict:
        if pid not in self.children:
            return {"status": None, "killed": False, "orphans": 0, "stuck": []}
        ended = self.wait(pid, patience)
        processes.kill(pid, group=True)
        if not ended:
            self.wait(pid, REAP_SECONDS)
        status = self.children.pop(pid)
        orphans, stuck = self.sweep()
        return {"status": status, "killed": not ended, "orphans": orphans, "stuck": sorted(stuck)}

    def wait(self, pid: int, seconds: float) -> bool:
        """Whether the child ends within `seconds`; its status is kept."""
        deadline = time.monotonic() + seconds
        pause = 0.0005
        while True:
            self.collect()
            if self.children[pid] is not None or time.monotonic() >= deadline:
                return self.children[pid] is not None
            time.sleep(pause)
            pause = min(2 * pause, 0.02)

    def collect(self) -> None:
        """Take the exit status of every process that has ended."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] in self.children:
                    self.children[ended[0]] = ended[1]

    def sweep(self) -> tuple[int, set[int]]:
        """Kill whatever descends from this process but not from a child still in use: how many, and who is left."""
        seen: set[int] = set()

        def orphans() -> set[int]:
            found = processes.descendants(os.getpid(), processes.running(), skip=self.children)
            seen.update(found)
            return found

        stuck = processes.kill_all(orphans, REAP_SECONDS, after=self.collect)
        self.collect()
        return len(seen), stuck

    def end(self) -> None:
        for pid in self.children:
            processes.kill(pid, group=True)
        self.children.clear()
        self.sweep()


def main(descriptor: int, device: str, memory: int, root: str) -> None:
    """Import, report {"facts": ...}, serve until the judge is gone, then kill every descendant and remove `root`."""
    processes.become_reaper()
    control = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGTERM, lambda *_: control.shutdown(socket.SHUT_RDWR))  # then the server ends as at EOF
    facts = prepare(device)
    sys.argv[:] = ["candidate"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    gc.collect()
    gc.freeze()
    zygote = Zygote(control, device, memory)
    try:
        control.send(json.dumps({"facts": facts}).encode())
        zygote.serve()
    except (BrokenPipeError, ConnectionResetError):
        pass  # the judge is gone
    finally:
        zygote.end()
        processes.remove(Path(root))


def prepare(device: str) -> dict[str, Any]:
    """Import what children need, so that a fork has it at once. Returns versions and what could not be prepared."""
    numpy, torch, triton = (importlib.import_module(name) for name in ("numpy", "torch", "triton"))
    faults = []
    if device == "cpu":  # torch._dynamo would take longer than all the rest, and hardly a candidate needs it here
        interpreter.repair()
    else:
        importlib.import_module("torch._dynamo")
        faults = _warm_compiler()
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "numpy": numpy.__version__,
        "device": device,
        "faults": faults,
    }


def _warm_compiler() -> list[str]:
    """Compute what Triton keeps for the life of a process: 0.5 s that a child need not spend. No CUDA context."""
    faults = []
    for module, name, arguments in (
        ("triton.runtime.cache", "triton_key", ()),
        ("triton.backends.nvidia.driver", "CudaUtils", ()),
        ("triton.backends.nvidia.compiler", "get_ptxas_version", (90,)),
    ):
        try:
            getattr(importlib.import_module(module), name)(*arguments)
        except Exception as error:  # a warm-up may fail in any way; the child then does the work itself
            faults.append(f"{name}: {type(error).__name__}: {error}"[:200])
    return faults
