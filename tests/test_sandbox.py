"""Candidates that crash, hang, flood, escape or forge, and what the judge makes of each; honest ones arrive exactly."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from pytest_kernelbenchx.judge.verdicts import Verdict
from pytest_kernelbenchx.sandbox import host, process, processes, server
from pytest_kernelbenchx.sandbox.exchange import OUTPUT_LIMIT
from pytest_kernelbenchx.sandbox.host import Died, Sandbox, SandboxError
from pytest_kernelbenchx.sandbox.protocol import Opaque

KERNEL = """
import torch, triton, triton.language as tl

@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)

def add(x, y):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK=64)
    return out
"""
FORK = """
import os, signal, time
def spawn(count):
    reading, writing = os.pipe()
    for _ in range(count):
        if os.fork() == 0:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.write(1, b"pid %d\\n" % os.getpid())
            os.write(writing, b"x")
            time.sleep(600)
            os._exit(0)
    for _ in range(count):
        os.read(reading, 1)
"""


@pytest.fixture(scope="module")
def sandbox():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_TOKEN", "judge")
        patch.setenv("PYTEST_ADDOPTS_SEED", "judge")
        with Sandbox() as box:
            box.start()
            yield box


@pytest.fixture(scope="module")
def bare():
    """A sandbox on a kernel without Landlock."""
    without = "zygote.child.landlock.restrict = lambda *_: []\nzygote.main"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "BOOT", server.BOOT.replace("zygote.main", without))
        with Sandbox() as box:
            box.start()
            yield box


@pytest.fixture
def child(sandbox):
    made = sandbox.child()
    yield made
    made.kill()


def load(child, source, entry="f", timeout=60.0):
    answer = child.load("kernel.py", source, [entry], timeout)
    assert answer.ok, answer.error
    return child


def call(child, source, *args, timeout=60.0, **kwargs):
    """Load a candidate whose entry point is `f` and call it once."""
    return load(child, source).call(args, kwargs, 0, timeout)


def pids(child):
    return [int(line.split()[1]) for line in child.output.splitlines() if line.startswith("pid ")]


def wait_until(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition was not met in time"
        time.sleep(0.01)


# Deaths

DEATHS = {
    "exit": ("import os\ndef f(): os._exit(0)", Verdict.NO_RESULT, "exit code 0 during a call"),
    "segfault": ("import ctypes\ndef f(): ctypes.string_at(0)", Verdict.CRASHED, "killed by SIGSEGV"),
    "abort": ("import os\ndef f(): os.abort()", Verdict.CRASHED, "killed by SIGABRT"),
    "kills itself": ("import os\ndef f(): os.kill(0, 9)", Verdict.CRASHED, "killed by SIGKILL, by the system"),
    "endless": ("def f():\n    while True: pass", Verdict.TIMEOUT, "a call had no answer within 1 s"),
    "stops": ("import os\ndef f(): os.kill(os.getpid(), 19)", Verdict.TIMEOUT, "no answer within 1 s"),
    "stubborn": (
        "import signal\ndef f():\n    for n in set(range(1, 65)) - {9, 19, 32, 33}: signal.signal(n, signal.SIG_IGN)\n"
        "    while True: pass",
        Verdict.TIMEOUT,
        "no answer within 1 s",
    ),
    "floods": ("def f():\n    while True: print('x' * 10000)", Verdict.TIMEOUT, "no answer within 1 s"),
    "closes everything": (
        "import os\ndef f(): os.closerange(3, 4096)",
        Verdict.TAMPERED,
        "closed its answer channel",
    ),
    "closes and goes on": (
        "import os\ndef f():\n    os.closerange(3, 4096)\n    while True: pass",
        Verdict.TAMPERED,
        "closed its answer channel during a call and went on",
    ),
    "leaves its channel to an orphan": (
        "import os, time\ndef f():\n    if os.fork(): os._exit(3)\n    os.setsid()\n    time.sleep(600)",
        Verdict.NO_RESULT,
        "exit code 3",
    ),
    "becomes another program": (
        "import os\ndef f(): os.execv('/bin/sh', ['sh', '-c', 'exit 0'])",
        Verdict.NO_RESULT,
        "exit code 0",
    ),
}


@pytest.mark.parametrize(("source", "verdict", "reason"), DEATHS.values(), ids=DEATHS)
def test_a_death_is_a_verdict(child, source, verdict, reason, monkeypatch):
    monkeypatch.setattr(process, "PATIENCE", 0.3)
    with pytest.raises(Died) as death:
        call(child, source, timeout=1.0 if verdict is Verdict.TIMEOUT else 60.0)
    assert death.value.outcome.verdict is verdict
    assert reason in death.value.outcome.reason
    assert child.pid not in processes.running()
    with pytest.raises(Died) as again:
        child.call([], {}, 0, 1.0)
    assert again.value.outcome is death.value.outcome


def test_a_crash_and_a_hang_show_where_they_were(sandbox):
    for source in (DEATHS["segfault"][0], DEATHS["endless"][0]):
        child = sandbox.child()
        with pytest.raises(Died) as death:
            call(child, source, timeout=1.0)
        assert 'kernel.py", line 2 in f' in death.value.outcome.details


def test_output_is_drained_and_capped_and_keeps_its_end(child):
    source = "def f():\n    for i in range(20000): print(i, 'x' * 100)\n    print('\\x1b[31mend')\n    return 1"
    assert call(child, source).value == 1
    child.kill()
    assert child.output.startswith("0 x")
    assert child.output.endswith("\\x1b[31mend\n")
    assert len(child.output) < OUTPUT_LIMIT + 200


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ndef f(): return torch.empty(16 << 30)",
        "def f(): return len(bytearray(64 << 30))",
        "import torch\ndef f(): raise torch.OutOfMemoryError('CUDA out of memory')",
    ],
)
def test_an_allocation_that_fails_is_out_of_memory(child, source):
    answer = call(child, source)
    assert answer.outcome.verdict is Verdict.OUT_OF_MEMORY


def test_memory_is_counted_over_all_processes_of_a_candidate(sandbox, child, monkeypatch):
    monkeypatch.setattr(sandbox, "memory", 64 << 20)
    source = FORK.replace("time.sleep(600)", "x = bytearray(b'x') * (40 << 20); time.sleep(600)")
    with pytest.raises(Died) as death:
        call(child, source + "\ndef f():\n    spawn(3)\n    time.sleep(600)")
    assert death.value.outcome.verdict is Verdict.OUT_OF_MEMORY
    assert not set(pids(child)) & set(processes.running())


@pytest.mark.parametrize("count", [1, 50])
def test_orphans_in_sessions_of_their_own_die_with_the_candidate(child, count):
    assert call(child, FORK + f"\ndef f():\n    spawn({count})\n    return 7").value == 7
    child.kill()
    assert len(pids(child)) == count
    assert not set(pids(child)) & set(processes.running())


def test_a_fork_bomb_is_stopped(child):
    with pytest.raises(Died) as death:
        call(child, FORK + "\ndef f():\n    spawn(400)\n    time.sleep(600)")
    assert death.value.outcome.verdict is Verdict.CRASHED
    assert "processes" in death.value.outcome.reason
    assert not set(pids(child)) & set(processes.running())


def test_a_copy_of_the_process_does_not_answer_twice(child):
    load(child, "import os\ndef f():\n    os.fork()\n    return 1")
    assert [child.call([], {}, 0, 20.0).value for _ in range(3)] == [1, 1, 1]


def test_a_request_that_is_not_read_does_not_block(child):
    load(child, "def f(x): return 1")
    os.kill(child.pid, signal.SIGSTOP)
    start = time.monotonic()
    with pytest.raises(Died) as death:
        child.call([torch.zeros(4 << 20)], {}, 0, 0.5)
    assert death.value.outcome.verdict is Verdict.TIMEOUT
    assert time.monotonic() - start < 5


# Forgery

FORGE = """
import json, os
body = json.dumps({"ok": True, "result": 1, "after": {"list": []}, "tensors": [], "storages": [], "launches": [],
                   "dropped": 0, "seconds": 0.1, "entry": "f", "kernels": [], "configs": 1}).encode()
def forge(data=len(body).to_bytes(4, "little") + body + bytes(8)):
    for fd in map(int, os.listdir("/proc/self/fd")):
        try: os.write(fd, data)
        except OSError: pass
"""


@pytest.mark.parametrize(
    "source",
    [
        FORGE + "def f(): forge()",
        FORGE + "def f(): forge(b'\\x02\\x00\\x00\\x00{}' + b'\\xff' * 8)",
        FORGE + "def f(): forge(b'\\xff' * 40)",
        FORGE + "def f(): forge(b'\\x04\\x00\\x00\\x00null' + bytes(8))",
    ],
)
def test_bytes_written_to_every_descriptor_are_no_answer(child, source):
    with pytest.raises(Died) as death:
        call(child, source)
    assert death.value.outcome.verdict is Verdict.TAMPERED


def test_an_answer_in_advance_is_noticed(child):
    """A thread writes the answer to the next call before it is asked."""
    load(child, FORGE + "import threading\ndef f(): threading.Timer(0.05, forge).start()")
    child.call([], {}, 0, 20.0)
    wait_until(child._link.unsolicited)
    with pytest.raises(Died) as death:
        child.call([], {}, 0, 20.0)
    assert death.value.outcome.verdict is Verdict.TAMPERED
    assert "no question" in death.value.outcome.reason


@pytest.mark.parametrize(
    ("patch", "found"),
    [
        ("child.pack = lambda *a, **k: ([], [])", "tensor index"),
        ("child.frame = lambda h, b=(): wire.frame({**h, 'seconds': 'x'}, b)", "time of the call"),
        ("child.frame = lambda h, b=(): wire.frame({**h, 'ok': 1}, b)", "neither"),
        ("child.frame = lambda h, b=(): wire.frame({'error': {'verdict': 'PASSED'}, **h}, b)", "not the child's"),
    ],
)
def test_a_forger_within_the_process_is_held_to_the_form(child, patch, found):
    source = "import sys\nchild, wire = (sys.modules['pytest_kernelbenchx.sandbox.' + n] for n in ('child', 'wire'))\n"
    load(child, source + f"def f(x):\n    {patch}\n    return x")
    with pytest.raises(Died) as death:
        child.call([torch.ones(2)], {}, 0, 20.0)
    assert death.value.outcome.verdict is Verdict.TAMPERED
    assert found in death.value.outcome.reason


# What a candidate may see


def test_the_environment_holds_nothing_of_the_judges(child):
    source = "import os\ndef f(): return dict(os.environ), open('/proc/self/environ').read()"
    variables, initial = call(child, source).value
    assert variables["TRITON_INTERPRET"] == "1"
    assert "judge" not in str(variables) + initial
    assert not [name for name in variables if name.startswith(("PYTEST", "HYPOTHESIS", "KBX"))]


def test_what_is_left_to_pytorch_is_true_float32(child):
    """PyTorch's convolutions use TF32 by default; the reference's do not, and neither do a candidate's."""
    source = "import torch\ndef f(): return torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32"
    assert call(child, source).value == (False, False)


def test_a_candidate_has_a_directory_of_its_own_which_goes_with_it(child):
    source = """
import os, sys, tempfile
def f():
    open("left", "w").write("x")
    os.mkdir("shut")
    open("shut/in", "w").write("x")
    os.chmod("shut", 0)
    return os.getcwd(), tempfile.mkdtemp(), os.path.expanduser("~"), os.listdir("/proc/self/fd"), sys.argv, input
"""
    cwd, temporary, home, descriptors, argv, _ = call(child, source).value
    own = Path(cwd).parent
    assert own == Path(temporary).parents[1] == Path(home).parent
    assert Path(cwd, "left").exists()
    assert len(descriptors) <= 5  # three standard ones, the channel, and the listing itself
    assert argv == ["candidate"]
    child.kill()
    assert not own.exists()


def test_confinement_took_effect(sandbox, child):
    assert set(sandbox.facts["layers"]) >= {"setsid", "no_new_privs", "rlimits", "private_dirs", "scrubbed_env"}
    source = """
import os, resource
def f():
    status = open("/proc/self/status").read()
    try:
        with open("big", "wb") as big:
            big.seek(300 << 20)
            big.write(b"x")
        wrote = True
    except OSError:
        wrote = False
    return os.getsid(0) == os.getpid(), "NoNewPrivs:\\t1" in status, resource.getrlimit(resource.RLIMIT_CORE), wrote
"""
    assert call(child, source).value == (True, True, (0, 0), False)


def test_a_candidate_that_kills_the_zygote_hurts_nobody_else(bare):
    child = bare.child()
    with pytest.raises(Died) as death:
        call(child, FORK + "\ndef f():\n    spawn(2)\n    os.kill(os.getppid(), 9)\n    time.sleep(600)")
    assert death.value.outcome.verdict is Verdict.TAMPERED
    assert len(pids(child)) == 2
    wait_until(lambda: not {child.pid, *pids(child)} & set(processes.running()))
    following = bare.child()
    assert call(following, "def f(): return 3").value == 3
    following.kill()


def test_a_neighbour_of_one_that_kills_the_zygote_is_not_blamed(bare):
    guilty, neighbour = bare.child(), bare.child()
    load(guilty, "import os, time\ndef f():\n    os.kill(os.getppid(), 9)\n    time.sleep(600)")
    load(neighbour, "def f(): return 3")
    for child in (guilty, neighbour):
        with pytest.raises(Died) as death:
            child.call([], {}, 0, 60.0)
        assert death.value.outcome.verdict is Verdict.INFRA_ERROR


def test_a_zygote_that_is_stopped_is_replaced(bare, monkeypatch):
    monkeypatch.setattr(server, "CONTROL_SECONDS", 1.0)
    child = bare.child()
    with pytest.raises(Died) as death:
        call(child, "import os\ndef f():\n    os.kill(os.getppid(), 19)\n    os._exit(0)")
    assert death.value.outcome.verdict is Verdict.TAMPERED
    monkeypatch.undo()
    following = bare.child()
    assert call(following, "def f(): return 3").value == 3
    following.kill()


def test_everything_ends_when_pytest_is_killed(tmp_path):
    script = f"""
import sys, threading, time
from pathlib import Path
from pytest_kernelbenchx.sandbox.host import Sandbox
box = Sandbox(scratch=Path({str(tmp_path)!r}))
box._tested = True
child = box.child()
child.load("kernel.py", {FORK!r} + "\\ndef f():\\n    spawn(2)\\n    while True: pass", ["f"], 60)
threading.Thread(target=child.call, args=([], {{}}, 0, 600.0), daemon=True).start()
while child.output.count("pid") < 2:
    time.sleep(0.01)
print(box._server.pid, child.pid, *[line.split()[1] for line in child.output.splitlines()], flush=True)
time.sleep(600)
"""
    root = Path(host.__file__).parents[2]
    judge = subprocess.Popen(
        [sys.executable, "-B", "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    with judge:
        family = {int(pid) for pid in judge.stdout.readline().split()}
        assert len(family) == 4
        assert family <= set(processes.running())
        judge.kill()
    wait_until(lambda: not family & set(processes.running()))
    wait_until(lambda: not list(tmp_path.iterdir()))


def test_a_sandbox_that_cannot_work_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(server, "BOOT", "import sys; sys.exit('no torch here')")
    with Sandbox(scratch=tmp_path) as box, pytest.raises(SandboxError, match="did not come up: no torch here"):
        box.child()
    assert not list(tmp_path.iterdir())


def test_a_self_test_that_fails_is_no_verdict_on_a_candidate(monkeypatch):
    untrue = "zygote.interpreter.self_test = lambda: ['Sums are wrong.']\nzygote.main"
    broken = server.BOOT.replace("zygote.main", untrue)
    monkeypatch.setattr(server, "BOOT", broken)
    with Sandbox() as box, pytest.raises(SandboxError, match=r"not computed right on this machine: Sums are wrong\."):
        box.child()


# Loading


@pytest.mark.parametrize(
    ("source", "verdict", "message"),
    [
        ("def f(:", Verdict.SYNTAX, "invalid syntax"),
        ("return 1", Verdict.SYNTAX, "'return' outside function"),
        ("x = '\0'", Verdict.SYNTAX, "null"),
        ("import no_such_module", Verdict.IMPORT_ERROR, "No module named 'no_such_module'"),
        ("import sys\nsys.exit(0)", Verdict.IMPORT_ERROR, "called sys.exit(0)"),
        ("raise KeyboardInterrupt", Verdict.IMPORT_ERROR, "KeyboardInterrupt"),
        ("import pytest\npytest.skip('no', allow_module_level=True)", Verdict.IMPORT_ERROR, "Skipped: no"),
        ("x = 1", Verdict.NO_ENTRY_POINT, "defines no function at top level"),
        ("def matmull(): pass\ndef g(): pass", Verdict.NO_ENTRY_POINT, "Is matmull meant? It must be called matmul."),
        ("matmul = 3", Verdict.NO_ENTRY_POINT, "named matmul or kernel_function"),
        ("import triton\n@triton.jit\ndef matmul(x): pass", Verdict.NO_ENTRY_POINT, "is a Triton kernel"),
    ],
)
def test_what_does_not_load_says_why(child, source, verdict, message):
    answer = child.load("matmul.py", source, ["matmul", "kernel_function"], 60)
    assert answer.outcome.verdict is verdict
    assert message in answer.outcome.reason


def test_the_first_name_that_is_there_is_the_entry_point(child):
    source = KERNEL + "def kernel_function(x): return x"
    assert child.load("add.py", source, ["sum", "kernel_function", "add"], 60).value == {
        "entry": "kernel_function",
        "kernels": ["add_kernel"],
        "configs": 1,
        "fault": None,
    }


# Calling


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ("raise ValueError('x' * 10_000_000)", "ValueError", "xxx ... xxx"),
        ("import sys; sys.exit(0)", "SystemExit", "called sys.exit(0)"),
        ("import pytest; pytest.skip('later')", "Skipped", "later"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})", "Odd", "cannot be shown"),
        ("raise type('Odd', (Exception,), {'__str__': lambda self: f()})", "Odd", "cannot be shown"),
        ("raise ValueError('\\x1b[31m\\ud800')", "ValueError", "\\x1b[31m\\ud800"),
        ("return f()", "RecursionError", "maximum recursion depth"),
    ],
)
def test_what_a_call_raises_is_told(child, body, kind, message):
    answer = call(child, f"def f():\n    {body}")
    assert answer.outcome.verdict is Verdict.RUNTIME_ERROR
    assert answer.error["type"] == kind
    assert message in answer.error["message"]
    assert len(answer.error["message"]) < 2200
    assert 'File "kernel.py", line 2, in f' in answer.outcome.details
    assert len(answer.outcome.details.splitlines()) < 60
    assert child.call([], {}, 0, 20.0).error["type"] == kind


def test_an_error_within_a_kernel_is_the_kernels_own(child):
    source = KERNEL.replace("tl.program_id(0) * BLOCK", "undefined_name")
    answer = load(child, source, "add").call([torch.ones(3), torch.ones(3)], {}, 0, 60.0)
    assert answer.outcome.verdict is Verdict.RUNTIME_ERROR
    assert answer.error["type"] == "NameError"
    assert "in add_kernel" in answer.outcome.details
    assert "interpreter.py" not in answer.outcome.details


def test_a_limit_of_the_interpreter_is_not_the_candidates_fault(child):
    source = KERNEL.replace(
        "tl.load(y + offsets, mask=mask)",
        "tl.inline_asm_elementwise('', '=r,r', [offsets], dtype=tl.int32, is_pure=True, pack=1)",
    )
    answer = load(child, source, "add").call([torch.ones(3), torch.ones(3)], {}, 0, 60.0)
    assert answer.outcome.verdict is Verdict.NOT_JUDGED


def test_kernels_that_ran_are_listed_with_their_grid(child):
    load(child, KERNEL, "add")
    x = torch.arange(130.0)
    answer = child.call([x, x], {}, 0, 60.0)
    assert torch.equal(answer.value, 2 * x)
    assert answer.launches == [{"kernel": "add_kernel", "grid": [3, 1, 1], "own": True}]
    assert (answer.witness, answer.dropped, answer.devices, answer.aliases) == (True, 0, ["cpu"], {})
    assert 0 < answer.seconds < 60


def test_kernels_of_others_and_many_of_them_are_told_apart(child):
    source = (
        KERNEL
        + """
import types
other = types.ModuleType("other")
open("other.py", "w").write(open(__file__).read().split("import types")[0])
import importlib.util
spec = importlib.util.spec_from_file_location("other", "other.py")
other = importlib.util.module_from_spec(spec)
spec.loader.exec_module(other)
def f(x):
    for _ in range(1003):
        other.add(x, x)
    add(x, x)
"""
    )
    answer = call(child, source, torch.ones(3))
    assert answer.ok, answer.error
    assert [len(answer.launches), answer.dropped] == [1001, 3]
    assert answer.launches[0] == {"kernel": "add_kernel", "grid": [1, 1, 1], "own": False}
    assert answer.launches[-1] == {"kernel": "add_kernel", "grid": [1, 1, 1], "own": True}


def test_a_launcher_that_was_replaced_is_noticed(child):
    source = (
        KERNEL
        + """
def f(x):
    from triton.runtime.interpreter import GridExecutor
    GridExecutor.__call__ = lambda *args, **kwargs: None
    return add(x, x)
"""
    )
    answer = call(child, source, torch.ones(3))
    assert (answer.witness, answer.launches) == (False, [])


def test_inputs_arrive_exactly(child):
    base = torch.arange(24.0).reshape(4, 6)
    args = [base.t(), base[1:, ::2], base[0].expand(5, 6), base, torch.zeros(0, 3), torch.float16, torch.device("cpu")]
    source = """
def f(a, b, c, d, e, dtype, device, *, scale, names):
    views = [(t.stride(), t.storage_offset(), t.shape) for t in (a, b, c, d, e)]
    shared = len({t.untyped_storage().data_ptr() for t in (a, b, c, d)})
    d.add_(1)
    return views, shared, a.sum().item(), str(dtype), device.type, scale, names
"""
    answer = call(child, source, *args, scale=0.5, names=["x", None])
    views, shared, total, *rest = answer.value
    assert views == [(t.stride(), t.storage_offset(), t.shape) for t in args[:5]]
    assert (shared, total) == (1, float(base.sum()) + 24)
    assert rest == ["torch.float16", "cpu", 0.5, ["x", None]]
    assert torch.equal(answer.after[0], base.t() + 1)
    assert torch.equal(base, torch.arange(24.0).reshape(4, 6))


def test_changes_of_inputs_come_back_even_outside_of_the_view(child):
    x = torch.zeros(10)[2:5]
    source = "def f(x, y):\n    x.as_strided((10,), (1,), 0)[9] = 7\n    y.data = y.data * 3\n    y.resize_(1)"
    answer = call(child, source, x, torch.ones(2))
    whole = torch.empty(0).set_(answer.after[0].untyped_storage())
    assert whole.tolist() == [0.0] * 9 + [7.0]
    assert torch.equal(answer.after[1], torch.tensor([3.0]))
    assert answer.value is None


def test_a_result_that_shares_memory_with_an_input_is_told(child):
    x, y = torch.ones(4, 4), torch.ones(4)
    answer = call(child, "import torch\ndef f(x, y): return y + 1, x[1], [y], torch.zeros(0)", x, y)
    assert answer.aliases == {1: 0, 2: 1}


def test_results_come_back_as_they_are(child):
    source = """
import collections, torch
def f(x):
    pair = collections.namedtuple("Pair", "a b")
    return pair(x.t(), x[0].expand(3, 2)), {"c": x.to(torch.complex64).conj(), "p": torch.nn.Parameter(x)}, x.max(), 3
"""
    x = torch.tensor([[1.0, 2.0], [3.0, float("nan")]])
    pair, named, largest, number = call(child, source, x).value
    assert type(pair) is tuple
    assert torch.equal(pair[0], x.t().nan_to_num(9.0).where(~x.t().isnan(), x.t())) or pair[0].isnan().sum() == 1
    assert torch.equal(pair[1], torch.tensor([[1.0, 2.0]] * 3))
    assert named["c"].dtype is torch.complex64
    assert torch.equal(named["p"][0], x[0])
    assert largest.isnan()
    assert number == 3


def test_what_is_no_plain_value_is_named(child):
    source = """
import torch
class Lazy(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *args, **kwargs): raise SystemExit
class Sly(list):
    def __iter__(self): raise SystemExit
def f(x):
    loop = []
    loop.append(loop)
    yielding = (value for value in [x])
    return x.as_subclass(Lazy), Sly(), yielding, x.to_sparse(), f
def g(x): return torch.ones(1).expand(1 << 40)
def h(x):
    loop = []
    loop.append(loop)
    return loop
"""
    x = torch.eye(2)
    found = call(child, source, x).value
    assert all(type(item) is Opaque for item in found)
    assert [item.type.rpartition(".")[2] for item in found[:3]] == ["Lazy", "Sly", "generator"]
    for entry, said in (("g", "bytes"), ("h", "too many parts")):
        assert said in load(child, source, entry).call([x], {}, 0, 20.0).value.type


def test_random_numbers_follow_the_seed(child):
    load(
        child,
        "import torch, random, numpy\ndef f(): return torch.rand(2), random.random(), numpy.random.rand(1)[0].item()",
    )
    first, again, other = (child.call([], {}, seed, 20.0).value for seed in (5, 5, 6))
    assert (first[0].tolist(), *first[1:]) == (again[0].tolist(), *again[1:])
    assert first[0].tolist() != other[0].tolist()


def test_an_optimizer_is_constructed_and_stepped(child):
    load(child, "from torch.optim import SGD", "SGD")
    ours = [torch.ones(3), torch.zeros(2, 2)]
    grads = [[torch.arange(3.0), None], [torch.ones(3), torch.ones(2, 2)]]
    answer = child.call([ours], {"lr": 0.5, "momentum": 0.9}, 0, 60.0, grads=grads)
    theirs = [torch.nn.Parameter(p.clone()) for p in ours]
    reference = torch.optim.SGD(theirs, lr=0.5, momentum=0.9)
    for step in grads:
        for parameter, grad in zip(theirs, step, strict=True):
            parameter.grad = grad
        reference.step()
    assert all(torch.equal(a, b) for a, b in zip(answer.value, theirs, strict=True))
    assert answer.aliases == {0: 0, 1: 1}


def test_one_autotune_configuration_can_be_chosen(child):
    source = (
        KERNEL.replace(
            "@triton.jit", "@triton.autotune([triton.Config({'BLOCK': n}) for n in (32, 16)], key=['n'])\n@triton.jit"
        )
        .replace(", BLOCK=64)", ")")
        .replace("(triton.cdiv(x.numel(), 64),)", "lambda m: (triton.cdiv(x.numel(), m['BLOCK']),)")
    )
    answer = child.load("kernel.py", source, ["add"], 60.0)
    assert answer.value["configs"] == 2
    x = torch.ones(64)
    grids = [child.call([x, x], {}, 0, 60.0, configs=k).launches[0]["grid"][0] for k in (0, 1, 2)]
    assert grids == [2, 4, 2]


def test_facts_name_the_versions(sandbox):
    assert sandbox.facts["torch"] == torch.__version__
    assert sandbox.facts["device"] == "cpu"
    assert sandbox.facts["self_test"] == []
    json.dumps(sandbox.facts)
