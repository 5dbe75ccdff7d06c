"""Does stage three measure what is true? Run on a GPU: `python benchmarks/timing_truth.py [TASK ...]`.

Two truths are known beforehand. PyTorch is as fast as itself: its ratio must be within 1 % of 1. A kernel that is
launched twice or three times takes two or three times as long where the tensor is larger than the cache.
"""

import sys
import time
from pathlib import Path
from statistics import median

import torch

from pytest_kernelbenchx.candidate import Candidate
from pytest_kernelbenchx.judge.speed import Speed
from pytest_kernelbenchx.loading import load_task
from pytest_kernelbenchx.performance.lease import device_lease
from pytest_kernelbenchx.performance.measurement import Measurement
from pytest_kernelbenchx.sandbox.host import Sandbox
from pytest_kernelbenchx.task import Task

ROOT = Path(__file__).parents[1]
TASKS = ("activation/relu", "math/softmax", "matrix_multiply/matmul", "reduce/sum", "loss/mse_loss")
REPEATED = """
import torch
import triton
import triton.language as tl

@triton.jit
def relu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(x + i, mask=i < n), 0.0), mask=i < n)

def relu(input, inplace=False):
    out = torch.empty_like(input)
    for _ in range({times}):
        relu_kernel[(triton.cdiv(input.numel(), 1024),)](input, out, input.numel(), BLOCK=1024)
    return out
"""
ROW = "{name:34} {mode:7} {calls:>5} {blocks:>6} {stopped:8} {reference:>10} {candidate:>10} {ratio:>8} {interval:>17}"


class Bench:
    """Measures and prints; `wrong` counts what is off."""

    def __init__(self, sandbox: Sandbox):
        self.sandbox, self.lease, self.wrong = sandbox, device_lease(), 0

    def measure(self, task: Task, size: str, source: str | None, name: str) -> Measurement | None:
        candidate = source and Candidate("bench", task.category, task.name, None, None, source, "", Path("bench.py"))
        start = time.perf_counter()
        speed = Speed(task, size, candidate or None, self.sandbox, self.lease, torch.cuda.get_device_name(), 120.0)
        outcome, found = speed.measured()
        if found is None:
            self.wrong += 1
            print(f"{name:34} {outcome.verdict.name}: {outcome.reason}\n{outcome.details}")
            return None
        print(
            ROW.format(
                name=name,
                mode=found.mode,
                calls=found.facts["calls"],
                blocks=found.facts["blocks"],
                stopped=found.stopped,
                reference=f"{median(found.reference_seconds) * 1e6:.2f} us",
                candidate=f"{median(found.seconds) * 1e6:.2f} us",
                ratio=f"{found.speedup:.4f}",
                interval=f"{found.low:.4f}-{found.high:.4f}",
            ),
            f" late {found.facts['late']}  {time.perf_counter() - start:.1f} s  {found.facts['why']}",
            flush=True,
        )
        return found

    def expect(self, holds: bool, text: str) -> None:
        if not holds:
            self.wrong += 1
            print(f"    WRONG: {text}")


def against_itself(bench: Bench, names: tuple[str, ...]) -> None:
    for name in names:
        task = load_task(ROOT / "tasks" / f"{name}.py")
        for size in task.sizes:
            found = bench.measure(task, size, None, f"{task.name} {size}, itself")
            if found is not None:
                bench.expect(abs(found.speedup - 1) < 0.01, "PyTorch against itself is not within 1 % of 1")


def repeated(bench: Bench) -> None:
    task = load_task(ROOT / "tasks" / "activation" / "relu.py")
    for size in task.sizes:
        once = bench.measure(task, size, REPEATED.format(times=1), f"relu {size}, one launch")
        for times in (2, 3):
            more = bench.measure(task, size, REPEATED.format(times=times), f"relu {size}, {times} launches")
            if once is not None and more is not None:
                factor = once.speedup / more.speedup
                within = 0.03 if size == "128m" else 0.3
                bench.expect(abs(factor / times - 1) < within, f"{times} launches take {factor:.3f} times as long")
                print(f"    factor {factor:.3f}")


def main() -> int:
    if not torch.cuda.is_available():
        print("a GPU is needed")
        return 2
    print(torch.cuda.get_device_name(), torch.__version__)
    heads = ("name", "mode", "calls", "blocks", "stopped", "reference", "candidate", "ratio", "interval")
    print(ROW.format(**{head: head for head in heads}))
    with Sandbox("cuda") as sandbox:
        bench = Bench(sandbox)
        against_itself(bench, tuple(sys.argv[1:]) or TASKS)
        repeated(bench)
    print(f"{bench.wrong} wrong")
    return int(bench.wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
