"""Landlock: what a process may read, write, connect to and signal from now on, without privileges.

The kernel refuses what no rule allows, to this process and to all that it starts, for good. Kernels before 5.13, and
those without the module, have none of it; later ones add to it version by version. Numbers are from <linux/landlock.h>
and `man 7 landlock`.
"""

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1

_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL
_EVERYTHING = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}  # rights on files by version
_TCP = 1 | 2  # bind, connect; from version 4
_SCOPES = 1 | 2  # abstract sockets, signals; from version 6

LAYERS = ("landlock_files", "landlock_tcp", "landlock_signals")
LIBRARIES = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc", "/opt", "/nix/store")
SYSTEM = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys", "/proc/driver/nvidia", "/sys/devices/system")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_LIBC = ctypes.CDLL(None, use_errno=True)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("tcp", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("rights", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Of the kernel's Landlock; 0 if it has none."""
    return max(0, _call(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION)))


def restrict(readable: Iterable[Path], writable: Iterable[Path]) -> list[str]:
    """Restrict this thread and what it starts; it must have no_new_privs. Gives the layers that took effect.

    Args:
        readable: what may be read and executed besides the system's libraries.
        writable: where anything may be done.

    GPUs stay usable: CUDA needs its devices, and to name its threads in /proc/<pid>/task.
    """
    known = version()
    if not known:
        return []
    rights = _EVERYTHING[max(v for v in _EVERYTHING if v <= known)]
    wanted = _Ruleset(rights, _TCP if known >= 4 else 0, _SCOPES if known >= 6 else 0)
    size = 8 if known < 4 else 16 if known < 6 else 24
    ruleset = _call(_CREATE, ctypes.byref(wanted), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if ruleset < 0:
        return []
    own, reading = Path(f"/proc/{os.getpid()}"), _READ | _LIST
    try:
        _allow(ruleset, [*map(Path, LIBRARIES), *readable], (reading | _EXECUTE) & rights)
        _allow(ruleset, [*map(Path, SYSTEM), own], reading & rights)
        _allow(ruleset, [own / "task"], (reading | _WRITE | _TRUNCATE) & rights)
        gpus = [*Path("/dev").glob("nvidia*"), *Path("/dev/dri").glob("render*")]
        _allow(ruleset, [*map(Path, DEVICES), *gpus], (reading | _WRITE | _TRUNCATE | _IOCTL) & rights)
        _allow(ruleset, writable, rights)
        done = _call(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0)) == 0
    finally:
        os.close(ruleset)
    return list(LAYERS[: 1 + (known >= 4) + (known >= 6)]) if done else []


def _allow(ruleset: int, paths: Iterable[Path], rights: int) -> None:
    """Nothing is allowed on what does not exist."""
    for path in paths:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            rule = _Beneath(rights if path.is_dir() else rights & _OF_FILES, descriptor)
            _call(_ADD, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))
        finally:
            os.close(descriptor)


def _call(number: int, *arguments: object) -> int:
    return _LIBC.syscall(ctypes.c_long(number), *arguments)
