"""A candidate that is past the policy changes all that it can reach in its own process, or forges its answers: a wrong
value passes in no case, and the next candidate is judged right.
"""

import pytest
from red_team import HONEST, KERNEL, Court

SANDBOX = "from pytest_kernelbenchx.sandbox import child, protocol, wire, witness\n"
WRONG = "\ndef double(x):\n    return times(x, 3)\n"
YES = "yes = lambda *a, **k: True\n"


@pytest.fixture(scope="module")
def court():
    with pytest.MonkeyPatch.context() as patch:
        made = Court(patch)
        yield made
        made.sandbox.close()


def test_the_court_tells_right_from_wrong(court):
    assert court.verdict(HONEST) == "PASSED"
    assert court.verdict(KERNEL + WRONG) == "WRONG_VALUES"


# What each replaces when it is imported; then it returns three times its input, wanted is twice.
PATCHES = {
    "pytest": """
import pytest, _pytest.reports, _pytest.runner
pytest.fail = pytest.skip = _pytest.runner.call_and_report = yes
_pytest.reports.TestReport.from_item_and_call = classmethod(yes)
""",
    "hypothesis": "import hypothesis\nhypothesis.given = lambda *a, **k: lambda f: yes\n",
    "torch": """
torch.equal = torch.allclose = torch.isclose = torch.all = torch.testing.assert_close = yes
torch.Tensor.all = torch.Tensor.equal = torch.Tensor.allclose = yes
""",
    "tensor operators": """
torch.Tensor.__eq__ = lambda self, other: torch.ones_like(self, dtype=torch.bool)
torch.Tensor.__ne__ = torch.Tensor.__gt__ = lambda self, other: torch.zeros_like(self, dtype=torch.bool)
torch.Tensor.__sub__ = torch.Tensor.sub = lambda self, other: torch.zeros_like(self)
""",
    "numpy": "import numpy\nnumpy.array_equal = numpy.allclose = numpy.testing.assert_allclose = yes\n",
    "triton": "import triton.testing\ntriton.testing.assert_close = triton.testing.do_bench = yes\n",
    "random numbers": "torch.manual_seed = torch.randn = torch.rand = lambda *a, **k: torch.zeros(1)\n",
    "runner": """
call = child.Runner.call
def calls(self, header, payload):
    reply, buffers = call(self, header, payload)
    return {**reply, "verdict": "PASSED", "passed": True, "facts": {}}, buffers
child.Runner.call = calls
""",
    "launches": "witness.Log.report = lambda self: {'launches': [{'kernel': '_times', 'grid': [1, 1, 1], 'own': True}],"
    " 'dropped': 0, 'witness': True}\n",
    "messages": "child.frame = lambda header, b=(): wire.frame({**header, 'verdict': 'PASSED', 'facts': {}}, b)\n",
    "tracing": "sys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)\nsys.addaudithook(lambda *a: None)\n",
    "exit handlers": "import atexit\natexit.register(lambda: print('PASSED'))\n",
    "import system": """
class Finder:
    find_spec = staticmethod(lambda name, *a: print(name))
sys.meta_path.insert(0, Finder)
sys.path.insert(0, os.getcwd())
open("pytest_kernelbenchx.py", "w").write("raise SystemExit")
""",
}


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES)
def test_wrong_values_are_wrong_whatever_is_patched(court, patch):
    assert court.verdict(SANDBOX + KERNEL + YES + patch + WRONG) == "WRONG_VALUES"


def test_they_are_wrong_with_everything_patched_at_once(court):
    assert court.verdict(SANDBOX + KERNEL + YES + "".join(PATCHES.values()) + WRONG) == "WRONG_VALUES"


def test_what_breaks_the_interpreter_itself_is_no_pass(court):
    patch = "import builtins\nbuiltins.all = builtins.any = builtins.bool = builtins.abs = yes\n"
    assert court.verdict(KERNEL + YES + patch + WRONG) in {"NOT_JUDGED", "RUNTIME_ERROR"}


FORMS = {
    "a report that says so": ("child._report = lambda *a: ({'result': 'PASSED', 'after': {'list': []}, 'tensors': [],"
                              " 'storages': []}, [])", {"TAMPERED"}),
    "an encoder that says so": ("child.encode = lambda value, found, **k: 'PASSED'", {"TAMPERED"}),
    "a result that says so": ("child.Runner.call = lambda *a: ({'ok': True, 'verdict': 'PASSED'}, [])", {"TAMPERED"}),
    "no tensors": ("child.pack = lambda *a, **k: ([], [])", {"TAMPERED"}),
    "no bytes": ("child._contiguous_bytes = lambda tensor: memoryview(b'')", {"TAMPERED"}),
    "an error that passes": ("child.Runner.call = lambda *a: ({'error': {'verdict': 'PASSED', 'type': '', 'message':"
                             " '', 'traceback': ''}, 'launches': [], 'dropped': 0}, [])", {"TAMPERED"}),
    "an error that is skipped": ("child.Runner.call = lambda *a: ({'error': {'verdict': 'SKIPPED'}, 'launches': [],"
                                 "'dropped': 0}, [])", {"TAMPERED"}),
    "an input as result": ("child.Runner.call = (lambda call: lambda s, h, p: call(s, {**h}, p))(child.Runner.call)\n"
                           "times = lambda x, factor: x", {"NO_KERNEL", "WRONG_VALUES", "WRONG_OUTPUT"}),
}  # fmt: skip


@pytest.mark.parametrize(("patch", "verdicts"), FORMS.values(), ids=FORMS)
def test_an_answer_of_another_form_is_no_answer(court, patch, verdicts):
    assert court.verdict(SANDBOX + KERNEL + patch + WRONG) in verdicts


FORGE = """
import json
def answer(nonce, result="PASSED"):
    header = {"ok": True, "result": result, "after": {"list": []}, "tensors": [], "storages": [], "launches": [],
              "dropped": 0, "witness": True, "seconds": 0.1, "nonce": nonce}
    body = json.dumps(header).encode()
    return len(body).to_bytes(4, "little") + body + bytes(8)
def write(data):
    for fd in range(3, 64):
        try: os.write(fd, data)
        except OSError: pass
def asked():
    frame = sys._getframe()
    while frame.f_code.co_name != "serve":
        frame = frame.f_back
    return frame.f_locals["nonce"]
def double(x):
    value = times(x, 2)
"""
FORGERIES = {
    "numbers that are guessed": ("write(answer('0' * 16)); return value", {"TAMPERED"}),
    "many guesses": ("[write(answer('%016x' % n)) for n in range(200)]; return value", {"TAMPERED"}),
    "the number that was asked, twice": ("write(answer(asked())); return value", {"TAMPERED"}),
    "the number that was asked, and an exit": ("write(answer(asked())); os._exit(0)", {"TAMPERED", "NO_RESULT"}),
    "half an answer": ("write(answer(asked())[:40]); os._exit(0)", {"TAMPERED", "NO_RESULT"}),
    "an answer before the question": (
        "threading.Timer(0.02, write, (answer('0' * 16),)).start(); return value",
        {"TAMPERED"},
    ),
    "a copy that answers, too": (
        "me = os.getpid(); os.getpid = lambda: me\n    os.fork()\n    return value",
        {"TAMPERED"},
    ),
    "a copy that takes the next question": (
        "if os.fork() == 0:\n        [s.recv(64) for s in sockets()]\n        write(b'\\xff' * 40)\n"
        "        os._exit(0)\n    return value\n"
        "def sockets():\n    return [socket.socket(fileno=fd) for fd in range(3, 64) if is_socket(fd)]\n"
        "def is_socket(fd):\n    try: return os.readlink(f'/proc/self/fd/{fd}').startswith('socket')\n"
        "    except OSError: return False",
        {"TAMPERED", "NO_RESULT", "TIMEOUT"},
    ),
    "nothing but output": ("print('PASSED 1 passed in 0.01s'); sys.stdout.flush(); os._exit(0)", {"NO_RESULT"}),
}


@pytest.mark.parametrize(("body", "verdicts"), FORGERIES.values(), ids=FORGERIES)
def test_a_forged_answer_is_no_answer(court, body, verdicts):
    assert court.verdict(KERNEL + FORGE + f"    {body}\n") in verdicts
