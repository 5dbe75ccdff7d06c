"""Candidates on disk: which files and JSONL lines in a folder are a candidate for which task.

    <method>/<category>/<task>.py, <method>/<task>.py, <method>/round_<k>/sample_<i>/..., <method>.jsonl

Round, sample and category folders nest in any order, JSONL files may lie anywhere in a method's folder, and a folder
without methods in it (task files or category folders right at its top) is one method under its own name. A candidate's
file name decides on the task. Nothing is imported, executed or followed out of the folder, and nothing that could have
been meant as a candidate is dropped without a word: it is judged, judged as failing (`problem`), or in `ignored`.
"""

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pytest_kernelbenchx.answers import Answer, number_samples, read_line
from pytest_kernelbenchx.candidate import Candidate, Found, Ignored, entry_names, possible_names
from pytest_kernelbenchx.extract import extract
from pytest_kernelbenchx.layout import LAYOUT, Place, TaskNames, decode, read, split, wrong_method

__all__ = ["Candidate", "Found", "Ignored", "discover", "entry_names"]

MAX_SOURCE = 1 << 20  # bytes
MAX_JSONL = 1 << 28  # bytes
QUIET = frozenset({"", ".md", ".txt", ".rst", ".log"})


def discover(
    folder: Path,
    tasks: Mapping[str, str],
    aliases: Mapping[str, str] = {},
    methods: Collection[str] | None = None,
) -> Found:
    """Find the candidates in a folder or in one JSONL file.

    Args:
        folder: the folder with the methods, the folder of one method, or a `.jsonl` file.
        tasks: category by task name.
        aliases: task name by other names under which its candidates come (`sgd_step` for SGD).
        methods: those wanted; None for all.

    Returns:
        Candidates in the order of method, round, sample and task, the same on every machine.
    """
    reader = Reader(Path(folder), tasks, aliases)
    if reader.folder.is_dir():
        reader.top()
    elif reader.folder.suffix == ".jsonl" and reader.folder.is_file():
        reader.jsonl(reader.folder, Place(reader.folder.stem))
    else:
        reader.skip(None, reader.folder, f"there is no such folder or .jsonl file; {LAYOUT}.")
    return reader.found(methods)


class Reader:
    """Walks one folder and keeps what it finds; `found` puts it in order."""

    def __init__(self, folder: Path, tasks: Mapping[str, str], aliases: Mapping[str, str]) -> None:
        self.folder, self.root = folder, os.path.realpath(folder)
        self.names = TaskNames(tasks, aliases)
        self.methods: set[str] = set()
        self.taken: list[tuple[bool, Candidate]] = []  # (lies in another category's folder, candidate)
        self.ignored: dict[tuple[str | None, Ignored], None] = {}  # (method, if it is known, what)

    def skip(self, method: str | None, path: Path, reason: str, line: int | None = None) -> None:
        self.ignored[method, Ignored(path, line, reason)] = None

    def top(self) -> None:
        """The folder itself: methods, or the parts of a single one."""
        own = Place(Path(self.root).name)
        for path in self.entries(self.folder, None):
            if not os.path.isdir(path):
                self.file(path, Place(path.stem) if path.suffix == ".jsonl" else own)
            elif isinstance(place := own.inside(path.name, self.names.categories), Place):
                self.walk(path, place)
            elif wrong := wrong_method(path.name):
                self.skip(None, path, wrong)
            else:
                self.methods.add(path.name)
                self.walk(path, Place(path.name))

    def walk(self, folder: Path, place: Place) -> None:
        for path in self.entries(folder, place.method):
            if not os.path.isdir(path):
                self.file(path, place)
            elif isinstance(further := place.inside(path.name, self.names.categories), Place):
                self.walk(path, further)
            elif any(name.endswith((".py", ".jsonl")) for _, _, files in os.walk(path) for name in files):
                self.skip(place.method, path, further)

    def entries(self, folder: Path, method: str | None) -> Iterator[Path]:
        """What lies in a folder and may be looked at, sorted."""
        try:
            listed = sorted(os.listdir(folder))
        except OSError as error:
            return self.skip(method, folder, f"the folder can't be read: {error.strerror}.")
        for name in listed:
            path = folder / name
            if name.startswith(".") or name == "__pycache__":
                continue
            if os.path.islink(path) and os.path.commonpath([self.root, os.path.realpath(path)]) != self.root:
                self.skip(method, path, "a link that leads out of the candidates folder; put a copy here.")
            else:
                yield path

    def file(self, path: Path, place: Place) -> None:
        if path.suffix == ".jsonl":
            return self.jsonl(path, place)
        if path.suffix in QUIET or (path.suffix == ".py" and path.name.startswith("_")):
            return None
        if path.name == "conftest.py":
            return self.skip(place.method, path, "a candidates folder may not bring a conftest.py; it was not run.")
        if path.suffix != ".py":
            return self.skip(place.method, path, f"a {path.suffix} file; only .py and .jsonl files are read.")
        task = self.names.find(path.stem)
        if task is None:
            return self.skip(place.method, path, self.names.unknown(path.stem))
        return self.take(task, place, path, *read(path, MAX_SOURCE))

    def jsonl(self, path: Path, place: Place) -> None:
        content, problem = read(path, MAX_JSONL)
        if problem:
            return self.skip(None, path, f"{problem}.")
        answers = []
        for line, raw in enumerate(content.split(b"\n"), 1):
            answer = read_line(line, raw)
            if isinstance(answer, Answer):
                answers.append(self.placed(answer, place))
            elif answer:
                self.skip(None, path, answer, line)
        for answer in number_samples(answers, lambda one: self.names.find(split(one.task)[0])):
            self.answer(path, answer)
        return None

    def placed(self, answer: Answer, place: Place) -> Answer:
        """The answer with what the folder says where the line is silent."""
        return replace(
            answer,
            method=answer.method or place.method,
            round=place.round if answer.round is None else answer.round,
            sample=place.sample if answer.sample is None else answer.sample,
        )

    def answer(self, path: Path, answer: Answer) -> None:
        name, category = split(answer.task)
        method, task = answer.method or "", self.names.find(name)
        if task is None:
            return self.skip(method, path, self.names.unknown(name), answer.line)
        content = answer.code.encode("utf-8", "surrogatepass")
        problem = f"the code is larger than {MAX_SOURCE} bytes" if len(content) > MAX_SOURCE else None
        place = Place(method, category, answer.round, answer.sample)
        return self.take(task, place, path, content, problem, answer.line, answer.entry)

    def take(
        self,
        task: str,
        place: Place,
        path: Path,
        content: bytes,
        problem: str | None,
        line: int | None = None,
        entry: str | None = None,
    ) -> None:
        """Keep a candidate."""
        if wrong := wrong_method(place.method):
            own = place.method == Path(self.root).name
            return self.skip(None, self.folder if own else path, wrong)
        category, misplaced = self.names.tasks[task], self.names.misplaced(task, place.category)
        if misplaced:
            reason = f"judged all the same, but {task} belongs in category {category}, not in {place.category}."
            self.skip(place.method, path, reason, line)
        source, note = "", None
        if problem is None:
            source, problem = decode(content, "file" if line is None else "code")
        if problem is None:
            source, note = extract(source, possible_names(entry, task, self.names.aliases))
        numbers, digest = (place.round, place.sample), hashlib.sha256(content).hexdigest()
        candidate = Candidate(place.method, category, task, *numbers, source, digest, path, line, entry, problem, note)
        self.taken.append((misplaced, candidate))
        self.methods.add(place.method)
        return None

    def found(self, methods: Collection[str] | None) -> Found:
        """Everything in order, without duplicates, cut down to the methods that are wanted."""
        first: dict[str, Candidate] = {}
        for _, one in sorted(self.taken, key=lambda pair: (pair[0], pair[1].path.parts, pair[1].line or 0)):
            kept = first.setdefault(one.label, one)
            if kept is not one:
                where = f"{kept.path}:{kept.line}" if kept.line else f"{kept.path}"
                reason = f"a second candidate {one.label}; the one in {where} is judged, this one is not."
                self.skip(one.method, one.path, reason, one.line)
        ignored = [what for method, what in self.ignored if methods is None or method is None or method in methods]
        return Found(
            sorted(
                (one for one in first.values() if methods is None or one.method in methods), key=lambda one: one.order
            ),
            sorted(ignored, key=lambda what: (what.path.parts, what.line or 0, what.reason)),
            sorted(self.methods),
        )
