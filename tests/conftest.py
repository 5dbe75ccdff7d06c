"""What several test files need: a small tree of tasks and candidates, and pytest run on it in a process of its own."""

import importlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs a GPU; skipped where there is none")


def pytest_terminal_summary(terminalreporter):
    """What the suite's audits looked at, by category, where they ran."""
    rows = {}
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "audited":
                rows.setdefault(value["category"], []).append(value)
    if not rows:
        return
    columns = ("cases", "drawn", "arguments", "shapes", "dtypes")
    terminalreporter.section("audited tasks")
    terminalreporter.write_line(f"{'category':16}{'tasks':>7}" + "".join(f"{name:>11}" for name in columns))
    for category, found in sorted(rows.items()):
        sums = "".join(f"{sum(row[name] for row in found):>11}" for name in columns)
        terminalreporter.write_line(f"{category:16}{len(found):>7}{sums}")

ROOT = Path(__file__).resolve().parent.parent
TASKS = ROOT / "tasks"

# Processes that tests start run elsewhere, and must find this checkout where it is not installed.
PATHS = [str(ROOT), *(os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path)]
os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(PATHS))

RELU = """
import torch
import triton
import triton.language as tl


@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value).to(out.dtype.element_ty), mask=i < n)


def relu(input, inplace=False):
    flat = input.contiguous().view(-1)
    out = torch.empty_like(flat)
    if flat.numel():
        _relu[(triton.cdiv(flat.numel(), 1024),)](flat, out, flat.numel(), BLOCK=1024)
    return input.copy_(out.view(input.shape)) if inplace else out.view(input.shape)
"""


@dataclass
class Result:
    """What a run of pytest printed, its exit status, and its records."""

    status: int
    text: str
    records: list[dict]

    def verdicts(self, stage: str = "correct") -> dict[str, str]:
        """Verdict by method."""
        return {record["method"]: record["verdict"] for record in self.records if record["stage"] == stage}

    def one(self, stage: str = "correct") -> dict:
        """The only record of a stage."""
        (record,) = [record for record in self.records if record["stage"] == stage]
        return record


class Tree:
    """A folder with candidates, in which pytest judges them with this checkout's tasks."""

    def __init__(self, path: Path):
        self.path = path
        (path / "pytest.ini").write_text("[pytest]\n")

    def candidate(self, method: str, source: str, name: str = "relu", category: str = "activation") -> Path:
        path = self.path / "candidates" / method / category / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
        return path

    def command(self, *arguments: str) -> list[str]:
        tasks = [] if any(a.startswith("--kbx-tasks") for a in arguments) else [f"--kbx-tasks={TASKS}"]
        # no cache: this runs many processes in one folder
        plugin = ["-p", "pytest_kernelbenchx.plugin", "-p", "no:cacheprovider"]
        options = [] if any(a.startswith("--kbx-device") for a in arguments) else ["--kbx-device=cpu"]
        return [sys.executable, "-m", "pytest", *plugin, "--kbx-effort=quick", *options, *tasks, *arguments]

    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
        return {**kept, "COLUMNS": "160"}

    def run(self, *arguments: str, timeout: float = 300) -> Result:
        """Run pytest; its records are those of this run alone."""
        store = self.path / ".kbx" / "records.jsonl"
        before = store.stat().st_size if store.exists() else 0
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.path,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        written = store.read_bytes()[before:].decode() if store.exists() else ""
        return Result(done.returncode, done.stdout + done.stderr, [json.loads(line) for line in written.splitlines()])


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


class Inline(Tree):
    """A tree in which pytest runs within this process: fast, for what it says before it judges anything."""

    def __init__(self, pytester):
        super().__init__(pytester.path)
        self.pytester = pytester

    def run(self, *arguments: str, timeout: float = 300) -> Result:
        done = self.pytester.runpytest_inprocess(*self.command(*arguments)[3:])
        return Result(int(done.ret), done.stdout.str() + done.stderr.str(), [])

    def complaint(self, *arguments: str) -> str:
        """The one line that says what is wrong with the arguments."""
        result = self.run(*arguments)
        errors = [line for line in result.text.splitlines() if line.startswith("ERROR: ")]
        assert result.status == pytest.ExitCode.USAGE_ERROR, result.text
        assert len(errors) == 1, result.text
        assert "Traceback" not in result.text
        assert "INTERNALERROR" not in result.text
        return errors[0]


@pytest.fixture(scope="session")
def imported():
    """What is first imported within an inline run is forgotten after it, which torch does not survive."""
    for name in ("collection", "usage", "scheduling", "report.terminal"):
        importlib.import_module(f"pytest_kernelbenchx.{name}")


@pytest.fixture
def inline(imported, pytester):
    return Inline(pytester)
