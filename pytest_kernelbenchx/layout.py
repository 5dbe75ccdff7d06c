"""What the names of folders and files in a candidates folder say, and how their bytes are read."""

import difflib
import re
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

METHOD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+@=-]*")
NUMBERED = re.compile(r"(round|sample)_([0-9]{1,6})")
LAYOUT = "candidates lie in <method>/<category>/<task>.py, <method>/<task>.py or <method>.jsonl"


@dataclass(frozen=True)
class Place:
    """What the folders above a file say; `category` is the folder's name as it is written."""

    method: str
    category: str | None = None
    round: int | None = None
    sample: int | None = None

    def inside(self, name: str, categories: Collection[str]) -> "Place | str":
        """The place one folder further down, or why that folder can't lie here.

        Args:
            name: the folder's.
            categories: names of the categories, made `plain`.
        """
        numbered = NUMBERED.fullmatch(name)
        if not numbered and plain(name) not in categories:
            return f"no category and neither round_<k> nor sample_<i>, so nothing in it is read; {LAYOUT}."
        key, value = (numbered[1], int(numbered[2])) if numbered else ("category", name)
        if (above := getattr(self, key)) is not None:
            return f"a second {key} below {key} {above}, so nothing in it is read; {LAYOUT}."
        further: dict[str, Any] = {key: value}
        return replace(self, **further)


def plain(category: str) -> str:
    """MatrixMultiply, matrix_multiply and matrix-multiply are one category."""
    return re.sub(r"[_\s-]", "", category).lower()


def wrong_method(name: str) -> str | None:
    """Why a method can't have this name (it stands in test ids and in shells), or None."""
    if METHOD.fullmatch(name) and name != "eager":
        return None
    why = "is kept for PyTorch's own rows" if name == "eager" else "can't stand in a test's id"
    return f"the method's name {name!r:.80} {why}; rename it: letters, digits and . _ + @ = - are allowed."


class TaskNames:
    """The tasks that are known, by all their names.

    Args:
        tasks: category by task name.
        aliases: task name by other names.
    """

    def __init__(self, tasks: Mapping[str, str], aliases: Mapping[str, str]) -> None:
        self.tasks, self.aliases = tasks, aliases
        self.categories = {plain(category) for category in tasks.values()}
        self.spelt = {name.lower(): name for name in [*aliases, *tasks]}

    def find(self, name: str) -> str | None:
        """The task of that name, if there is one."""
        task = name if name in self.tasks else self.aliases.get(name)
        return task if task in self.tasks else None

    def unknown(self, name: str) -> str:
        """That a name is no task's, with the closest one."""
        close = difflib.get_close_matches(name.lower()[:200], self.spelt, 1)
        return f"{name!r:.200} is no task" + (f"; did you mean {self.spelt[close[0]]!r}?" if close else ".")

    def misplaced(self, task: str, category: str | None) -> bool:
        """Whether the folder named is that of another category than the task's."""
        return category is not None and plain(category) in self.categories - {plain(self.tasks[task])}


def split(task: str) -> tuple[str, str | None]:
    """Name and category of "relu", "Activation/relu.py" or "activation/relu"."""
    *folders, name = task.strip().replace("\\", "/").split("/")
    return name.removesuffix(".py"), folders[-1] if folders else None


def read(path: Path, limit: int) -> tuple[bytes, str | None]:
    """A file's bytes (at most limit + 1), and what is wrong with them."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return b"", "it is not a regular file"
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        return b"", f"the file can't be read: {error.strerror}"
    return content, f"the file is larger than {limit} bytes" if len(content) > limit else None


def decode(content: bytes, what: str) -> tuple[str, str | None]:
    """The text, and what is wrong with it: empty, not UTF-8, NUL bytes."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return "", f"the {what} is not UTF-8: {error.reason} at byte {error.start}"
    if not text.strip():
        return "", f"the {what} is empty"
    return ("", f"the {what} holds NUL bytes") if "\0" in text else (text, None)
