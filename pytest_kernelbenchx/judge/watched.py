"""Calls of a candidate that are watched: which cases, what was seen, and what the record says of it."""

from dataclasses import dataclass, field, replace
from typing import Any

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge import messages
from pytest_kernelbenchx.judge.caller import Caller
from pytest_kernelbenchx.judge.dependence import made
from pytest_kernelbenchx.judge.freshness import FULL, judge_freshness
from pytest_kernelbenchx.judge.judging import judge, tensors_of
from pytest_kernelbenchx.judge.oracle import Expectation, expect
from pytest_kernelbenchx.judge.steadiness import ELEMENTS, OTHER, example_of, is_literal
from pytest_kernelbenchx.judge.verdicts import Outcome, OutcomeError, Verdict
from pytest_kernelbenchx.sandbox.evidence import Evidence, Memory
from pytest_kernelbenchx.task import Task

CASES, MUCH = 3, 1 << 20  # that are watched at most; elements and operations of kernels after which none is added
FEW = 64  # elements of a case that says little


@dataclass
class Watched:
    """The watched calls of a candidate.

    Attributes:
        seen: of each, its case and the evidence.
        elements: of their outputs.
        launches: of own kernels, in each.
        refused: why no more was watched, if something stood in the way.
        failure: what they showed to be wrong.
    """

    seen: list[tuple[Case, Evidence]] = field(default_factory=list)
    elements: int = 0
    launches: list[int] = field(default_factory=list)
    refused: str | None = None
    failure: Outcome | None = None


def located(task: Task, case: Case) -> dict[str, str]:
    return {"case": case.to_json(), "call": messages.call(task, expect(task, case).arguments)}


def chosen(task: Task, passed: list[Case]) -> list[Case]:
    """Cases with random values that are not slow in the interpreter, with different options, layouts and types."""
    kinds: dict[Any, Case] = {}
    for case in sorted(usable(task, passed), key=lambda case: _order(task.elements(case.axes))):
        kinds.setdefault((case.dtype, str(case.layouts), str(case.options)), case)
    found = [case for case in kinds.values() if task.elements(case.axes) <= 4 * ELEMENTS]
    return [replace(case, seed=case.seed + 3 * OTHER) for case in found[:CASES]]


def usable(task: Task, passed: list[Case]) -> list[Case]:
    """The cases with random values and something to do."""
    if not task.inputs:
        return [case for case in reversed(passed) if "raises" not in example_of(task, case)]
    drawn = [case for case in passed if case.fill != "edge" and not is_literal(task, case)]
    return [case for case in drawn if task.elements(case.axes)]


def _order(elements: int) -> tuple[int, int]:
    """First those up to ELEMENTS, the largest first, then larger ones, then tiny ones."""
    if FEW <= elements <= ELEMENTS:
        return 0, -elements
    return (1, elements) if elements > ELEMENTS else (2, -elements)


def watch(task: Task, caller: Caller, cases: list[Case]) -> Watched:
    """Call the cases, watched, until one shows something wrong, or their kernels have done much: no clock decides."""
    found = Watched(refused=None if cases else "no case has a usable size")
    for case in cases:
        if sum(evidence.own or 0.0 for _, evidence in found.seen) > MUCH:
            break
        try:
            expected = expect(task, case)
            outcome = watch_one(task, caller, case, expected, found)
        except OutcomeError as error:
            outcome = error.outcome
        if outcome.verdict is Verdict.UNINITIALISED_READ or "never_written" in outcome.facts:
            found.failure = replace(outcome, facts={**outcome.facts, **located(task, case)})
            break
        if not outcome.passed:
            found.refused = f"{outcome.verdict.name}: {outcome.reason}"[:300]
    return found


def watch_one(task: Task, caller: Caller, case: Case, expected: Expectation, found: Watched) -> Outcome:
    """The outcome of one watched call; its evidence is added to what was found if it is right."""
    reply = caller.call(case, expected, audit={"fresh": FULL})
    outcome = judge(task, case, expected, reply)
    if outcome.verdict is Verdict.WRONG_VALUES and task.random is None:
        return judge_freshness(task, caller, case, expected) or outcome
    if outcome.passed and reply.evidence is not None:
        found.seen.append((case, reply.evidence))
        found.elements += made(expected)
        found.launches.append(reply.launches)
    return outcome


def facts_of(task: Task, watched: Watched) -> dict[str, Any]:
    """What the record says of the watched calls."""
    facts: dict[str, Any] = {"cases": len(watched.seen)}
    if watched.refused:
        facts["not_audited"] = watched.refused
    for case, evidence in watched.seen[:1]:
        facts |= {"case": case.to_json(), "operators": {kind: count for kind, count in evidence.kinds.items() if count}}
        facts |= {"compute": {name: list(work) for name, work in evidence.compute.items()}} if evidence.compute else {}
        facts |= {"fault": evidence.fault} if evidence.fault else {}
        if evidence.memory is not None:
            facts |= memory_facts(task, case, evidence.memory)
    return facts


def memory_facts(task: Task, case: Case, seen: Memory) -> dict[str, Any]:
    counts = {"loads": seen.loads, "stores": seen.stores, "dot_macs": seen.macs, "unknown": seen.unknown}
    found: dict[str, Any] = {"output_by_kernels": seen.written, **counts}
    arguments = expect(task, case).arguments
    owners = [name for name in task.parameters if name in arguments for _ in tensors_of(arguments[name])]
    if len(owners) == len(seen.read):
        found["inputs_read"] = {}
        for name, share in zip(owners, seen.read, strict=True):
            found["inputs_read"][name] = max(share, found["inputs_read"].get(name, 0.0))
    if seen.uninitialised:
        found["uninitialised"] = seen.uninitialised
    return found
