"""Write docs/tasks.md from the declarations: `python docs/generate.py` (`--check` only compares, exit status 1 if it
is out of date)."""

import inspect
import re
import sys
from pathlib import Path

from pytest_kernelbenchx.judge.tolerance import Tolerance
from pytest_kernelbenchx.loading import load_task, task_files
from pytest_kernelbenchx.task import Task

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "tasks.md"
HEAD = """# The tasks

{count} tasks in {categories} categories, and {extra} extras outside of them (marked so). This page is written by
`python docs/generate.py` from the files in `tasks/`, which say more: with what holds for all tasks (see
[Add a task](../README.md#add-a-task)), every docstring is complete enough to write the kernel from. How tensors are
written (`T[*S~]`, `| None`, `[...]`) stands in `pytest_kernelbenchx/spec.py`. `T` stands for the element types of the
task. A result that is judged *by the table* may differ from the result in double precision by what
`pytest_kernelbenchx/judge/tolerance.py` allows its type.
"""


def signature(task: Task) -> str:
    """The call as the published signature has it."""
    return task.name + str(inspect.signature(task.reference))


def meaning(task: Task) -> str:
    """The first sentence of the docstring, on one line."""
    first = " ".join(task.doc.split("\n\n")[0].split())
    return re.split(r"(?<=[.])\s+(?=[A-Z`])", first)[0]


def judged(task: Task) -> str:
    """How a result is judged, in words."""
    if task.quantized is not None:
        return f"quantized ({task.quantized.name}): three errors, by tile, too; full precision is NOT_QUANTIZED"
    if task.random is not None:
        return f"random ({type(task.random).__name__}): values, rate, independence, another seed"
    if task.properties is not None:
        return "by what defines the result, not by signs, order or choice of a basis"
    kinds = {spec.dtype for spec in task.output}
    if not kinds & {"T", "f64", "f32", "f16", "bf16", "c64", "c128"} or Tolerance.of(task.tolerance).exact:
        return "exactly"
    wider = f", with {task.tolerance}" if task.tolerance is not None else ""
    return ("complex, by the table" if kinds <= {"c64", "c128"} else "by the table") + wider


def differences(task: Task) -> str:
    """The docstring's sentences about the benchmark's published reference."""
    sentences = re.split(r"(?<=[.])\s+", " ".join(task.doc.split()))
    return " ".join(sentence for sentence in sentences if "pstream" in sentence)


def size(values: dict) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def entry(task: Task) -> str:
    """The section of one task."""
    tensors = ", ".join(f"{name} {spec.text}" for name, spec in task.inputs.items()) or "none"
    outputs = ", ".join(spec.text for spec in task.output)
    lines = [f"### {task.name}{' (extra)' if task.extra else ''}", "", f"`{signature(task)}`", "", meaning(task), ""]
    lines += [f"- tensors: {tensors}; result: {outputs}"]
    if "T" in {spec.dtype for spec in [*task.inputs.values(), *task.output]}:
        lines += [f"- T: {', '.join(task.dtypes)}"]
    if task.mutates:
        lines += [f"- may change: {', '.join(task.mutates)}"]
    lines += [f"- sizes: {'; '.join(f'`{label}` ({size(values)})' for label, values in task.sizes.items())}"]
    lines += [f"- judged {judged(task)}"]
    if differs := differences(task):
        lines += [f"- {differs}"]
    return "\n".join(lines)


def page() -> str:
    """The whole page."""
    tasks = sorted((load_task(path) for path in task_files(ROOT / "tasks")), key=lambda t: (t.category, t.name.lower()))
    categories = list(dict.fromkeys(task.category for task in tasks))
    extra = sum(task.extra for task in tasks)
    parts = [HEAD.format(count=len(tasks) - extra, categories=len(categories), extra=extra)]
    for category in categories:
        members = [task for task in tasks if task.category == category]
        parts.append(f"## {category} ({sum(not task.extra for task in members)})\n")
        parts += [entry(task) + "\n" for task in members]
    return "\n".join(parts)


def main() -> int:
    text = page()
    if "--check" in sys.argv[1:]:
        return int(not TARGET.exists() or TARGET.read_text() != text)
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
