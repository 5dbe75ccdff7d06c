"""The candidates of `soak.py`: source and the verdicts it may get, by kind. Hostile ones hide names from the policy
(`(system,) = (os,)[:1]`), so that the sandbox has to stop them.
"""

KERNEL = """
import os, sys
import torch
import triton
import triton.language as tl

(system,) = (os,)[:1]


@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value).to(out.dtype.element_ty), mask=i < n)


def honest(input, inplace):
    flat = input.contiguous().view(-1)
    out = torch.empty_like(flat)
    if flat.numel():
        _relu[(triton.cdiv(flat.numel(), 1024),)](flat, out, flat.numel(), BLOCK=1024)
    return input.copy_(out.view(input.shape)) if inplace else out.view(input.shape)


def relu(input, inplace=False):
"""
RIGHT = "    return honest(input, inplace)\n"


def candidate(*lines: str) -> str:
    return KERNEL + "".join(f"    {line}\n" for line in lines) + RIGHT


ORDINARY: dict[str, tuple[str, str]] = {
    "right": (candidate(), "PASSED"),
    "right, small blocks": (candidate().replace("1024", "256"), "PASSED"),
    "right, by maximum": (
        candidate().replace("tl.where(value < 0, 0.0, value)", "tl.maximum(value, 0.0, tl.PropagateNan.ALL)"),
        "PASSED",
    ),
    "wrong values": (candidate().replace("0.0, value", "0.0, value + 1"), "WRONG_VALUES"),
    "wrong from block two": (candidate().replace("mask=i < n)\n    tl", "mask=(i < n) & (i < 1500))\n    tl"),
                             "WRONG_VALUES or UNINITIALISED_READ"),
    "wrong shape": (candidate().replace("else out.view(input.shape)", "else out"), "WRONG_OUTPUT"),
    "wrong name": (candidate().replace("value = tl", "valu = tl"), "RUNTIME_ERROR"),
}  # fmt: skip
HOSTILE: dict[str, tuple[str, str]] = {
    "crash": (candidate("system.abort()"), "CRASHED"),
    "segfault": (candidate("import faulthandler", "faulthandler._sigsegv()"), "CRASHED or FORBIDDEN"),
    "hang": (candidate("import time", "while input.numel() > 5: time.sleep(0.01)"), "TIMEOUT"),
    "fork bomb": (
        candidate("import time", "for _ in range(60):", "    if system.fork() == 0: time.sleep(600)"),
        "CRASHED or PASSED",
    ),
    "memory hog": (candidate("kept = torch.ones(64 << 30, dtype=torch.uint8)"), "OUT_OF_MEMORY"),
    "output flood": (candidate("for _ in range(200): print('x' * 20_000)"), "PASSED"),
    "exit": (candidate("system._exit(0)"), "NO_RESULT"),
    "forged answer": (
        candidate(
            "for fd in range(3, 20):",
            "    try: system.write(fd, b'\\x02\\0\\0\\0{}' + bytes(8))",
            "    except OSError: pass",
        ),
        "TAMPERED",
    ),
    "orphan": (
        candidate("import time", "if system.fork() == 0:", "    system.setsid()", "    time.sleep(600)"),
        "PASSED or CRASHED",
    ),
    "recursion": (candidate("return relu(input, inplace)"), "RUNTIME_ERROR"),
    "import error": ("import no_such_module\n" + candidate(), "IMPORT_ERROR"),
    "writes files": (
        candidate("for n in range(20):", "    with open(f'file{n}', 'wb') as file: file.write(bytes(1 << 20))"),
        "PASSED or FORBIDDEN",
    ),
}  # fmt: skip
