"""What a person reads when a candidate fails: the case as a call, the worst element, the command that repeats it."""

import shlex
import traceback
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from pytest_kernelbenchx.cases import Arguments
from pytest_kernelbenchx.dtypes import NAMES
from pytest_kernelbenchx.judge.verdicts import Outcome
from pytest_kernelbenchx.task import GRADS, Task

if TYPE_CHECKING:
    from pytest_kernelbenchx.judge.evaluation import Evaluation

LINES, COLUMNS = 40, 200  # of details and captured output
SENTENCE = 400  # characters of the reason


def call(task: Task, arguments: Arguments) -> str:
    """The call as Python would write it, tensors as element type and shape."""
    shown = []
    for name in filter(task.parameters.__contains__, arguments):
        value = arguments[name]
        positional = task.parameters[name].default is task.parameters[name].empty
        shown.append(show(value) if positional else f"{name}={show(value)}")
    stepped = f" and {len(arguments[GRADS])} steps" if GRADS in arguments else ""
    return f"{task.name}({', '.join(shown)}){stepped}"


def show(value: Any) -> str:
    """`f32[3, 5]`, with strides where the tensor is not contiguous; other values as Python shows them."""
    if isinstance(value, Tensor):
        strides = "" if value.is_contiguous() else f", strides {tuple(value.stride())}"
        offset = f", offset {value.storage_offset()}" if value.storage_offset() else ""
        return f"{NAMES[value.dtype]}[{', '.join(map(str, value.shape))}{strides}{offset}]"
    if isinstance(value, torch.Generator):
        return f"torch.Generator().manual_seed({value.initial_seed()})"
    if isinstance(value, list):
        return f"[{', '.join(show(item) for item in value)}]"
    return repr(value)


def failure(evaluation: "Evaluation", stage: str, outcome: Outcome, size: str | None = None) -> str:
    """The message of a failing test: one sentence, then the evidence."""
    label = f"{evaluation.task.name}[{evaluation.candidate.id}]"
    lines = [f"{outcome.verdict.name}: {label}: {sentence(outcome.reason)}"]
    if outcome.details:
        lines += [f"    {line}" for line in clip(outcome.details)]
    if made := outcome.facts.get("call"):
        lines.append(f"case: {shorten(made, SENTENCE)}")
    lines.append(f"reproduce: {command(evaluation, stage, outcome.facts.get('case'), size)}")
    return "\n".join(lines)


def sentence(reason: str) -> str:
    """One printable line, whatever a candidate's exception says."""
    first, *rest = escaped(reason).splitlines() or [""]
    return shorten(first, SENTENCE) + (" ..." if rest else "")


def command(evaluation: "Evaluation", stage: str, case: str | None, size: str | None = None) -> str:
    """The command line that judges this candidate again, in stage two by exactly this case, in three at this size."""
    laboratory, candidate = evaluation.laboratory, evaluation.candidate
    name = f"{candidate.id}-{size}" if size else candidate.id
    item = f"{laboratory.relative(evaluation.task.path)}::test_{stage}[{name}]"
    options = [f"--kbx-device={laboratory.settings.device}", *laboratory.path_options()]
    return shlex.join(["pytest", item, *options, *([f"--kbx-case={case}"] if case and stage == "correct" else [])])


def with_output(details: str, output: str) -> str:
    """Details, then what the candidate printed."""
    printed = output.strip()
    if not printed:
        return details
    return "\n".join([details, "the candidate printed:", *clip(printed)]).lstrip("\n")


def clip(text: str) -> list[str]:
    """The first and last lines of a text, each shortened, control characters escaped."""
    lines = [shorten(line) for line in escaped(text).splitlines()]
    if len(lines) <= LINES:
        return lines
    half = LINES // 2
    return [*lines[:half], f"... {len(lines) - LINES} lines left out ...", *lines[-half:]]


def escaped(text: str) -> str:
    """The text with its line ends and tabs; any other character that a terminal may obey is spelt out."""
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text.replace("\r\n", "\n"))


def shorten(line: str, limit: int = COLUMNS) -> str:
    """The beginning of a line."""
    return line if len(line) <= limit else f"{line[:limit]}... ({len(line)} characters)"


def trace() -> str:
    """The traceback of the exception that is being handled."""
    return traceback.format_exc()
