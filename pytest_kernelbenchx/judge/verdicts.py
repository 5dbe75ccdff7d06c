"""What can be said of a candidate after a stage: one word, one sentence, and the facts behind them.

`python -m pytest_kernelbenchx.judge.verdicts` prints the table of all verdicts that docs/integrity.md has.
"""

import enum
from dataclasses import dataclass, field
from typing import Any


class Verdict(enum.Enum):
    """The closed set of verdicts: what each means; `kind` groups them for counting, `advice` says what to do."""

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

    @property
    def advice(self) -> str:
        """What to do about it."""
        return ADVICE[self]


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
ADVICE = {
    Verdict.PASSED: "nothing",
    Verdict.SYNTAX: "look at the line that is quoted; an answer with text around the code may have been cut wrongly",
    Verdict.NO_ENTRY_POINT: "name the function as the task, or say `entry` in the JSONL line",
    Verdict.IMPORT_ERROR: "import only what is installed beside torch and triton, and do no work at import",
    Verdict.COMPILE_ERROR: "read the compiler's message; the kernel's line is quoted",
    Verdict.RUNTIME_ERROR: "run the line under `reproduce:`; the traceback shows the candidate's own frames",
    Verdict.WRONG_OUTPUT: "return exactly what PyTorch returns: as many tensors, each new, of that shape and type",
    Verdict.WRONG_VALUES: "run the line under `reproduce:`: the smallest failing case, with its worst element",
    Verdict.NOT_QUANTIZED: "round every operand to the task's bits; full precision is not the operation",
    Verdict.NONDETERMINISTIC: "look for a race between programs, or for state that is kept between calls",
    Verdict.OUT_OF_BOUNDS: "give every load and store a mask for the last block",
    Verdict.UNINITIALISED_READ: "write before reading: `torch.zeros` where sums are added up, not `torch.empty`",
    Verdict.CRASHED: "mostly an access out of bounds; the signal and the place are told",
    Verdict.TIMEOUT: "the stack shows where it hung; raise --kbx-timeout if it is only slow",
    Verdict.OUT_OF_MEMORY: "allocate less, or raise --kbx-memory",
    Verdict.INCOMPLETE: "look at the record of the size that failed",
    Verdict.NO_RESULT: "do not end the process: return, or raise",
    Verdict.FORBIDDEN: "the line and the rule are quoted: do it in a kernel of the file, or leave it out",
    Verdict.NO_KERNEL: "launch a function under @triton.jit of this file; a fallback that always runs is no kernel",
    Verdict.DELEGATED: "let kernels of the file write the result; PyTorch may allocate, view and copy",
    Verdict.INPUT_MUTATED: "work on a copy; only the task's docstring may allow to write to an input",
    Verdict.RESULT_REUSED: "compute every call anew, into a new tensor; keep no result between calls",
    Verdict.ASYNC_WORK: "have the caller's stream wait for all that was started before the call returns",
    Verdict.LAZY_OUTPUT: "return a plain torch.Tensor",
    Verdict.TAMPERED: "leave the process, its clocks, its settings and its descriptors as they are",
    Verdict.INTROSPECTION: "leave the frames, objects and files of the judge alone",
    Verdict.TOO_FAST: "compute all of the result in every timed call; if you do, report it: our bound may be wrong",
    Verdict.NOT_JUDGED: "the reason says what this machine cannot do; judge it on a GPU",
    Verdict.SKIPPED: "look at the stage before",
    Verdict.INFRA_ERROR: "report it, with the record; it is no fault of the candidate",
}


def table() -> str:
    """All verdicts with their kind, meaning and advice, as a Markdown table."""
    rows = [f"| `{v.name}` | {v.kind} | {v.value} | {v.advice} |" for v in Verdict]
    return "\n".join(["| verdict | kind | means | what to do |", "|---|---|---|---|", *rows])


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


if __name__ == "__main__":
    print(table())
