"""With `--hypothesis-show-statistics`: how many cases of which kind every candidate was judged on, and for how long."""

from typing import Any

import pytest

from pytest_kernelbenchx.report.records import Recorder, is_worker
from pytest_kernelbenchx.report.tables import aligned, method_of

HEADER = ("task", "method", "cases", "rejected", "after failure", "reference", "candidate", "comparison", "kinds")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if is_worker(config) or not config.getoption("hypothesis_show_statistics", False):
        return
    recorder = config.pluginmanager.get_plugin("Recorder")
    assert isinstance(recorder, Recorder)
    rows = [row(record) for record in recorder.records if "kinds" in record["facts"]]
    if rows:
        terminalreporter.section("kernelbenchx: cases")
        for line in aligned(HEADER, rows):
            terminalreporter.write_line(line)


def row(record: dict[str, Any]) -> tuple[str, ...]:
    """The cells for one record of stage two; times in seconds."""
    facts = record["facts"]
    times = (f"{facts['seconds_in'].get(part, 0):.2f} s" for part in ("reference", "candidate", "judge"))
    sample = "" if record["sample"] is None else f":s{record['sample']}"
    kinds = ", ".join(f"{kind} {count}" for kind, count in facts["kinds"].items())
    counts = (facts["cases"], facts["rejected_by_where"], facts["after_failure"])
    return (record["task"], f"{method_of(record)}{sample}", *map(str, counts), *times, kinds)
