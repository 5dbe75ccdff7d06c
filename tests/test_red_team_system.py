"""A candidate that is past the policy reaches for other processes, files and the system. The right value is returned
only where it was refused: these candidates pass, what they reached for is as it was, and the next is judged right.
"""

import os
import resource
import socket
import stat
import sys
import sysconfig
from pathlib import Path

import pytest
from red_team import KERNEL, Court

from pytest_kernelbenchx.sandbox import host, landlock, seccomp

TRY = """
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    if getattr(libc, name)(*arguments) == -1:
        raise OSError(ctypes.get_errno(), name)
def number(n, *arguments):
    if libc.syscall(n, *arguments) == -1:
        raise OSError(ctypes.get_errno(), str(n))
def double(x):
    done = 0
    for attempt in attempts:
        try:
            attempt()
            done += 1
        except OSError:
            pass
    return times(x, 2 + done)
"""
files = pytest.mark.skipif(landlock.version() < 1, reason="this kernel has no Landlock")
signals = pytest.mark.skipif(landlock.version() < 6, reason="this kernel's Landlock knows no signals")
linux = pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="no filter for this machine")
root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may do it at all")
JUDGE = os.getpid()
COLUMN = int(os.uname().machine == "aarch64")


@pytest.fixture(scope="module")
def court():
    with pytest.MonkeyPatch.context() as patch:
        made = Court(patch)
        made.sandbox.start()
        yield made
        made.sandbox.close()


def attempt(*bodies):
    """A candidate that tries all of them; it is right where every one was refused."""
    actions = "\n".join(f"def attempt{n}():\n    {body}" for n, body in enumerate(bodies))
    names = ", ".join(f"attempt{n}" for n in range(len(bodies)))
    return KERNEL + TRY + actions + f"\nattempts = [{names}]\n"


def harmless(*bodies):
    """A candidate that is right whatever comes of them."""
    return attempt(*bodies).replace("2 + done", "2")


def marked(attempts):
    bodies = [pytest.param(body, id=name, marks=marks) for name, (body, marks) in attempts.items()]
    return pytest.mark.parametrize("body", bodies)


def settings(pid):
    limits = [resource.prlimit(pid, limit) for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)]
    return limits, os.sched_getaffinity(pid), os.sched_getscheduler(pid), os.getpriority(os.PRIO_PROCESS, pid)


PROCESSES = {
    "memory of the judge": (f"open('/proc/{JUDGE}/mem', 'r+b')", files),
    "memory of the zygote": ("open(f'/proc/{os.getppid()}/mem', 'r+b')", files),
    "descriptors of the judge": (f"os.listdir('/proc/{JUDGE}/fd')", files),
    "its environment": (f"open('/proc/{JUDGE}/environ')", files),
    "a stopped zygote": ("os.kill(os.getppid(), signal.SIGSTOP)", signals),
    "a stopped judge": (f"os.kill({JUDGE}, signal.SIGSTOP)", signals),
    "a traced judge": (f"call('ptrace', 16902, {JUDGE}, None, None)", linux),
    "a descriptor taken from it": (f"number(438, os.pidfd_open({JUDGE}), 1, 0)", linux),
    "bytes of the zygote": (
        f"number({seccomp.REFUSED['process_vm_readv'][COLUMN]}, os.getppid(), 0, 0, 0, 0, 0)",
        linux,
    ),
    "limits of the judge": (f"__import__('resource').prlimit({JUDGE}, 1, (0, -1))", linux),
    "limits of the zygote": ("__import__('resource').prlimit(os.getppid(), 7, (0, 0))", linux),
    "its processors": (f"os.sched_setaffinity({JUDGE}, {{0}})", linux),
    "its scheduler": (f"os.sched_setscheduler({JUDGE}, os.SCHED_IDLE, os.sched_param(0))", linux),
    "its priority": (f"os.setpriority(os.PRIO_PROCESS, {JUDGE}, 19)", linux),
    "priority of all": ("os.setpriority(os.PRIO_USER, 0, 19)", linux),
}  # fmt: skip


@marked(PROCESSES)
def test_other_processes_are_out_of_reach(court, body):
    before = settings(JUDGE), settings(court.sandbox._server.pid)
    assert court.verdict(attempt(body)) == "PASSED"
    assert before == (settings(JUDGE), settings(court.sandbox._server.pid))


SYSTEM = {
    "shared memory that stays": ("call('shmget', 0, 1 << 20, 0o1600)", linux),
    "semaphores that stay": ("call('semget', 0, 1, 0o1600)", linux),
    "messages that stay": ("call('msgget', 0, 0o1600)", linux),
    "a key that stays": (f"number({seccomp.REFUSED['add_key'][COLUMN]}, b'user', b'k', b'v', 1, -4)", linux),
    "a ring of calls": ("number(425, 4, ctypes.create_string_buffer(256))", linux),
    "named shared memory": ("from multiprocessing import shared_memory as s; s.SharedMemory('kbx', True, 9)", files),
    "datagrams": ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))", linux),
    "raw packets": ("socket.socket(socket.AF_INET6, socket.SOCK_STREAM)", linux),
    "higher limits": (
        "import resource\n    try: resource.setrlimit(1, (1 << 50, 1 << 50))\n    except ValueError: raise OSError",
        (),
    ),
    "the clock": ("time.clock_settime(time.CLOCK_REALTIME, time.time())", root),
    "the name of the machine": ("socket.sethostname(socket.gethostname())", root),
    "another root": ("os.chroot('.')", root),
    "another user": ("os.setuid(12345)", root),
    "a device": ("os.mknod('disk', 0o60600, os.makedev(8, 0))", root),
    "a victim when memory runs out": (
        "d = os.open(f'/proc/self/task/{os.getpid()}/oom_score_adj', os.O_WRONLY); os.write(d, b'-900')",
        (),
    ),
}  # fmt: skip


@marked(SYSTEM)
def test_the_system_is_out_of_reach(court, body):
    assert court.verdict(attempt(body)) == "PASSED"


@signals
def test_an_abstract_socket_of_others_is_out_of_reach(court):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0kbx-{JUDGE}")
        server.listen()
        assert court.verdict(attempt(f"socket.socket(socket.AF_UNIX).connect('\\0kbx-{JUDGE}')")) == "PASSED"


CHANGES = {
    "written to": "open({path!r}, 'ab').write(b'changed')",
    "truncated": "os.truncate({path!r}, 0)",
    "removed": "os.unlink({path!r})",
    "moved away": "os.rename({path!r}, {path!r} + '~')",
    "replaced": "open('mine', 'w').close(); os.rename('mine', {path!r})",
    "linked": "os.link({path!r}, 'mine')",
    "read": "open({path!r}, 'rb').read()",
}


@files
@pytest.mark.parametrize("name", ["tasks/relu.py", "candidates/other/relu.py", "conftest.py", ".kbx/records.jsonl"])
def test_files_of_the_project_are_out_of_reach(court, tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("before")
    assert court.verdict(attempt(*(change.format(path=str(path)) for change in CHANGES.values()))) == "PASSED"
    assert path.read_text() == "before"
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [path]


@files
def test_files_that_others_would_run_are_out_of_reach(court):
    package = Path(landlock.__file__).parents[1]
    places = [
        package / "sitecustomize.py",
        package / "judge" / "__pycache__" / "compare.cpython-999.pyc",
        Path(sysconfig.get_path("purelib")) / "red-team.pth",
        Path.home() / ".local" / "usercustomize.py",
        Path.home() / ".red-team",
        court.sandbox._server.root / "zygote" / "triton",
        Path(sys.prefix) / "red-team.cfg",
    ]
    write = "os.makedirs({0!r}, exist_ok=True); open({1!r}, 'w').write('import os')"
    source = attempt(*(write.format(str(path.parent), str(path)) for path in places))
    assert court.verdict(source) == "PASSED"
    assert not [path for path in places if path.exists()]


@linux
def test_modes_and_owners_of_files_do_not_change(court, tmp_path):
    """Copies and linkers change modes and must not fail: the call does nothing and says that it did."""
    path = tmp_path / "records.jsonl"
    path.write_text("{}\n")
    before = path.stat()
    bodies = [
        f"os.chmod({str(path)!r}, 0)",
        f"os.chmod({str(tmp_path)!r}, 0)",
        f"os.chown({str(path)!r}, 1, 1)",
        f"os.utime({str(path)!r}, (1, 1))",
    ]
    assert court.verdict(harmless(*bodies)) == "PASSED"
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_mtime) == (before.st_mode, before.st_uid, before.st_mtime)
    assert stat.S_IMODE(tmp_path.stat().st_mode) & 0o700 == 0o700


@files
def test_compiled_kernels_of_other_candidates_are_out_of_reach(court):
    court.sandbox.start()
    other = court.sandbox._server.root / "kernels-of-another"
    other.mkdir()
    (other / "kernel.json").write_text("before")
    path = other / "kernel.json"
    assert court.verdict(attempt(*(change.format(path=str(path)) for change in CHANGES.values()))) == "PASSED"
    assert path.read_text() == "before"
    court.sandbox.forget("kernels-of-another")


LEFT = {
    "environment": "os.environ.update(TMPDIR='/no', TRITON_CACHE_DIR='/no', PYTHONPATH='.', LD_PRELOAD='x.so')",
    "start-up files": "[open(n, 'w').write('exit()') for n in ('sitecustomize.py', 'usercustomize.py', 'a.pth')]",
    "mask": "os.umask(0o777)",
    "ignored signals": "[signal.signal(n, signal.SIG_IGN) for n in (2, 15, 1, 17)]",
    "own priority": "os.nice(19)",
    "an orphan": "if os.fork() == 0:\n        os.setsid()\n        os.fork()\n        time.sleep(600)",
    "work after the answer": "threading.Timer(0.01, lambda: [None for _ in range(1_000_000)]).start()",
    "open sockets": "globals().setdefault('kept', []).extend(socket.socketpair() for _ in range(20))",
    "full output": "print('x' * 300_000)",
}  # fmt: skip


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_what_one_leaves_does_not_touch_the_next(court, body):
    assert court.verdict(harmless(body)) == "PASSED"
    assert court.sandbox.facts.get("stuck", []) == []


def test_layers_that_were_active_are_in_the_facts(court):
    assert set(seccomp.LAYERS) <= set(host.LAYERS)
    assert set(court.sandbox.facts["layers"]) >= {"capabilities_dropped"}
