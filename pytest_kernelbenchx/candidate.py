"""A candidate, what was left aside, and everything that was found together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Candidate:
    """A kernel file that claims to do a task.

    Attributes:
        source: the code, decoded and taken out of its Markdown.
        sha256: of the file's bytes, or of the code's UTF-8 bytes as the JSONL line has it (of the first
            MiB where a file has more).
        line: number of the JSONL line, from 1.
        entry: name of the entry point, where a JSONL line gives one.
        problem: why it can't be judged; stage one fails with it.
        note: what was done to the answer to get at the code.
    """

    method: str
    category: str
    task: str
    round: int | None
    sample: int | None
    source: str
    sha256: str
    path: Path
    line: int | None = None
    entry: str | None = None
    problem: str | None = None
    note: str | None = None

    @property
    def id(self) -> str:
        """`claude`, `geak:r1`, `geak:r1:s0`: what a test's id says of the candidate."""
        numbers = (("r", self.round), ("s", self.sample))
        return self.method + "".join(f":{key}{number}" for key, number in numbers if number is not None)

    @property
    def label(self) -> str:
        """`claude/relu`, `geak:r1:s0/relu`."""
        return f"{self.id}/{self.task}"

    @property
    def order(self) -> tuple[str, int, int, str]:
        """Key to sort by: method, round, sample, task; without a number comes first."""
        round, sample = (-1 if number is None else number for number in (self.round, self.sample))
        return self.method, round, sample, self.task


@dataclass(frozen=True)
class Ignored:
    """A file, folder or line that is not judged, or lies in the wrong folder, and why."""

    path: Path
    line: int | None
    reason: str


@dataclass
class Found:
    """What a folder holds; `methods` are all that exist, selected or not."""

    candidates: list[Candidate] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)


def entry_names(
    candidate: Candidate | None, task_name: str, aliases: Mapping[str, str] | Iterable[str] = ()
) -> list[str]:
    """Names that a candidate's entry point may have, the preferred first.

    Args:
        candidate: gives the entry point that its JSONL line names, if any.
        task_name: name of the task.
        aliases: the task's other names, or a mapping like the one that `discover` takes.
    """
    return possible_names(candidate.entry if candidate else None, task_name, aliases)


def possible_names(entry: str | None, task: str, aliases: Mapping[str, str] | Iterable[str]) -> list[str]:
    others = [name for name in aliases if aliases[name] == task] if isinstance(aliases, Mapping) else aliases
    return list(dict.fromkeys([*([entry] if entry else []), task, "kernel_function", *others]))
