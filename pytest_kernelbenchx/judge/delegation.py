"""After all else in stage two: how much of the work is PyTorch's, and is fresh memory written before it is read?

A few cases that were right are called once more, watched. On a GPU the share of device time that is not in the
candidate's own kernels is measured on the largest of them; moves and fills (copies, casts, zeros) do not count. In the
interpreter the share is an estimate: elements and floating-point operations of PyTorch's operators that compute, of
these and what own kernels loaded and stored, and two for each multiplication of their matrix products.

DELEGATED is a candidate whose kernels do none of the work: they hand on what an operator computed, read nothing that
came from the inputs, or touch nothing. A part that is delegated is told, and a failure only with
`--kbx-delegation=forbid`. What can't be watched is `not_audited`, and hurts nobody.
"""

from collections.abc import Iterable
from dataclasses import replace

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge.caller import Caller
from pytest_kernelbenchx.judge.oracle import expect
from pytest_kernelbenchx.judge.verdicts import Outcome, OutcomeError, Verdict
from pytest_kernelbenchx.judge.watched import Watched, chosen, facts_of, located, usable, watch
from pytest_kernelbenchx.sandbox.evidence import Evidence
from pytest_kernelbenchx.task import Task

FEWEST = 64  # elements that the outputs of the watched cases have together before anything is held against a candidate
LISTED, LARGEST = 8, 1 << 20  # operators that are named; elements of the case whose device time is measured
OWN, MOVES = "own", "moves"
ESTIMATE, DEVICE_TIME = "estimate", "device time"


def audited(task: Task, caller: Caller, passed: Iterable[Case], outcome: Outcome, forbid: bool) -> Outcome:
    """The outcome of a candidate whose cases passed, with what watching it showed."""
    passed = list(passed)
    watched = watch(task, caller, chosen(task, passed))
    share, by, names = delegated(watched.seen)
    if caller.sandbox.device == "cuda" and watched.failure is None:
        evidence, refused = profiled(task, caller, passed)
        watched.refused = watched.refused or refused
        share, by, names = device_share(evidence) if evidence else (None, by, names)
    facts = {**outcome.facts, "audit": facts_of(task, watched)}
    if share is not None:
        facts |= {"delegated_share": round(share, 4), "delegated_by": by, "delegated": names}
    found = watched.failure or judge_delegation(watched, share, names, by, forbid, task.random is not None)
    if found is None:
        return replace(outcome, facts=facts)
    facts |= found.facts
    if watched.seen and "case" not in facts:
        facts |= located(task, watched.seen[0][0])
    return replace(found, facts=facts)


def delegated(seen: list[tuple[Case, Evidence]]) -> tuple[float | None, str, list[str]]:
    """The estimated share, and the operators, the largest first; None where own work is not known."""
    work: dict[str, float] = {}
    for _, evidence in seen:
        for name, (_, elements, flops) in evidence.compute.items():
            work[name] = work.get(name, 0.0) + elements + flops
    names = sorted(work, key=lambda name: -work[name])[:LISTED]
    known = [evidence for _, evidence in seen if evidence.own is not None]
    own, theirs = sum(evidence.own or 0.0 for evidence in known), sum(evidence.delegated for evidence in known)
    if not known or own + theirs == 0:
        return None, ESTIMATE, names
    return theirs / (own + theirs), ESTIMATE, names


def profiled(task: Task, caller: Caller, passed: list[Case]) -> tuple[Evidence | None, str | None]:
    """What took device time in the largest case that is soon judged, or why that was not measured."""
    small = [case for case in usable(task, passed) if task.elements(case.axes) <= LARGEST]
    case = max(small, key=lambda case: task.elements(case.axes), default=None)
    if case is None:
        return None, "no case has a usable size"
    try:
        reply = caller.call(case, expect(task, case), audit={"profile": True})
    except OutcomeError as error:
        return None, f"{error.outcome.verdict.name}: {error.outcome.reason}"[:300]
    if reply.failure is not None or reply.evidence is None:
        return None, f"profiling failed: {reply.failure.reason if reply.failure else 'no evidence'}"[:300]
    return (None, reply.evidence.fault) if reply.evidence.fault else (reply.evidence, None)


def device_share(evidence: Evidence) -> tuple[float | None, str, list[str]]:
    """The share of device time in kernels that are not the candidate's own, and what they were launched for."""
    theirs = {name: time for name, time in evidence.device.items() if name not in (OWN, MOVES)}
    total = evidence.device.get(OWN, 0.0) + sum(theirs.values())
    names = sorted(theirs, key=lambda name: -theirs[name])[:LISTED]
    return (sum(theirs.values()) / total if total else None), DEVICE_TIME, names


def judge_delegation(
    watched: Watched, share: float | None, names: list[str], by: str, forbid: bool, drawn: bool
) -> Outcome | None:
    """DELEGATED where own kernels do none of the work, or where a part is delegated and that is forbidden.

    `drawn`: the results hold random numbers, which kernels may draw without reading anything.
    """
    work = ", ".join(names)
    launched = bool(watched.seen) and all(watched.launches)  # a size that has no kernel is another matter: NO_KERNEL
    if launched and watched.elements >= FEWEST:
        evidence = [evidence for _, evidence in watched.seen]
        copied = [one.copied for one in evidence if one.copied != ""]
        if copied and None not in copied:
            what = f"its kernels hand on what {copied[0]} computed, unchanged"
            return Outcome(Verdict.DELEGATED, f"{what}: they do none of the work")
        if not drawn and all(idle(one) for one in evidence):
            what = f"its kernels read nothing that comes from the inputs, and PyTorch computes ({work})"
            return Outcome(Verdict.DELEGATED, f"{what}: they do none of the work")
    if share == 1.0 and by == ESTIMATE and launched:
        return Outcome(Verdict.DELEGATED, f"all of the work is in {work} ({by}), none in the candidate's own kernels")
    if forbid and share:
        what = f"{share:.1%} of the work is in {work} ({by}), which --kbx-delegation=forbid rules out"
        return Outcome(Verdict.DELEGATED, f"{what}: do it in a kernel")
    return None


def idle(evidence: Evidence) -> bool:
    """Whether operators compute from tensors that were passed, and own kernels have read none of what came of them."""
    seen = evidence.memory
    return seen is not None and bool(evidence.compute and seen.read) and seen.data_loads == seen.unknown == 0
