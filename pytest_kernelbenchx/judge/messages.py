"""What a person reads when a candidate fails: the case as a call, the worst element, the command that repeats it."""

import shlex
import traceback
from typing import TYPE_CHECKING, Any

from torch import Tensor

from pytest_kernelbenchx.cases import Arguments
from pytest_kernelbenchx.dtypes import NAMES
from pytest_kernelbenchx.judge.verdicts import Outcome
from pytest_kernelbenchx.task import Task

if TYPE_CHECKING:
    from pytest_kernelbenchx.judge.evaluation import Evaluation

LINES, COLUMNS = 40, 400  # of details and captured output


def call(task: Task, arguments: Arguments) -> str:
    """The call as Python would write it, tensors as element type and shape."""
    shown = []
    for name, value in arguments.items():
        positional = task.parameters[name].default is task.parameters[name].empty
        shown.append(show(value) if positional else f"{name}={show(value)}")
    return f"{task.name}({', '.join(shown)})"


def show(value: Any) -> str:
    """`f32[3, 5]`, with strides where the tensor is not contiguous; other values as Python shows them."""
    if isinstance(value, Tensor):
        strides = "" if value.is_contiguous() else f", strides {tuple(value.stride())}"
        offset = f", offset {value.storage_offset()}" if value.storage_offset() else ""
        return f"{NAMES[value.dtype]}[{', '.join(map(str, value.shape))}{strides}{offset}]"
    if isinstance(value, list):
        return f"[{', '.join(show(item) for item in value)}]"
    return repr(value)


def failure(evaluation: "Evaluation", stage: str, outcome: Outcome) -> str:
    """The message of a failing test: one sentence, then the evidence."""
    label = f"{evaluation.task.name}[{evaluation.candidate.id}]"
    lines = [f"{outcome.verdict.name}: {label}: {shorten(outcome.reason)}"]
    if outcome.details:
        lines += [f"    {line}" for line in clip(outcome.details)]
    if made := outcome.facts.get("call"):
        lines.append(f"case: {made}")
    if case := outcome.facts.get("case"):
        lines.append(f"reproduce: {command(evaluation, stage, case)}")
    return "\n".join(lines)


def command(evaluation: "Evaluation", stage: str, case: str) -> str:
    """The command line that judges exactly this case."""
    laboratory, candidate = evaluation.laboratory, evaluation.candidate
    item = f"{laboratory.relative(evaluation.task.path)}::test_{stage}[{candidate.id}]"
    options = [f"--kbx-device={laboratory.settings.device}", *laboratory.path_options()]
    return shlex.join(["pytest", item, *options, f"--kbx-case={case}"])


def with_output(details: str, output: str) -> str:
    """Details, then what the candidate printed."""
    printed = output.strip()
    if not printed:
        return details
    return "\n".join([details, "the candidate printed:", *clip(printed)]).lstrip("\n")


def clip(text: str) -> list[str]:
    """The first and last lines of a text, each shortened, control characters escaped."""
    lines = [
        shorten("".join(c if c.isprintable() or c == "\t" else repr(c)[1:-1] for c in line))
        for line in text.splitlines()
    ]
    if len(lines) <= LINES:
        return lines
    half = LINES // 2
    return [*lines[:half], f"... {len(lines) - LINES} lines left out ...", *lines[-half:]]


def shorten(line: str) -> str:
    return line if len(line) <= COLUMNS else f"{line[:COLUMNS]}... ({len(line)} characters)"


def trace() -> str:
    """The traceback of the exception that is being handled."""
    return traceback.format_exc()
