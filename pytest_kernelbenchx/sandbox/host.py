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

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_kernelbenchx.sandbox import processes
from pytest_kernelbenchx.sandbox.exchange import Exchange, Output
from pytest_kernelbenchx.sandbox.process import Child, Died

__all__ = ["Child", "Died", "Sandbox", "SandboxError"]

START_SECONDS = 180.0
SELF_TEST_SECONDS = 120.0
CONTROL_SECONDS = 30.0
ATTEMPTS = 4
ALLOWED = ("PATH", "LANG", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "CC", "CXX")
ALLOWED_GPU = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_HOME", "CUDA_PATH", "TRITON_PTXAS_PATH")
ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
# The package is put in place without running its __init__, which imports pytest's side of it.
BOOT = """
import sys, types
package = types.ModuleType("pytest_kernelbenchx")
package.__path__ = [sys.argv[1]]
sys.modules[package.__name__] = package
sys.path += sys.argv[6:]
from pytest_kernelbenchx.sandbox import zygote
zygote.main(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5])
"""


class SandboxError(Exception):
    """The sandbox itself does not work, so nothing can be said about a candidate."""


class ZygoteLostError(Exception):
    """The zygote has ended or does not answer."""


class Sandbox:
    """Starts processes for candidates on one device.

    Args:
        device: "cpu" (Triton's interpreter) or "cuda".
        memory: bytes that a child and all it starts may take beyond what it starts with.
        scratch: where private directories are made; the system's temporary directory if not given.
    """

    def __init__(self, device: str = "cpu", *, memory: int = 8 << 30, scratch: Path | None = None):
        self.device, self.memory, self.scratch = device, memory, scratch
        self.facts: dict[str, Any] = {}
        self._zygote: subprocess.Popen | None = None
        self._control: socket.socket | None = None
        self._root: Path | None = None
        self._live: dict[int, Child] = {}
        self._ready = self._tested = False
        self._count = self._baseline = 0

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start, and prove that kernels are computed right here. Raises SandboxError."""
        if not self._tested:
            child = self._fork_patiently()
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
            self.facts |= {"layers": header.get("layers"), "self_test": faults}
            self._tested = True

    def prepare(self) -> None:
        """Start the zygote without waiting for it: it imports while the caller goes on."""
        if self._zygote is None:
            self._spawn()

    def child(self) -> Child:
        """A fresh process for one candidate. Raises SandboxError."""
        self.start()
        return self._fork_patiently()

    def close(self) -> None:
        """Kill every child and the zygote, and remove all private directories. Idempotent."""
        for child in list(self._live.values()):
            child.kill()
        if self._control is not None:
            self._control.close()  # the zygote ends when its control socket does
        if self._zygote is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._zygote.wait(CONTROL_SECONDS)
        self._lose()

    def reap(self, child: Child, patience: float) -> dict | None:
        """For Child: end it and its orphans; the zygote's report, or None if the zygote is gone."""
        self._live.pop(child.pid, None)
        try:
            report = self._order({"do": "reap", "pid": child.pid, "patience": patience})
        except ZygoteLostError:
            return None
        if report["stuck"]:
            self.facts.setdefault("stuck", []).extend(report["stuck"])
        return report

    def usage(self, pid: int) -> tuple[int, int]:
        """For Child: how many processes it and the zygote's orphans are, and the bytes they have taken.

        Raises EOFError if it has ended: what it started may still hold its channel open.
        """
        if self._zygote is None:
            raise EOFError
        table = processes.running()
        others = [other for other in self._live if other != pid]
        family = processes.descendants(self._zygote.pid, table, skip=others)
        if pid not in family:
            raise EOFError
        return len(family), sum(max(0, processes.occupied(member) - self._baseline) for member in family)

    def _fork_patiently(self) -> Child:
        """Fork; a zygote that has died is replaced."""
        for _ in range(ATTEMPTS):
            try:
                self._await_zygote()
                return self._fork()
            except ZygoteLostError:
                continue
        raise SandboxError(f"The process that starts candidates died {ATTEMPTS} times in a row; is memory short?")

    def _fork(self) -> Child:
        assert self._root is not None
        self._count += 1
        directory = self._root / str(self._count)
        directory.mkdir(mode=0o700)
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        try:
            report = self._order({"do": "fork", "directory": str(directory)}, [theirs.fileno(), writing])
        except ZygoteLostError:
            ours.close()
            os.close(reading)
            raise
        finally:
            theirs.close()
            os.close(writing)
        child = Child(self, report["pid"], Exchange(ours, Output(reading)), directory)
        for other in self._live.values():
            other.alone = child.alone = False
        self._live[child.pid] = child
        return child

    def _spawn(self) -> None:
        self._root = Path(tempfile.mkdtemp(prefix="kbx-", dir=self.scratch))
        (self._root / "zygote").mkdir()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        package = Path(__file__).parents[1]
        homes = [str(home) for name in ("numpy", "torch", "triton") if (home := _home(name))]
        words = [
            str(package),
            str(theirs.fileno()),
            self.device,
            str(self.memory),
            str(self._root),
            *dict.fromkeys(homes),
        ]
        with theirs, (self._root / "zygote.log").open("wb") as log:
            self._zygote = subprocess.Popen(
                [sys.executable, "-I", "-B", "-X", "faulthandler", "-c", BOOT, *words],
                env=environment(self.device, self._root / "zygote"),
                cwd=self._root / "zygote",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._control, self._ready = ours, False

    def _await_zygote(self) -> None:
        """Wait until the zygote has imported what it needs. Raises SandboxError if it never does."""
        self.prepare()
        if self._ready:
            return
        assert self._control is not None
        assert self._zygote is not None
        try:
            self.facts |= self._receive(START_SECONDS)["facts"]
        except ZygoteLostError as error:
            raise SandboxError(f"The process that starts candidates did not come up: {self._last_words}") from error
        self._baseline = processes.occupied(self._zygote.pid)
        self._ready = True

    def _order(self, request: dict, descriptors: list[int] | None = None) -> dict:
        if self._control is None:
            raise ZygoteLostError
        try:
            socket.send_fds(self._control, [json.dumps(request).encode()], descriptors or [])
        except OSError as error:
            self._lose()
            raise ZygoteLostError from error
        return self._receive(CONTROL_SECONDS)

    def _receive(self, seconds: float) -> dict:
        assert self._control is not None
        self._control.settimeout(seconds)
        try:
            return json.loads(self._control.recv(1 << 16))
        except (OSError, ValueError) as error:  # the end of the socket reads as empty text
            self._lose()
            raise ZygoteLostError from error

    def _lose(self) -> None:
        """The zygote is gone or must go: kill all that ever came from it, and forget it."""
        if self._zygote is None:
            return
        zygote, root, self._zygote = self._zygote, self._root, None
        zygote.kill()
        zygote.wait()
        assert self._control is not None
        assert root is not None
        self._control.close()
        self._control, self._ready = None, False
        processes.kill_all(lambda: processes.marked(f"TMPDIR={root / 'zygote'}".encode()), CONTROL_SECONDS)
        self._last_words = _tail(root / "zygote.log")
        processes.remove(root)

    _last_words = ""


def environment(device: str, private: Path) -> dict[str, str]:
    """The environment of a zygote: what libraries and compilers need, and nothing of the judge's.

    Its TMPDIR is its own, and stands in the environment of every process forked from it: that is how the orphans of a
    zygote that was killed are found.
    """
    names = ALLOWED + (ALLOWED_GPU if device == "cuda" else ())
    kept = {name: value for name, value in os.environ.items() if name in names or name.startswith("LC_")}
    mode = {"TRITON_INTERPRET": "1"} if device == "cpu" else {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
    here = {"HOME": str(private), "TMPDIR": str(private), "TRITON_CACHE_DIR": str(private / "triton")}
    return {**kept, **dict.fromkeys(ONE_THREAD, "1"), **mode, **here}


def _home(name: str) -> Path | None:
    """The directory that a package is imported from here; an isolated interpreter may not search it."""
    spec = find_spec(name)
    return Path(spec.origin).parents[1] if spec is not None and spec.origin else None


def _tail(log: Path) -> str:
    try:
        lines = log.read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        return "it left no message."
    return " ".join(lines[-3:])[-2000:] or "it left no message."
