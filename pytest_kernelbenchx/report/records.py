"""The results file: one JSON object a line, appended as each stage ends, by one process alone.

Workers send their records home on the test reports; the controller (or the only process) writes them. A line is
written in one piece under a lock, so two runs may write at once, and a kill loses no finished record.
"""

import errno
import fcntl
import json
import math
import os
from pathlib import Path
from typing import Any

import pytest


def is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


class Recorder:
    """Writes `.kbx/records.jsonl` and the files of `--kbx-results`."""

    def __init__(self, config: pytest.Config):
        self.config = config
        self.records: list[dict[str, Any]] = []
        self.lost: dict[Path, str] = {}
        named = [Path(config.invocation_params.dir, name) for name in config.getoption("kbx_results")]
        self.files = [config.rootpath / ".kbx" / "records.jsonl", *named]
        if not is_worker(config):
            for path in named:
                _check(path)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if is_worker(self.config):
            return
        for record in getattr(report, "kbx_records", []):
            self.records.append(record)
            for path in self.files:
                try:
                    append(path, record)
                except OSError as error:  # a full disk must not end the run
                    self.lost[path] = f"{error.strerror}"


def _check(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            pass
    except OSError as error:
        raise pytest.UsageError(f"--kbx-results={path}: cannot be written: {error.strerror}") from None


def append(path: Path, record: dict[str, Any]) -> None:
    """Append one record as one line; a line that an earlier kill left unfinished is ended first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(finite(record), sort_keys=False, allow_nan=False, default=str).encode() + b"\n"
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        end = file.seek(0, os.SEEK_END)
        if end and os.pread(file.fileno(), 1, end - 1) != b"\n":
            line = b"\n" + line
        if os.write(file.fileno(), line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def finite(value: Any) -> Any:
    """The value with infinite numbers and NaN as text, which is all that JSON can do for them: "inf", "-inf", "nan"."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, (list, tuple)) else value
