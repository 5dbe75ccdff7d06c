"""What a pytest process keeps for the whole run: settings, the candidates that were found, the sandbox."""

import hashlib
import os
import platform
import sys
import time
import uuid
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from pytest_kernelbenchx.candidate import Candidate, Found
from pytest_kernelbenchx.candidates import discover
from pytest_kernelbenchx.judge.evaluation import Evaluation
from pytest_kernelbenchx.judge.verdicts import Outcome
from pytest_kernelbenchx.loading import TaskError, load_task, task_files
from pytest_kernelbenchx.performance.lease import Lease, NoLease, device_lease
from pytest_kernelbenchx.quality import quality
from pytest_kernelbenchx.sandbox.host import Sandbox
from pytest_kernelbenchx.settings import Settings
from pytest_kernelbenchx.task import Task

KEY = pytest.StashKey["Laboratory"]()
SCHEMA = "kernelbenchx/record/1"
ONE_CASE = "one case"  # the effort of a run with --kbx-case, which says little about a candidate


def laboratory(config: pytest.Config) -> "Laboratory":
    """The one of this process."""
    if KEY not in config.stash:
        config.stash[KEY] = Laboratory(config)
    return config.stash[KEY]


class Laboratory:
    """Settings, tasks, candidates and the sandbox of one pytest process; all made when first asked for."""

    def __init__(self, config: pytest.Config):
        self.config = config
        self.settings = Settings.of(config)
        self._tasks: dict[Path, Task] = {}

    @cached_property
    def task_paths(self) -> dict[str, Path]:
        """Task file by task name."""
        return {path.stem: path for path in task_files(self.settings.tasks)}

    @cached_property
    def extra(self) -> set[str]:
        """Names of the tasks outside the benchmark; a faulty file is none of them. Loads every task file."""
        return {name for name, path in self.task_paths.items() if self._is_extra(path)}

    def _is_extra(self, path: Path) -> bool:
        try:
            return self.task(path).extra
        except TaskError:
            return False

    @cached_property
    def found(self) -> Found:
        """The candidates of the chosen methods, and what was ignored."""
        categories = {name: path.parent.name for name, path in self.task_paths.items()}
        return discover(self.settings.candidates, categories, methods=self.settings.methods or None)

    @cached_property
    def by_task(self) -> dict[str, list[Candidate]]:
        """The candidates of every task, in a fixed order."""
        grouped: dict[str, list[Candidate]] = {}
        for candidate in sorted(self.found.candidates, key=lambda c: c.order):
            grouped.setdefault(candidate.task, []).append(candidate)
        return grouped

    @cached_property
    def by_label(self) -> dict[str, Candidate]:
        """Candidate by label: `claude:r1/relu`."""
        return {candidate.label: candidate for candidate in self.found.candidates}

    @cached_property
    def sandbox(self) -> Sandbox:
        return Sandbox(self.settings.device, memory=self.settings.memory)

    @cached_property
    def lease(self) -> Lease:
        """Of the GPU that this process judges on."""
        return device_lease() if self.settings.device == "cuda" else NoLease()

    def task(self, path: Path) -> Task:
        """The task that a file declares, loaded once."""
        if path not in self._tasks:
            self._tasks[path] = load_task(path)
        return self._tasks[path]

    def relative(self, path: str | Path) -> str:
        """A path as one would type it."""
        relative = os.path.relpath(path, self.config.invocation_params.dir)
        return str(path) if relative.startswith("..") else relative

    def path_options(self) -> list[str]:
        """Options that say where tasks and candidates are, where the task file's own checkout does not say it."""
        given = [name for name in ("tasks", "candidates") if self.config.getoption(f"kbx_{name}")]
        named = ["tasks", "candidates"] if "tasks" in given else given
        return [f"--kbx-{name}={self.relative(getattr(self.settings, name))}" for name in named]

    @cached_property
    def environment(self) -> dict[str, Any]:
        """What the verdicts of this run depend on, for every record."""
        import torch

        device = torch.cuda.get_device_name() if self.settings.device == "cuda" else platform.processor() or "cpu"
        versions = {name: _version(name) for name in ("torch", "triton", "numpy", "hypothesis", "pytest")}
        return {
            "run": os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex,
            "device": self.settings.device,
            "device_name": device,
            **versions,
            "python": platform.python_version(),
            "suite": _version("pytest-kernelbenchx"),
            "effort": self.settings.effort if self.settings.case is None else ONE_CASE,
            "seed": self.settings.seed,
        }

    def record(self, of: Evaluation, stage: str, size: str | None, outcome: Outcome, seconds: float) -> dict[str, Any]:
        """One line of the results file."""
        candidate = of.candidate
        return {
            "schema": SCHEMA,
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "task": of.task.name,
            "category": of.task.category,
            "method": candidate.method,
            "round": candidate.round,
            "sample": candidate.sample,
            "stage": stage,
            "size": size,
            "verdict": outcome.verdict.name,
            "kind": outcome.verdict.kind,
            "reason": outcome.reason,
            "details": outcome.details[:4000],
            "facts": outcome.facts,
            "seconds": round(seconds, 3),
            "sha256": candidate.sha256,
            "task_sha256": hashlib.sha256(Path(of.task.path).read_bytes()).hexdigest(),
            "source": self.relative(candidate.path) + (f":{candidate.line}" if candidate.line else ""),
            **({"quality": quality(candidate.source)} if stage == "compiles" else {}),
            "layers": self.sandbox.facts.get("layers", []),
            **self.environment,
        }

    def close(self) -> None:
        """End the sandbox, if it was started."""
        if "sandbox" in vars(self):
            self.sandbox.close()


def _version(package: str) -> str:
    if package in sys.modules and hasattr(sys.modules[package], "__version__"):
        return str(sys.modules[package].__version__)
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
