"""Under xdist: one candidate's stages on one worker, in order; candidates of a task spread; every worker has its GPU
and its share of the cores."""

import os
import subprocess
from collections.abc import Mapping
from itertools import takewhile
from typing import Any

import pytest
import torch

from pytest_kernelbenchx.laboratory import laboratory

VISIBLE = "CUDA_VISIBLE_DEVICES"


def scope_of(nodeid: str) -> str:
    """What goes to one worker together: the file and the candidate of `file::test_performs[claude-4k]`.

    Size labels hold no dash, names of methods may.
    """
    path, _, test = nodeid.partition("::")
    name, bracket, parameters = test.rstrip("]").partition("[")
    if name not in ("test_compiles", "test_correct", "test_performs") or not bracket:
        return nodeid
    return f"{path}[{parameters.rpartition('-')[0] if name == 'test_performs' else parameters}]"


def pytest_configure(config: pytest.Config) -> None:
    """A worker takes its share of the cores: PyTorch would take all of them in every worker, and they would wait."""
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers > 1 and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) // workers))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Used for what `-n` gives; any other --dist is the user's choice."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class CandidateScheduling(LoadScopeScheduling):
        """Differs from its base where a worker has died: there a test that kills its worker is run again on the next,
        a scope without tests left is handed out and never ends, and so does one given to a worker that still collects.
        """

        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

        def remove_node(self, node: Any) -> str | None:
            units = self.assigned_work.pop(node)
            crashed = next((test for unit in units.values() for test, done in unit.items() if not done), None)
            for scope, unit in units.items():
                if crashed in unit:
                    unit[crashed] = True
                if not all(unit.values()):
                    self.workqueue[scope] = unit
            if crashed is not None:
                for other in self.assigned_work:
                    self._reschedule(other)
            return crashed

        def _reschedule(self, node: Any) -> None:
            if node in self.registered_collections:
                super()._reschedule(node)

    return CandidateScheduling(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Any) -> None:
    """Deal the GPUs to the workers of this machine in turn; one whose specification names its GPU keeps it."""
    lab = laboratory(config)
    if lab.settings.device != "cuda" or not lab.task_paths or not (names := gpus(os.environ)):
        return
    local = [spec for spec in specs if spec.popen and not spec.via]
    for number, spec in enumerate(local):
        spec.env.setdefault(VISIBLE, names[number % len(names)])


def gpus(environment: Mapping[str, str]) -> list[str]:
    """The GPUs that the caller may use: those of CUDA_VISIBLE_DEVICES, or all that nvidia-smi lists.

    As CUDA reads the variable: what follows an entry that is empty or -1 does not count.
    """
    if VISIBLE in environment:
        listed = [name.strip() for name in environment[VISIBLE].split(",")]
        return list(takewhile(lambda name: name not in ("", "-1"), listed))
    command = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.split() if done.returncode == 0 else []
