"""A GPU that is not here, for the tests of what becomes of device times: stages one and two pass at once, and every
size has times that follow from who is timed. Applied with monkeypatch in this process, and copied as conftest.py into
a tree for its workers.

The candidate `slow` takes twice PyTorch's time, every other half of it; `wrong` is wrong at the size 1m. All times are
multiplied by the environment's TIMES.
"""

import os
from types import SimpleNamespace

from pytest_kernelbenchx import settings
from pytest_kernelbenchx.judge import speed
from pytest_kernelbenchx.judge.evaluation import Evaluation
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.laboratory import Laboratory
from pytest_kernelbenchx.performance.lease import NoLease
from pytest_kernelbenchx.performance.measurement import Measurement

EAGER = [3e-6 * (1 + block / 70) for block in range(6)]
RATIO = {"eager": 1.0, "slow": 2.0}
ENVIRONMENT = {"device": "cuda", "device_name": "Pretend GPU", "suite": "1", "torch": "2", "triton": "3", "python": "3"}


def seconds(method):
    """What is measured of a method: one time a block."""
    factor = RATIO.get(method, 0.5) * float(os.environ.get("TIMES", "1"))
    return [factor * block for block in EAGER]


def performs(task, size, candidate, laboratory):
    method = candidate.method if candidate else "eager"
    if method == "wrong" and size == "1m":
        return Outcome(Verdict.WRONG_VALUES, "made up"), None
    ratio = 1 / RATIO.get(method, 0.5)
    times = {"seconds": seconds(method), "reference_seconds": EAGER}
    shares = {"iou": 0.4, "mfu": 0.1, "efficiency": 0.4}
    more = {"mode": "graph", "stopped": "precise", "moved": 8, "flops": 1, "bound": "memory"}
    found = Measurement(size=size, speedup=ratio, low=ratio - 0.1, high=ratio + 0.1, **times, **shares, **more)
    return Outcome(Verdict.PASSED, facts=found.as_facts()), found


def apply(put):
    """Put everything in place, with setattr or its like."""
    put(settings, "device", lambda given: "cuda")
    put(Laboratory, "environment", ENVIRONMENT)
    put(Laboratory, "lease", NoLease())
    stand_in = SimpleNamespace(facts={}, device="cuda", prepare=lambda: None, forget=lambda compiled: None)
    put(Laboratory, "sandbox", stand_in)
    put(Evaluation, "_compiles", lambda self: Outcome(Verdict.PASSED))
    put(Evaluation, "_correct", lambda self: Outcome(Verdict.PASSED))
    put(speed, "performs", performs)


if __name__ == "conftest" and speed.performs.__module__ == speed.__name__:  # not yet applied in this process
    apply(setattr)
