"""The judge's side of a zygote: start it, give it orders, replace it when it has died.

Orders are safe from several threads; each is answered before the next is sent.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_kernelbenchx.sandbox import processes

START_SECONDS = 180.0
CONTROL_SECONDS = 30.0
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


class Server:
    """One zygote after the other.

    Args:
        device, memory, scratch: as for `Sandbox`.

    Attributes:
        facts: versions, and what the zygote says of itself.
        root: where its private directories are, while there is one.
        baseline: bytes that a process forked from it holds to begin with.
    """

    def __init__(self, device: str, memory: int, scratch: Path | None):
        self.device, self.memory, self.scratch = device, memory, scratch
        self.facts: dict[str, Any] = {}
        self.root: Path | None = None
        self.baseline = 0
        self._zygote: subprocess.Popen | None = None
        self._control: socket.socket | None = None
        self._lock = threading.RLock()
        self._ready = False
        self._last_words = ""

    @property
    def pid(self) -> int | None:
        """Of the zygote, if there is one."""
        zygote = self._zygote
        return None if zygote is None else zygote.pid

    def prepare(self) -> None:
        """Start a zygote, if there is none, without waiting for it: it imports while the caller goes on."""
        with self._lock:
            if self._zygote is None:
                self._spawn()

    def wait(self) -> None:
        """Until the zygote has imported what it needs. Raises SandboxError if it never does."""
        with self._lock:
            self.prepare()
            if self._ready:
                return
            assert self._zygote is not None
            try:
                self.facts |= self._receive(START_SECONDS)["facts"]
            except ZygoteLostError as error:
                raise SandboxError(f"The process that starts candidates did not come up: {self._last_words}") from error
            self.baseline = processes.occupied(self._zygote.pid)
            self._ready = True

    def order(self, request: dict, descriptors: list[int] | None = None) -> dict:
        """The zygote's answer to a request (see `zygote`). Raises ZygoteLostError."""
        with self._lock:
            if self._control is None:
                raise ZygoteLostError
            try:
                socket.send_fds(self._control, [json.dumps(request).encode()], descriptors or [])
            except OSError as error:
                self._lose()
                raise ZygoteLostError from error
            return self._receive(CONTROL_SECONDS)

    def close(self) -> None:
        """End the zygote and all that came from it, and remove its directories. Idempotent."""
        with self._lock:
            if self._control is not None:
                self._control.close()  # the zygote ends when its control socket does
            if self._zygote is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._zygote.wait(CONTROL_SECONDS)
            self._lose()

    def _spawn(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="kbx-", dir=self.scratch))
        (self.root / "zygote").mkdir()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        package = Path(__file__).parents[1]
        homes = [str(home) for name in ("numpy", "torch", "triton") if (home := _home(name))]
        words = [
            str(package),
            str(theirs.fileno()),
            self.device,
            str(self.memory),
            str(self.root),
            *dict.fromkeys(homes),
        ]
        with theirs, (self.root / "zygote.log").open("wb") as log:
            self._zygote = subprocess.Popen(
                [sys.executable, "-I", "-B", "-X", "faulthandler", "-c", BOOT, *words],
                env=environment(self.device, self.root / "zygote"),
                cwd=self.root / "zygote",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._control, self._ready = ours, False

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
        zygote, root, self._zygote = self._zygote, self.root, None
        zygote.kill()
        zygote.wait()
        assert self._control is not None
        assert root is not None
        self._control.close()
        self._control, self._ready = None, False
        processes.kill_all(lambda: processes.marked(f"TMPDIR={root / 'zygote'}".encode()), CONTROL_SECONDS)
        self._last_words = _tail(root / "zygote.log")
        processes.remove(root)


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
