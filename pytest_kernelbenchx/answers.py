"""One line of a JSONL file of answers: `{task|file, code|predict|completion, entry?, method?, round?, sample?}`.

Other keys are allowed and mean nothing here. A code that is null or blank is an answer that was not given: it counts as
a failed attempt. A line without any of the code's keys is no answer at all.
"""

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

CODE = ("code", "predict", "completion")


@dataclass(frozen=True)
class Answer:
    """What one line says; None for what it leaves open.

    `task` is as written: "relu", "Activation/relu.py", "activation/relu".
    """

    line: int
    task: str
    code: str
    entry: str | None
    method: str | None
    round: int | None
    sample: int | None


def read_line(line: int, raw: bytes) -> Answer | str | None:
    """The answer on a line, a sentence on why there is none, or None for a blank line."""
    if not raw.strip():
        return None
    try:
        row = json.loads(raw.decode("utf-8-sig" if line == 1 else "utf-8"))
    except UnicodeDecodeError as error:
        return f"not UTF-8 (byte {error.start + 1} of the line): write the file in UTF-8."
    except json.JSONDecodeError as error:
        return f"no JSON ({error.msg} at column {error.colno}): one object a line is wanted."
    except (ValueError, RecursionError) as error:
        return f"no JSON that can be read ({error}): one object a line is wanted."
    if not isinstance(row, dict):
        return f"a JSON {type(row).__name__}: one object a line is wanted."
    return misfit(row) or from_row(line, row)


def misfit(row: dict[str, Any]) -> str | None:
    """Why an object is no answer, or None."""
    if not {"task", "file"} & row.keys():
        return f"neither 'task' nor 'file' says which task this is for (keys: {keys(row)})."
    if not set(CODE) & row.keys():
        return f"none of 'code', 'predict' and 'completion' holds the code (keys: {keys(row)})."
    for key in ("task", "file", *CODE, "entry", "method"):
        if row.get(key) is not None and not isinstance(row[key], str):
            return f"{key!r} is a {type(row[key]).__name__}: a string is wanted."
    for key in ("round", "sample"):
        value = row.get(key)
        if value is not None and (type(value) is not int or value < 0):
            return f"{key!r} is {value!r:.40}: a whole number from 0 is wanted."
    if not first(row, ("task", "file")):
        return "the task's name is empty."
    return None


def from_row(line: int, row: dict[str, Any]) -> Answer:
    return Answer(
        line,
        task=first(row, ("task", "file")),
        code=first(row, CODE),
        entry=row.get("entry") or None,
        method=row.get("method") or None,
        round=row.get("round"),
        sample=row.get("sample"),
    )


def first(row: dict[str, Any], names: Iterable[str]) -> str:
    """The first of the keys that says something, or the empty string."""
    return next((row[name] for name in names if row.get(name)), "")


def keys(row: dict[str, Any]) -> str:
    return ", ".join(repr(key) for key in list(row)[:8]) or "none"


def number_samples(answers: list[Answer], task: Callable[[Answer], str | None]) -> list[Answer]:
    """Number the answers without a sample 0, 1, 2 ... where several share method, round and task.

    A number that another of them names itself is left out; a lone answer stays without one.
    """
    keyed = [((one.method, one.round, task(one)), one) for one in answers]
    shared = Counter(key for key, one in keyed if one.sample is None)
    taken = {(key, one.sample) for key, one in keyed}
    following: Counter[Hashable] = Counter()
    numbered = []
    for key, one in keyed:
        if one.sample is None and shared[key] > 1:
            while (key, following[key]) in taken:
                following[key] += 1
            one = replace(one, sample=following[key])
            following[key] += 1
        numbered.append(one)
    return numbered
