"""A court for the red team: candidates are judged as always, but no policy reads their source, and each is followed by
an honest one in the same sandbox.
"""

import hashlib
from pathlib import Path
from types import SimpleNamespace

from pytest_kernelbenchx import task
from pytest_kernelbenchx.candidate import Candidate
from pytest_kernelbenchx.judge import policy
from pytest_kernelbenchx.judge.evaluation import Evaluation
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.performance.lease import NoLease
from pytest_kernelbenchx.sandbox.host import Sandbox
from pytest_kernelbenchx.settings import Settings

KERNEL = """
import ctypes, os, signal, socket, sys, threading, time
import torch, triton, triton.language as tl

@triton.jit
def _times(x, out, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)

def times(x, factor):
    out = torch.empty_like(x)
    if x.numel():
        _times[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), factor, BLOCK=1024)
    return out
"""
HONEST = KERNEL + "\ndef double(x):\n    return times(x, 2)\n"
SECONDS = {"compiles": 60.0, "correct": 120.0, "performs": 60.0}


@task(inputs={"x": "f32[N]"}, output="f32[N]", sizes={"s": {"N": 4}}, layouts=(), examples=[dict(N=300)])
def double(x):
    """The task of the court."""
    return x * 2


class Court:
    """Judges candidates for `double`, one after the other, in one sandbox.

    Args:
        patch: a pytest.MonkeyPatch, which takes away the policy and most drawn cases.
        device: "cpu" or "cuda".
    """

    def __init__(self, patch, device: str = "cpu"):
        patch.setattr(policy, "examine", lambda *_: policy.Examination((), ()))
        patch.setattr("pytest_kernelbenchx.judge.sharing.CASES", {"quick": 4})
        patch.setattr("pytest_kernelbenchx.judge.sharing.LARGE", {})
        settings = Settings(device, SECONDS, 8 << 30, "quick", 0, None, Path(), Path(), ())
        self.sandbox = Sandbox(device)
        self.laboratory = SimpleNamespace(
            settings=settings, sandbox=self.sandbox, lease=NoLease(), record=lambda *_: {"stage": "none"}
        )

    def evaluation(self, source: str) -> Evaluation:
        digest = hashlib.sha256(source.encode()).hexdigest()
        return Evaluation(
            double, Candidate("red", "math", "double", None, None, source, digest, Path("double.py")), self.laboratory
        )

    def outcome(self, source: str) -> Outcome:
        """Of stage two; of stage one where it is not passed."""
        evaluation = self.evaluation(source)
        try:
            compiles = evaluation.outcome("compiles")
            return evaluation.outcome("correct") if compiles.passed else compiles
        finally:
            evaluation.close()

    def verdict(self, source: str) -> str:
        """Of a candidate; the honest one after it must be judged right."""
        outcome = self.outcome(source)
        honest = self.outcome(HONEST)
        assert honest.verdict is Verdict.PASSED, (honest, outcome)
        return outcome.verdict.name
