"""Stage three: how fast a candidate is at one size, and whether what it computed there is right.

Three processes, one after the other: in the first the inputs are made, the candidate is imported and compiled, and both
sides are timed while no other process uses the GPU; then it is killed, and a process without a candidate says what the
outputs should have been.
"""

from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from pytest_kernelbenchx.candidate import Candidate
from pytest_kernelbenchx.cases import Case, from_size
from pytest_kernelbenchx.judge.measuring import Prepared, Process, Report, unpredictable
from pytest_kernelbenchx.judge.verdicts import Outcome, OutcomeError, Verdict
from pytest_kernelbenchx.judge.verifying import Verification
from pytest_kernelbenchx.performance import cost, hardware, intervals, roofline
from pytest_kernelbenchx.performance.lease import Lease
from pytest_kernelbenchx.performance.measurement import Measurement
from pytest_kernelbenchx.performance.timing import Plan
from pytest_kernelbenchx.sandbox.host import Sandbox, SandboxError
from pytest_kernelbenchx.task import Task

if TYPE_CHECKING:
    from pytest_kernelbenchx.laboratory import Laboratory

NEEDS_GPU = "stage three needs a GPU, and none is used here (--kbx-device=cpu, or no GPU was found)"


class Speed:
    """One size of one task for one candidate, or for PyTorch against itself.

    Args:
        candidate: None for PyTorch.
        sandbox: where processes come from.
        lease: of the GPU.
        name: the GPU's, as the driver gives it.
        timeout: seconds that any one step may take.

    Attributes:
        budget: seconds after which no more blocks are measured.
    """

    def __init__(
        self,
        task: Task,
        size: str,
        candidate: Candidate | None,
        sandbox: Sandbox,
        lease: Lease,
        name: str,
        timeout: float,
    ):
        self.task, self.size, self.candidate = task, size, candidate
        self.sandbox, self.lease, self.name, self.timeout = sandbox, lease, name, timeout
        self.budget = Plan().budget
        self.base = unpredictable()
        self.case: Case = from_size(task, size, self.base)
        self.gpu = hardware.find(name)

    def measured(self) -> tuple[Outcome, Measurement | None]:
        """The verdict, and the times if it is PASSED."""
        try:
            return self._attempt(graphs=True)
        except OutcomeError as error:
            if error.outcome.verdict is not Verdict.RUNTIME_ERROR or not error.outcome.facts.get("timed"):
                return error.outcome, None
        try:  # a capture that fails can leave a process unusable, which is no fault of the kernel
            return self._attempt(graphs=False)
        except OutcomeError as error:
            return error.outcome, None

    def _attempt(self, graphs: bool) -> tuple[Outcome, Measurement | None]:
        process = self._process()
        try:
            with self.lease.shared():
                prepared = process.prepare()
                if self.candidate is not None:
                    process.load(self.candidate)
                first = process.ready()
            with self.lease.exclusive() as waited:
                report = self._timed(process, prepared, graphs)
            verification = Verification(self.task, self.case, self.size, prepared)
            if self.candidate is not None:
                with self.lease.shared():
                    verification.take(process, report.kept)
        finally:
            process.kill()
        outcome = self._judged(verification, report)
        if not outcome.passed:
            return outcome, None
        measurement = self._measurement(prepared, report, first, {**verification.facts, "waited": waited})
        outcome = self._possible(measurement, prepared)
        return outcome, measurement if outcome.passed else None

    def _process(self) -> Process:
        return Process(self.task, self.case, self.base, self.sandbox, self.timeout)

    def _timed(self, process: Process, prepared: Prepared, graphs: bool) -> Report:
        try:
            return process.time(prepared.sets, graphs, self.budget)
        except OutcomeError as error:
            outcome = error.outcome
            facts = {**outcome.facts, "timed": True}
            raise OutcomeError(Outcome(outcome.verdict, outcome.reason, outcome.details, facts)) from None

    def _judged(self, verification: Verification, report: Report) -> Outcome:
        if self.candidate is None:
            return Outcome(Verdict.PASSED)
        if report.reused:
            reason = f"at size {self.size}, outputs of calls on different inputs lie in the same memory"
            return Outcome(Verdict.RESULT_REUSED, f"{reason}; every call must return memory of its own")
        process = self._process()
        try:
            with self.lease.shared():
                return verification.judge(process, self.sandbox.device)
        finally:
            process.kill()

    def _measurement(self, prepared: Prepared, report: Report, first: float, facts: dict[str, Any]) -> Measurement:
        speedup, low, high = intervals.speedup(report.reference, report.candidate)
        moved, operations = cost.moved(self.task, self.case), cost.operations(self.task, self.case)
        used = roofline.utilisation(self.gpu, median(report.candidate), moved, operations, prepared.floor)
        facts = {
            **facts,
            "gpu": self.name,
            "peaks": self.gpu.id if self.gpu else hardware.note(self.name),
            "operations": operations,
            "blocks": len(report.candidate),
            "calls": report.calls,
            "sets": prepared.sets,
            "floor": prepared.floor,
            "reference_first": prepared.first,
            **{name: getattr(report, name) for name in ("why", "warm", "stable", "late", "repeated")},
        }
        return Measurement(
            size=self.size,
            seconds=report.candidate,
            reference_seconds=report.reference,
            speedup=speedup,
            low=low,
            high=high,
            mode=report.mode,
            stopped=report.stopped,
            moved=moved,
            flops=sum(operations.values()),
            iou=used.iou,
            mfu=used.mfu,
            efficiency=used.efficiency,
            bound=used.bound,
            latency=report.latency[1],
            reference_latency=report.latency[0],
            compile_seconds=first,
            facts=facts,
        )

    def _possible(self, measurement: Measurement, prepared: Prepared) -> Outcome:
        """PASSED, or TOO_FAST where inputs and outputs cannot have stayed in the cache."""
        passed = Outcome(Verdict.PASSED, facts=measurement.as_facts())
        if self.gpu is None or self.candidate is None or prepared.bytes <= self.gpu.l2:
            return passed
        moved = max(0, measurement.moved - self.gpu.l2)  # so much may have been in the cache, or still be
        least = roofline.least_seconds(self.gpu, moved, measurement.facts["operations"])
        seconds = median(measurement.seconds)
        if seconds >= least:
            return passed
        reason = (
            f"{seconds * 1e6:.4g} us at size {self.size}, where {moved} bytes past the cache and {measurement.flops} "
            f"operations take {least * 1e6:.4g} us at least on {self.name}: not all the work was done in the time"
        )
        return Outcome(Verdict.TOO_FAST, reason, facts=measurement.as_facts())


def performs(
    task: Task, size: str, candidate: Candidate | None, laboratory: "Laboratory"
) -> tuple[Outcome, Measurement | None]:
    """Stage three of a candidate (of PyTorch itself, if None) at one size."""
    timeout = laboratory.settings.timeouts["performs"]
    name = laboratory.environment["device_name"]
    speed = Speed(task, size, candidate, laboratory.sandbox, laboratory.lease, name, timeout)
    return speed.measured()


class EagerEvaluation:
    """PyTorch beside the candidates: its reference timed against itself.

    Attributes:
        measurements: by size.
        unsent: no records come from here.
    """

    candidate = None

    def __init__(self, task: Task, laboratory: "Laboratory"):
        self.task, self.laboratory = task, laboratory
        self.measurements: dict[str, Measurement] = {}
        self.unsent: list[dict[str, Any]] = []

    def performs(self, size: str) -> None:
        """Time the reference at one size; the running test is skipped without a GPU."""
        if self.laboratory.settings.device == "cpu":
            pytest.skip(NEEDS_GPU)
        if size in self.measurements:
            return
        try:
            outcome, measurement = performs(self.task, size, None, self.laboratory)
        except SandboxError as error:
            outcome, measurement = Outcome(Verdict.INFRA_ERROR, str(error)), None
        if measurement is None:
            pytest.fail(f"{outcome.verdict.name}: {outcome.reason}\n{outcome.details}", pytrace=False)
        self.measurements[size] = measurement

    def close(self) -> None:
        """There is nothing to close."""
