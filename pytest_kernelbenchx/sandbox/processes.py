"""What the operating system does for the sandbox: limits on a process, and the list of processes.

Nothing here needs privileges. Sizes are in bytes, process ids are the system's.
"""

import ctypes
import os
import resource
import shutil
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path

FILE_LIMIT = 256 << 20
PROCESS_LIMIT = 128
_USER_PROCESSES = 2048
_PDEATHSIG, _SUBREAPER, _NO_NEW_PRIVS = 1, 36, 38  # <linux/prctl.h>


def prctl(option: int, value: int) -> bool:
    """Set one of the process's attributes; False where the kernel refuses."""
    return ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) == 0


def become_reaper() -> None:
    """Orphans of this process's children become its own children; it gets SIGTERM when its parent ends."""
    prctl(_SUBREAPER, 1)
    prctl(_PDEATHSIG, signal.SIGTERM)


def confine(parent: int, memory: int | None) -> list[str]:
    """Confine this process for good, and return the names of what took effect.

    Args:
        parent: the process that must live on: when it ends, this one is killed.
        memory: bytes of address space beyond what is mapped now; None for no limit (a GPU driver maps terabytes).
    """
    os.setsid()
    layers = ["setsid"]
    prctl(_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    if prctl(_NO_NEW_PRIVS, 1):
        layers.append("no_new_privs")
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, FILE_LIMIT)
    if os.geteuid() != 0:  # root is exempt from this limit
        _lower(resource.RLIMIT_NPROC, _user_threads() + _USER_PROCESSES)
    if memory is not None:
        mapped = status(os.getpid(), "VmSize")
        _lower(resource.RLIMIT_AS, mapped + memory)
    return [*layers, "rlimits"]


def _lower(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def close_descriptors(keep: Iterable[int]) -> None:
    """Close every descriptor but `keep`; of those only 0, 1 and 2 pass on to a program that is executed."""
    kept = set(keep)
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        if descriptor in kept:
            os.set_inheritable(descriptor, descriptor <= 2)
            continue
        try:
            os.close(descriptor)
        except OSError:
            continue  # the one that listed the directory


def status(pid: int, *entries: str) -> int:
    """Bytes in these entries of /proc/<pid>/status together; 0 once the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text("utf-8", "replace").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.partition(":")[0] in entries)


def occupied(pid: int) -> int:
    """Bytes that a process occupies, without files: its own pages, those it inherited, and shared memory."""
    return status(pid, "RssAnon", "RssShmem")


def _user_threads() -> int:
    """Threads of this user, which is what RLIMIT_NPROC counts."""
    count = 0
    for entry in os.scandir("/proc"):
        try:
            if entry.name.isdigit() and entry.stat().st_uid == os.geteuid():
                count += len(os.listdir(f"/proc/{entry.name}/task"))
        except OSError:
            continue
    return count


def running() -> dict[int, int]:
    """Every process that is not a zombie, with its parent."""
    table = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            stat = Path(f"/proc/{name}/stat").read_bytes()
        except OSError:
            continue
        state, parent = stat[stat.rindex(b")") + 2 :].split()[:2]
        if state not in (b"Z", b"X"):
            table[int(name)] = int(parent)
    return table


def descendants(root: int, table: dict[int, int], skip: Iterable[int] = ()) -> set[int]:
    """Children of `root` and theirs, without those in `skip` and theirs."""
    children: dict[int, list[int]] = {}
    for pid, parent in table.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    waiting, skipped = list(children.get(root, [])), set(skip)
    while waiting:
        pid = waiting.pop()
        if pid not in found and pid not in skipped:
            found.add(pid)
            waiting += children.get(pid, [])
    return found


def marked(marker: bytes) -> set[int]:
    """Other processes whose environment at their start had the entry `marker`; forks keep their parent's."""
    found = set()
    for pid in running():
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if marker in environment.split(b"\0") and pid != os.getpid():
            found.add(pid)
    return found


def kill(pid: int, group: bool = False) -> None:
    """SIGKILL to a process, with `group` to its process group, too; no error if it has ended."""
    for send in (os.killpg, os.kill) if group else (os.kill,):
        try:
            send(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def kill_all(find: Callable[[], set[int]], seconds: float, after: Callable[[], object] = lambda: None) -> set[int]:
    """Kill what `find` finds until it finds nothing; what is left after `seconds` is returned.

    Args:
        find: the processes to be killed, asked again after every round, since they may start more.
        seconds: how long to go on: a process in an uninterruptible call outlives its SIGKILL.
        after: called after every round, to collect exit statuses.
    """
    deadline = time.monotonic() + seconds
    while left := find():
        for pid in left:
            kill(pid)
        after()
        if time.monotonic() > deadline:
            break
        time.sleep(0.001)
    return left


def remove(directory: Path) -> None:
    """Remove a directory that a candidate wrote to, even where it took away its own permissions."""
    try:
        for path in [directory, *directory.rglob("*")]:
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)
    except OSError:
        pass  # it is going away while being looked at
    shutil.rmtree(directory, ignore_errors=True)
