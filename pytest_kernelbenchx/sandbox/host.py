"""The judge's side of the sandbox: it starts zygotes and children, asks, and turns what happens into verdicts.

    with Sandbox("cpu") as sandbox:
        child = sandbox.child()
        child.load("relu.py", source, ["relu"], timeout=60)
        answer = child.call([x], {}, seed=0, timeout=30)
        child.kill()

Nothing that a child sends is executed, unpickled or believed unchecked. A child that crashes, hangs, exits, floods its
output, eats memory or writes bytes that are no answer ends alone, as Died with a verdict; only when the sandbox itself
cannot work does SandboxError say so.
"""

import os
import shlex
import shutil
import socket
import threading
from pathlib import Path
from typing import Any

from pytest_kernelbenchx.sandbox import landlock, processes, seccomp
from pytest_kernelbenchx.sandbox.exchange import Exchange, Output
from pytest_kernelbenchx.sandbox.process import Child, Died
from pytest_kernelbenchx.sandbox.server import SandboxError, Server, ZygoteLostError

__all__ = ["Child", "Died", "Sandbox", "SandboxError"]

CONFINED = ("setsid", "no_new_privs", "rlimits", *landlock.LAYERS, *seccomp.LAYERS)
LAYERS = (*CONFINED, "private_dirs", "scrubbed_env", "subreaper")
"""What a candidate's process is confined by, where the system has it; records say which of them were active."""
SELF_TEST_SECONDS = 120.0
ATTEMPTS = 4


class Sandbox:
    """Starts processes for candidates on one device. Children may be started, asked and killed in several threads.

    Args:
        device: "cpu" (Triton's interpreter) or "cuda".
        memory: bytes that a child and all it starts may take beyond what it starts with.
        scratch: where private directories are made; the system's temporary directory if not given.
    """

    def __init__(self, device: str = "cpu", *, memory: int = 8 << 30, scratch: Path | None = None):
        self.device, self.memory = device, memory
        self._server = Server(device, memory, scratch)
        self._lock = threading.RLock()
        self._live: dict[int, Child] = {}
        self._tested = False
        self._count = 0

    @property
    def facts(self) -> dict[str, Any]:
        """Versions, the layers that are active, what the self-test found, processes that could not be ended."""
        return self._server.facts

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start, and prove that kernels are computed right here. Raises SandboxError."""
        with self._lock:
            if not self._tested:
                self._test()

    def _test(self) -> None:
        child = self._fork_patiently(None)
        try:
            header, _ = child.ask({"do": "self_test"}, timeout=SELF_TEST_SECONDS)
        except Died as death:
            raise SandboxError(
                f"The self-test did not end: {death.outcome.reason} {death.outcome.details[-500:]}"
            ) from death
        finally:
            child.kill()
        faults = header.get("faults")
        if faults:
            raise SandboxError(f"Kernels are not computed right on this machine: {' '.join(map(str, faults))}")
        self._server.facts |= {"layers": header.get("layers"), "self_test": faults}
        self._tested = True

    def prepare(self) -> None:
        """Start the zygote without waiting for it: it imports while the caller goes on."""
        self._server.prepare()

    def child(self, compiled: str | None = None) -> Child:
        """A fresh process for one candidate. Raises SandboxError.

        Args:
            compiled: the name of the compiled kernels that it shares with others of its candidate; None to share none.
        """
        self.start()
        return self._fork_patiently(compiled)

    def forget(self, compiled: str) -> None:
        """Remove compiled kernels that are no longer shared."""
        if self._server.root is not None:
            processes.remove(self._server.root / compiled)

    def close(self) -> None:
        """Kill every child and the zygote, and remove all private directories. Idempotent."""
        for child in list(self._live.values()):
            child.kill()
        self._server.close()

    def reap(self, child: Child, patience: float) -> dict | None:
        """For Child: end it and its orphans; the zygote's report, or None if the zygote is gone."""
        with self._lock:
            self._live.pop(child.pid, None)
        try:
            report = self._server.order({"do": "reap", "pid": child.pid, "patience": patience})
        except ZygoteLostError:
            return None
        if report["stuck"]:
            self.facts.setdefault("stuck", []).extend(report["stuck"])
        return report

    def usage(self, pid: int) -> tuple[int, int]:
        """For Child: how many processes it and the zygote's orphans are, and the bytes they have taken.

        Raises EOFError if it has ended: what it started may still hold its channel open.
        """
        zygote = self._server.pid
        if zygote is None:
            raise EOFError
        table = processes.running()
        with self._lock:
            others = [other for other in self._live if other != pid]
        family = processes.descendants(zygote, table, skip=others)
        if pid not in family:
            raise EOFError
        return len(family), sum(max(0, processes.occupied(member) - self._server.baseline) for member in family)

    def _fork_patiently(self, compiled: str | None) -> Child:
        """Fork; a zygote that has died is replaced."""
        with self._lock:
            for _ in range(ATTEMPTS):
                try:
                    self._server.wait()
                    return self._fork(compiled)
                except ZygoteLostError:
                    continue
        raise SandboxError(f"The process that starts candidates died {ATTEMPTS} times in a row; is memory short?")

    def _fork(self, compiled: str | None) -> Child:
        root = self._server.root
        assert root is not None
        self._count += 1
        directory = root / str(self._count)
        directory.mkdir(mode=0o700)
        settings = self._compiling(root, compiled, directory) if compiled else {}
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        request = {"do": "fork", "directory": str(directory), "environment": settings}
        try:
            report = self._server.order(request, [theirs.fileno(), writing])
        except ZygoteLostError:
            ours.close()
            os.close(reading)
            raise
        finally:
            theirs.close()
            os.close(writing)
        child = Child(self, report["pid"], Exchange(ours, Output(reading)), directory)
        child.compiled = compiled
        for other in self._live.values():
            if compiled is None or other.compiled != compiled:
                other.alone = child.alone = False
        self._live[child.pid] = child
        return child

    def _compiling(self, root: Path, compiled: str, directory: Path) -> dict[str, str]:
        """Environment of a child that compiles much and is not timed."""
        (root / compiled).mkdir(mode=0o700, exist_ok=True)
        quick = write_compiler(directory / "cc") if self.device == "cuda" else None
        return {"TRITON_CACHE_DIR": str(root / compiled), **({"CC": quick} if quick else {})}


def write_compiler(script: Path) -> str | None:
    """A C compiler that does not optimise, at `script`; None where there is no compiler.

    Up to version 3.6, Triton compiles C code that launches a kernel for every new signature: optimising takes longer
    than all the rest of a small kernel, and makes a launch only a little faster.
    """
    given = os.environ.get("CC") or "gcc"  # Triton takes the same
    if (compiler := shutil.which(given)) is None:
        return None
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(compiler)} "$@" -O0\n')
    script.chmod(0o700)
    return str(script)
