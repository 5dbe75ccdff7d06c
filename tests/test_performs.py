"""Stage three from end to end on the host's clock: the processes, what is checked, and the verdicts. Times mean nothing
here, and are not looked at.
"""

import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kernelbenchx.candidate import Candidate
from pytest_kernelbenchx.judge.speed import Speed
from pytest_kernelbenchx.judge.verdicts import Verdict
from pytest_kernelbenchx.loading import load_task
from pytest_kernelbenchx.performance.hardware import Gpu
from pytest_kernelbenchx.performance.lease import NoLease
from pytest_kernelbenchx.sandbox.host import Sandbox

ROOT = Path(__file__).parents[1]
KERNEL = """
import torch
import triton
import triton.language as tl

@triton.jit
def relu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(x + i, mask=i < n), 0.0), mask=i < n)

def launch(input, out, blocks=None):
    n = input.numel()
    relu_kernel[(blocks or triton.cdiv(n, 8192),)](input, out, n, BLOCK=8192)
    return out
"""
RIGHT = "def relu(input, inplace=False):\n    return launch(input, torch.empty_like(input))"
SMALL, LARGE = {"S": [3000]}, {"S": [300_000]}


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox("cpu") as sandbox:
        yield sandbox


@pytest.fixture
def measured(sandbox):
    """Stage three of a source (None: PyTorch itself) for a task at a size."""

    def run(source, task="activation/relu", axes=LARGE, timeout=60.0, gpu=None):
        loaded = load_task(ROOT / "tasks" / f"{task}.py")
        loaded = replace(loaded, sizes={"size": axes})
        candidate = None
        if source is not None:
            text = KERNEL + textwrap.dedent(source) if task == "activation/relu" else source
            candidate = Candidate("m", "any", loaded.name, None, None, text, "", Path("x.py"))
        speed = Speed(loaded, "size", candidate, sandbox, NoLease(), "a GPU of no name", timeout)
        speed.gpu, speed.budget = gpu, 0.1
        return speed.measured()

    return run


def expert(name):
    return (ROOT / "candidates" / "expert" / f"{name}.py").read_text()


@pytest.mark.parametrize(("axes", "checked"), [(SMALL, "whole"), (LARGE, "sample")])
def test_right_candidate(measured, axes, checked):
    outcome, measurement = measured(RIGHT, axes=axes)
    assert outcome.passed, outcome
    assert len(measurement.seconds) == len(measurement.reference_seconds) >= 2
    assert measurement.low < measurement.speedup < measurement.high
    assert measurement.moved == 8 * axes["S"][0]
    assert measurement.iou is None
    assert "not in the table" in measurement.facts["peaks"]
    assert (measurement.facts["checked"], measurement.facts["truth"]) == (checked, "float64")
    assert outcome.facts["speedup"] == measurement.speedup


def test_pytorch_against_itself(measured):
    outcome, measurement = measured(None)
    assert outcome.passed
    assert measurement.speedup > 0


@pytest.mark.parametrize(
    ("source", "verdict", "says"),
    [
        (
            "def relu(input, inplace=False):\n    return launch(input, torch.zeros_like(input), blocks=16)",
            Verdict.WRONG_VALUES,
            "right on the drawn cases, wrong at size size",
        ),
        (
            """
            kept = {}
            def relu(input, inplace=False):
                out = kept.setdefault(input.shape, torch.empty_like(input))
                return launch(input, out)
            """,
            Verdict.RESULT_REUSED,
            "same memory",
        ),
        (
            """
            kept = {}
            def relu(input, inplace=False):
                if input.shape not in kept:
                    kept[input.shape] = launch(input, torch.empty_like(input))
                return kept[input.shape].clone()
            """,
            Verdict.WRONG_VALUES,
            "wrong at size",
        ),
        (
            """
            kept = {}
            def relu(input, inplace=False):
                key = input.data_ptr()
                if key not in kept:
                    kept[key] = launch(input, torch.empty_like(input))
                return kept[key].clone()
            """,
            Verdict.WRONG_VALUES,
            "wrong at size",
        ),
        (
            "def relu(input, inplace=False):\n    return launch(input, torch.empty_like(input))[:-1]",
            Verdict.WRONG_OUTPUT,
            "shape",
        ),
        (
            "def relu(input, inplace=False):\n    raise ValueError('too large for me')",
            Verdict.RUNTIME_ERROR,
            "too large for me",
        ),
        (
            """
            calls = []
            def relu(input, inplace=False):
                calls.append(1)
                if len(calls) > 5:
                    raise ValueError('enough')
                return launch(input, torch.empty_like(input))
            """,
            Verdict.RUNTIME_ERROR,
            "enough",
        ),
        (
            """
            import os
            def relu(input, inplace=False):
                os._exit(0)
            """,
            Verdict.NO_RESULT,
            "the first call",
        ),
        ("def other(input):\n    return input", Verdict.NO_ENTRY_POINT, "relu"),
    ],
    ids=["part", "buffer", "stale", "remembered", "shape", "raises", "raises-later", "exits", "no-entry"],
)
def test_wrong_candidate(measured, source, verdict, says):
    outcome, measurement = measured(source)
    assert outcome.verdict is verdict, outcome
    assert says in outcome.reason
    assert measurement is None


def test_place_of_a_wrong_element_is_that_of_the_output(measured):
    outcome, _ = measured(
        "def relu(input, inplace=False):\n    return launch(input, torch.zeros_like(input), blocks=36)"
    )
    assert "in the output it is [29" in outcome.details  # 36 blocks of 8192 end at 294,912 of 300,000


def test_hanging_candidate(measured):
    source = "def relu(input, inplace=False):\n    while True:\n        pass"
    outcome, _ = measured(source, timeout=6.0)
    assert outcome.verdict is Verdict.TIMEOUT


FORGERIES = {
    "no-times": "{'ok': True}",
    "zero": "{**honest, 'candidate': [0.0] * len(honest['candidate'])}",
    "negative": "{**honest, 'candidate': [-1.0] * len(honest['candidate'])}",
    "fewer": "{**honest, 'candidate': honest['candidate'][:-1]}",
    "text": "{**honest, 'reference': 'fast'}",
    "mode": "{**honest, 'mode': 'magic'}",
    "sets": "{**honest, 'kept': [99]}",
}


@pytest.mark.parametrize("forged", FORGERIES.values(), ids=FORGERIES.keys())
def test_forged_report(measured, forged):
    source = f"""
        import sys
        timing = sys.modules["pytest_kernelbenchx.sandbox.timed"].Timing
        time = timing.time
        def lie(self, header):
            honest, buffers = time(self, header)
            return {forged}, buffers
        timing.time = lie
        """
    outcome, _ = measured(textwrap.dedent(source) + RIGHT, axes=SMALL)
    assert outcome.verdict is Verdict.TAMPERED, outcome


@pytest.mark.parametrize(
    "forged", ["{'ok': True}", "{**honest, 'forms': {}}", "{**honest, 'forms': {'value': [None]}}"]
)
def test_forged_outputs(measured, forged):
    source = f"""
        import sys
        timing = sys.modules["pytest_kernelbenchx.sandbox.timed"].Timing
        sample = timing.sample
        def lie(self, header):
            honest, buffers = sample(self, header)
            return {forged}, buffers
        timing.sample = lie
        """
    outcome, _ = measured(textwrap.dedent(source) + RIGHT, axes=SMALL)
    assert outcome.verdict is Verdict.TAMPERED, outcome


def test_failing_reference_is_no_fault_of_the_candidate(measured):
    outcome, _ = measured(RIGHT, task="activation/relu", axes={"S": [-5]})
    assert outcome.verdict is Verdict.INFRA_ERROR
    assert "without any candidate" in outcome.reason


def test_time_below_the_roofline(measured):
    outcome, measurement = measured(RIGHT, axes=SMALL, gpu=Gpu("slow", 1.0, {"f32": 1.0}, 1, "high"))
    assert outcome.verdict is Verdict.TOO_FAST
    assert "23999 bytes" in outcome.reason
    assert measurement is None


def test_roofline_says_nothing_of_what_fits_the_cache(measured):
    outcome, measurement = measured(RIGHT, axes=SMALL, gpu=Gpu("slow", 1.0, {"f32": 1.0}, 1 << 30, "high"))
    assert outcome.passed
    assert measurement.iou > 1


def test_changed_inputs_are_checked_on_fresh_ones(measured):
    axes = {"N": 2000, "momentum_buffer": True}
    source = expert("optimizer/SGD")
    outcome, _ = measured(source, "optimizer/SGD", axes)
    assert outcome.passed, outcome
    broken = source + "\n\nright = SGD\n\ndef SGD(param, grad, momentum_buffer=None, *args, **kwargs):\n"
    broken += "    before = momentum_buffer.clone()\n    out = right(param, grad, momentum_buffer, *args, **kwargs)\n"
    broken += "    out = tuple(t.clone() for t in out)\n    momentum_buffer.copy_(before)\n    return out\n"
    outcome, _ = measured(broken, "optimizer/SGD", axes)
    assert outcome.verdict is Verdict.WRONG_VALUES
    assert "momentum_buffer" in outcome.reason


def test_random_outputs_are_judged_whole(measured):
    axes = {"B": 1, "M": 48, "N": 40, "K": 16}
    outcome, measurement = measured(expert("fusion/fused_bmm_dropout_gelu"), "fusion/fused_bmm_dropout_gelu", axes)
    assert outcome.passed, outcome
    assert measurement.facts["checked"] == "whole"


def test_factorisations_too_large_to_send_are_checked_by_their_form(measured, monkeypatch):
    monkeypatch.setattr("pytest_kernelbenchx.judge.verifying.WHOLE_BYTES", 1)
    outcome, measurement = measured(expert("linear_algebra/svd"), "linear_algebra/svd", {"B": [], "M": 4, "N": 3})
    assert outcome.passed, outcome
    assert measurement.facts["checked"] == "form"
