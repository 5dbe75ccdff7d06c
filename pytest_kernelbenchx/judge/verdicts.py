"""What can be said of a candidate after a stage: one word, one sentence, and the facts behind them."""

import enum
from dataclasses import dataclass, field
from typing import Any


class Verdict(enum.Enum):
    """The closed set of verdicts; `kind` groups them for counting."""

    PASSED = "the stage is passed"

    SYNTAX = "the file does not parse"
    NO_ENTRY_POINT = "no top-level function has the task's name"
    IMPORT_ERROR = "importing the file raised"
    COMPILE_ERROR = "a Triton kernel does not compile"
    RUNTIME_ERROR = "a call raised"
    WRONG_OUTPUT = "type, number, shape, dtype or device of what was returned is wrong"
    WRONG_VALUES = "the numbers are wrong"
    NOT_QUANTIZED = "the result is more exact than quantized arithmetic can be"
    NONDETERMINISTIC = "the same call gives different results"
    OUT_OF_BOUNDS = "a kernel read or wrote outside its tensors"
    UNINITIALISED_READ = "a kernel read memory that nothing had written"
    CRASHED = "the process died"
    TIMEOUT = "a call took longer than its limit"
    OUT_OF_MEMORY = "memory ran out"
    INCOMPLETE = "a size failed, so no speedup is given"
    NO_RESULT = "the process ended without an answer"

    FORBIDDEN = "the source does what this task rules out"
    NO_KERNEL = "no Triton kernel of the candidate's own was launched"
    DELEGATED = "others' operators did the work"
    INPUT_MUTATED = "an input was changed that the contract protects"
    RESULT_REUSED = "an earlier result was handed out again"
    ASYNC_WORK = "the output was still being written after the call had returned"
    LAZY_OUTPUT = "the output is no plain tensor"
    TAMPERED = "the answer channel or the process was interfered with"
    INTROSPECTION = "the candidate looked into the judge"
    TOO_FAST = "faster than the hardware allows"

    NOT_JUDGED = "this machine cannot run the candidate; no statement about it"
    SKIPPED = "the stage did not run; no statement about the candidate"
    INFRA_ERROR = "the judge itself failed; no statement about the candidate"

    @property
    def kind(self) -> str:
        """`passed`, `failure` (honest), `integrity`, or `none` (no statement about the candidate)."""
        if self is Verdict.PASSED:
            return "passed"
        return "none" if self in NO_STATEMENT else "integrity" if self in INTEGRITY else "failure"


NO_STATEMENT = frozenset({Verdict.NOT_JUDGED, Verdict.SKIPPED, Verdict.INFRA_ERROR})
INTEGRITY = frozenset(
    {
        Verdict.FORBIDDEN,
        Verdict.NO_KERNEL,
        Verdict.DELEGATED,
        Verdict.INPUT_MUTATED,
        Verdict.RESULT_REUSED,
        Verdict.ASYNC_WORK,
        Verdict.LAZY_OUTPUT,
        Verdict.TAMPERED,
        Verdict.INTROSPECTION,
        Verdict.TOO_FAST,
    }
)


@dataclass(frozen=True)
class Outcome:
    """A verdict with its reason.

    Args:
        verdict: the verdict.
        reason: one sentence: what was found, what was wanted, what to do.
        details: more lines for a person: traceback, worst element, captured output.
        facts: what a program may want, JSON-able.
    """

    verdict: Verdict
    reason: str = ""
    details: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return self.verdict is Verdict.PASSED


class OutcomeError(Exception):
    """Carries a verdict other than PASSED up to the stage that was running."""

    def __init__(self, outcome: Outcome):
        super().__init__(f"{outcome.verdict.name}: {outcome.reason}")
        self.outcome = outcome
