"""The end of the terminal output: a table per method and category, and what was found but not judged."""

from collections import Counter
from collections.abc import Collection
from typing import Any

import pytest

from pytest_kernelbenchx.judge.messages import sentence
from pytest_kernelbenchx.laboratory import laboratory
from pytest_kernelbenchx.report import speeds
from pytest_kernelbenchx.report.records import Recorder, is_worker
from pytest_kernelbenchx.report.tables import aligned, method_of, percent, share
from pytest_kernelbenchx.sandbox.host import LAYERS

HEADER = (
    "method",
    "category",
    "attempted",
    "compiles",
    "correct",
    "conversion",
    "not judged",
    "compiles/all",
    "correct/all",
)


REASONS = 20  # that are printed
LEAST = 0.005  # share of the work, left to PyTorch, that is worth a word


class Summary:
    """Prints the summary, from the records of this run."""

    def __init__(self, config: pytest.Config):
        self.config = config

    def pytest_report_header(self) -> list[str]:
        lab = laboratory(self.config)
        if not lab.settings.tasks.is_dir():
            return []
        where = "in Triton's interpreter on the CPU" if lab.settings.device == "cpu" else "on a GPU"
        methods = ", ".join(dict.fromkeys(candidate.method for candidate in lab.found.candidates)) or "none"
        effort = "one case only (--kbx-case)" if lab.settings.case else f"{lab.settings.effort} effort"
        return [
            f"kernelbenchx: {len(lab.task_paths)} tasks, {len(lab.found.candidates)} candidates ({methods}), "
            f"judged {where}, {effort}, seed {lab.settings.seed}"
        ]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if is_worker(self.config):
            return
        recorder = self.config.pluginmanager.get_plugin("Recorder")
        assert isinstance(recorder, Recorder)
        self._ignored(terminalreporter)
        if recorder.records:
            terminalreporter.section("kernelbenchx")
            lines = table(rows(recorder.records, self._task_counts(), laboratory(self.config).extra))
            after = [*reasons(recorder.records), *delegated(recorder.records), *absent(recorder.records)]
            for line in [*lines, *speeds.table(recorder.records), *after]:
                terminalreporter.write_line(line)
            for path in recorder.files:
                lost = recorder.lost.get(path)
                problem = f" could not be written: {lost}; records are missing in it" if lost else ""
                terminalreporter.write_line(f"records: {laboratory(self.config).relative(path)}{problem}")

    def _task_counts(self) -> Counter:
        lab = laboratory(self.config)
        return Counter(path.parent.name for name, path in lab.task_paths.items() if name not in lab.extra)

    def _ignored(self, terminalreporter: pytest.TerminalReporter) -> None:
        lab = laboratory(self.config)
        if not lab.settings.tasks.is_dir():
            return
        if lab.task_paths and not lab.found.candidates:
            folder = lab.relative(lab.settings.candidates)
            terminalreporter.section("kernelbenchx")
            wanted = f"kernels go to {folder}/<method>/<category>/<task>.py"
            if lab.settings.candidates.is_file():
                wanted = f'{folder} should hold lines like {{"task": "relu", "code": "..."}}'
            terminalreporter.write_line(f"no candidates: {wanted}")
        if lab.found.ignored:
            terminalreporter.section("kernelbenchx: notes on the candidates folder")
            for ignored in lab.found.ignored:
                line = f":{ignored.line}" if ignored.line else ""
                terminalreporter.write_line(sentence(f"{lab.relative(ignored.path)}{line}: {ignored.reason}"))


def absent(records: list[dict[str, Any]]) -> list[str]:
    """A warning that names the layers of the sandbox that this system does not have."""
    known = [set(record["layers"]) for record in records if record["layers"]]
    missing = [layer for layer in LAYERS if known and any(layer not in layers for layers in known)]
    if not missing:
        return []
    what = "a candidate could do what they prevent; landlock_* need Linux 6.12 with Landlock, in parts 5.13"
    return [f"warning: layers of the sandbox that were not active: {', '.join(missing)} ({what})"]


def delegated(records: list[dict[str, Any]]) -> list[str]:
    """Which candidates were passed and leave a part of their work to PyTorch, the largest share first."""
    found = [r for r in records if r["verdict"] == "PASSED" and r.get("facts", {}).get("delegated_share", 0) >= LEAST]
    if not found:
        return []
    found.sort(key=lambda record: -record["facts"]["delegated_share"])
    told = [f"{r['task']}[{method_of(r)}] {_part(r['facts'])}" for r in found[:REASONS]]
    more = f" and {len(found) - REASONS} more, see the records" if len(found) > REASONS else ""
    by = found[0]["facts"]["delegated_by"]
    return [f"left to PyTorch in part (share of the work by {by}): {', '.join(told)}{more}"]


def _part(facts: dict[str, Any]) -> str:
    return f"{facts['delegated_share']:.0%} ({', '.join(facts['delegated'][:3])})"


def rows(records: list[dict[str, Any]], tasks: Counter, extra: Collection[str] = frozenset()) -> list[tuple[str, ...]]:
    """The table's rows: for every method, its categories and the total.

    Args:
        tasks: how many tasks each category has in all.
        extra: tasks that are not among them: attempted, but no part of `compiles/all` and `correct/all`.
    """
    latest = {
        (method_of(r), r["category"], r["task"], r["sample"], r["stage"]): r
        for r in records
        if r["stage"] != "performs"
    }
    found = []
    in_order = sorted(latest.values(), key=lambda r: (r["method"], -1 if r["round"] is None else r["round"]))
    for method in dict.fromkeys(map(method_of, in_order)):
        mine = {key[1:]: r for key, r in latest.items() if key[0] == method}
        categories = sorted({key[0] for key in mine})
        for category in categories:
            some = {key: r for key, r in mine.items() if key[0] == category}
            found.append(_row(method, category, some, tasks[category], extra))
        if len(categories) > 1:
            found.append(_row(method, "all", mine, sum(tasks.values()), extra))
    return found


def _row(
    method: str, category: str, records: dict[tuple, dict[str, Any]], total: int, extra: Collection[str]
) -> tuple[str, ...]:
    attempts = {key[:3] for key in records}
    passed = {
        stage: {k[:3] for k, r in records.items() if k[3] == stage and r["verdict"] == "PASSED"}
        for stage in ("compiles", "correct")
    }
    early, unjudged = (
        {k[:3] for k, r in records.items() if k[3] in stages and r["verdict"] in ("NOT_JUDGED", "INFRA_ERROR")}
        for stages in (("compiles",), ("compiles", "correct"))
    )
    judged_correct = any(key[3] == "correct" for key in records)
    tasks = {stage: {key[1] for key in keys if key[1] not in extra} for stage, keys in passed.items()}
    compiles, correct = len(passed["compiles"]), len(passed["correct"])
    return (
        method,
        category,
        f"{len(attempts)}",
        share(compiles, len(attempts - early)),
        share(correct, len(attempts - unjudged)) if judged_correct else "-",
        percent(correct, len(passed["compiles"] - unjudged)) if judged_correct else "-",
        f"{len(unjudged)}",
        share(len(tasks["compiles"]), total),
        share(len(tasks["correct"]), total) if judged_correct else "-",
    )


def table(body: list[tuple[str, ...]]) -> list[str]:
    """The lines of the table."""
    return aligned(HEADER, body)


def reasons(records: list[dict[str, Any]]) -> list[str]:
    """How often each verdict other than PASSED was given, and why something was not judged."""
    counts = Counter(r["verdict"] for r in records if r["verdict"] not in ("PASSED", "SKIPPED"))
    lines = [f"verdicts: {', '.join(f'{name} {n}' for name, n in counts.most_common())}"] if counts else []
    if contiguous := sum("contiguous_right" in r.get("facts", {}) for r in records):
        lines.append(f"of these, {contiguous} gave right results wherever all inputs were contiguous")
    unjudged = [r for r in records if r["verdict"] in ("NOT_JUDGED", "INFRA_ERROR")]
    for record in unjudged[:REASONS]:
        lines.append(sentence(f"not judged: {record['task']}[{method_of(record)}]: {record['reason']}"))
    more = len(unjudged) - REASONS
    return [*lines, f"not judged: {more} more, see the records"] if more > 0 else lines
