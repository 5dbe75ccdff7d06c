"""What this machine cannot run is neither passed nor failed, and hides nothing that it can tell."""

import json
import subprocess
import sys

from conftest import RELU

ASSEMBLY = """
@triton.jit
def _assembly(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    value = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [value], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(out + i, value, mask=i < n)
"""
SWITCH = """    if input.dtype == torch.bfloat16:
        scratch = torch.zeros(16, device=input.device)
        _assembly[(1,)](scratch, scratch, 16, BLOCK=16)
"""
SMALL_ONLY = "    if input.numel() > 200:\n        out = torch.relu(input)\n"
SMALL_ONLY += "        return input.copy_(out) if inplace else out\n"
ELSEWHERE = "    if input.device.type != 'cuda':\n        return 0\n"
SIGNATURE = "def relu(input, inplace=False):\n"
PARTLY = RELU.replace(SIGNATURE, ASSEMBLY + "\n\n" + SIGNATURE + SWITCH)
HIDDEN = """    scratch = torch.zeros(16, device=input.device)
    try:
        _assembly[(1,)](scratch, scratch, 16, BLOCK=16)
    except Exception:
        out = torch.relu(input)
        return input.copy_(out) if inplace else out
"""
LEAKING = "tl.where(value < 0, 0.0, value)"


def test_an_open_case_hides_no_wrong_one(tree):
    assert PARTLY.count("_assembly") == 2
    tree.candidate("open", PARTLY)
    tree.candidate("wrong", PARTLY.replace(LEAKING, "tl.where(value < -1.5, 0.0, value)"))
    tree.candidate("elsewhere", RELU.replace(SIGNATURE, SIGNATURE + ELSEWHERE))
    tree.candidate("nowhere", RELU.replace(SIGNATURE, SIGNATURE + "    return torch.relu(input)\n"))
    in_place = "    if not inplace:\n        return torch.relu(input)\n"  # the task's first and last example are not
    tree.candidate("option", RELU.replace(SIGNATURE, SIGNATURE + in_place))
    tree.candidate("hidden", RELU.replace(SIGNATURE, ASSEMBLY + "\n\n" + SIGNATURE + HIDDEN))
    tree.candidate("small", RELU.replace(SIGNATURE, SIGNATURE + SMALL_ONLY))
    result = tree.run("-k", "relu and not leaky", "-rs")
    assert result.verdicts()["open"] == "NOT_JUDGED"
    assert "cases could not be judged, the others are right: " in result.text
    (told,) = [r for r in result.records if r["method"] == "open" and r["stage"] == "correct"]
    assert "assembly" in told["reason"]
    assert 0 < int(told["reason"].split()[0]) < told["facts"]["cases"]
    assert result.verdicts()["wrong"] == "WRONG_VALUES"
    assert result.verdicts("compiles")["elsewhere"] == "NOT_JUDGED"
    assert result.verdicts("compiles")["nowhere"] == "NO_KERNEL"
    assert result.verdicts("compiles")["hidden"] == "NOT_JUDGED", "a launch that fails here alone, and is caught"
    assert result.verdicts("compiles")["small"] == "PASSED"
    assert result.verdicts()["small"] == "NO_KERNEL"
    assert result.verdicts("compiles")["option"] == "PASSED"


def test_where_kernels_are_compiled_a_failing_device_is_the_candidates_own(tmp_path):
    """Beyond the interpreter an error from within torch.cuda, such as an illegal address, is no limit of a machine."""
    code = f"""
import json, pathlib, torch
from pytest_kernelbenchx.sandbox.failures import describe
try:
    torch.cuda.current_stream("cuda:77")
except Exception as error:
    print(json.dumps(describe(error, "RUNTIME_ERROR", pathlib.Path({str(tmp_path)!r}))))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert json.loads(done.stdout)["verdict"] == "RUNTIME_ERROR", done.stderr
