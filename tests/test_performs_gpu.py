"""Stage three on a GPU: speedups that are known beforehand, and cheats that only show at the sizes that are timed."""

from pathlib import Path
from statistics import median

import pytest
import torch

from pytest_kernelbenchx.candidate import Candidate
from pytest_kernelbenchx.judge.speed import Speed
from pytest_kernelbenchx.judge.verdicts import Verdict
from pytest_kernelbenchx.loading import load_task
from pytest_kernelbenchx.performance.lease import device_lease
from pytest_kernelbenchx.sandbox.host import Sandbox

ROOT = Path(__file__).parents[1]
KERNEL = """
import torch
import triton
import triton.language as tl

@triton.jit
def relu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(x + i, mask=i < n), 0.0), mask=i < n)

def launch(input, out, most=1 << 40):
    n = input.numel()
    relu_kernel[(min(triton.cdiv(n, 1024), most),)](input, out, n, BLOCK=1024)
    return out
"""
ONCE = "def relu(input, inplace=False):\n    return launch(input, torch.empty_like(input))\n"
TWICE = "def relu(input, inplace=False):\n    return launch(input, launch(input, torch.empty_like(input)))\n"
PART = "def relu(input, inplace=False):\n    return launch(input, torch.empty_like(input), most=1 << 16)\n"
BUFFER = """
kept = {}
def relu(input, inplace=False):
    return launch(input, kept.setdefault(input.shape, torch.empty_like(input)))
"""
STALE = """
kept = {}
def relu(input, inplace=False):
    if input.shape not in kept:
        kept[input.shape] = launch(input, torch.empty_like(input))
    return kept[input.shape].clone()
"""
REMEMBERED = """
kept = {}
def relu(input, inplace=False):
    key = input.data_ptr()
    if key not in kept:
        kept[key] = launch(input, torch.empty_like(input))
    return kept[key].clone()
"""
WAITS = """
def relu(input, inplace=False):
    out = launch(input, torch.empty_like(input))
    out.view(-1)[0].item()
    return out
"""
FAULTS = """
def relu(input, inplace=False):
    out = torch.empty_like(input)
    relu_kernel[(1 << 24,)](input, out, 1 << 40, BLOCK=1024)  # far beyond both tensors
    return out
"""


@pytest.fixture(scope="module")
def sandbox():
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    with Sandbox("cuda") as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def measured(sandbox):
    """Outcome and measurement of a source (None: PyTorch) for relu at a size, each taken once."""
    known = {}

    def run(source, size):
        if (source, size) not in known:
            task = load_task(ROOT / "tasks" / "activation" / "relu.py")
            text = None if source is None else KERNEL + source
            candidate = (
                None if text is None else Candidate("m", "activation", "relu", None, None, text, "", Path("x.py"))
            )
            name = torch.cuda.get_device_name()
            known[source, size] = Speed(task, size, candidate, sandbox, device_lease(), name, 120.0).measured()
        return known[source, size]

    return run


@pytest.mark.parametrize("size", ["4k", "1m", "128m"])
def test_pytorch_is_as_fast_as_itself(measured, size):
    outcome, measurement = measured(None, size)
    assert outcome.passed, outcome
    assert abs(measurement.speedup - 1) < 0.01, measurement.as_facts()
    assert measurement.low <= 1 <= measurement.high


@pytest.mark.parametrize(("size", "mode"), [("4k", "graph"), ("1m", "graph"), ("128m", "events")])
def test_right_kernel(measured, size, mode):
    outcome, measurement = measured(ONCE, size)
    assert outcome.passed, outcome
    assert 0.5 < measurement.speedup < 2
    assert measurement.mode == mode
    assert measurement.facts["late"] == 0


def test_large_copy_is_near_the_bandwidth(measured):
    _, measurement = measured(ONCE, "128m")
    if measurement.iou is None:
        pytest.skip(measurement.facts["peaks"])
    assert 0.5 < measurement.iou < 1.05
    assert measurement.bound == "memory"


@pytest.mark.parametrize("size", ["4k", "1m", "128m"])
def test_twice_the_work_takes_twice_the_time(measured, size):
    _, once = measured(ONCE, size)
    outcome, twice = measured(TWICE, size)
    assert outcome.passed, outcome
    within = 0.04 if size == "128m" else 0.25  # the second pass over a small tensor finds it in the cache
    assert median(twice.seconds) / median(once.seconds) == pytest.approx(2, rel=within)


@pytest.mark.parametrize(
    ("source", "verdict"),
    [(PART, Verdict.WRONG_VALUES), (BUFFER, Verdict.RESULT_REUSED), (STALE, Verdict.WRONG_VALUES)],
    ids=["part", "buffer", "stale"],
)
def test_wrong_at_the_large_size(measured, source, verdict):
    outcome, measurement = measured(source, "128m")
    assert outcome.verdict is verdict, outcome
    assert measurement is None


@pytest.mark.parametrize("size", ["4k", "1m", "128m"])
def test_results_remembered_by_the_address_of_inputs(measured, size):
    outcome, _ = measured(REMEMBERED, size)
    assert outcome.verdict is Verdict.WRONG_VALUES, outcome


def test_part_is_right_at_the_small_size(measured):
    outcome, _ = measured(PART, "1m")
    assert outcome.passed, outcome


def test_a_kernel_that_waits_for_the_device_is_measured_by_events(measured):
    outcome, measurement = measured(WAITS, "4k")
    assert outcome.passed, outcome
    assert measurement.mode == "events"
    assert measurement.facts["why"]


def test_a_fault_of_the_device_ends_that_process_alone(measured):
    outcome, _ = measured(FAULTS, "4k")
    assert outcome.verdict in (Verdict.RUNTIME_ERROR, Verdict.CRASHED), outcome
    assert measured(ONCE, "4k")[0].passed
