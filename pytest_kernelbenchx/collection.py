"""Collect tasks/<category>/<name>.py: the path is the task's, the tests are the three stages, once per candidate."""

from pathlib import Path
from typing import Any

import pytest

from pytest_kernelbenchx.candidate import Candidate
from pytest_kernelbenchx.laboratory import Laboratory, laboratory
from pytest_kernelbenchx.loading import TaskError

EAGER = "eager"  # stands beside the candidates where speed is measured: PyTorch itself, the baseline of its task


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Nothing in a candidates folder is collected or imported by pytest."""
    folder = laboratory(config).settings.candidates
    path = collection_path.resolve()  # it may be reached by a link
    return True if folder in (path, *path.parents) else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Any:
    """A task file is nothing else: a file named as an argument is a test module for pytest, which would import it."""
    found = yield
    folder = laboratory(parent.config).settings.tasks
    path = file_path.resolve()
    if path.suffix == ".py" and path.parent.parent == folder and path.name[0] not in "_.":
        return [TaskFile.from_parent(parent, path=file_path)]
    return found


class TaskFile(pytest.Module):
    """A task file; its items are the stages, not what the file itself holds."""

    def collect(self) -> Any:
        from pytest_kernelbenchx import stages

        if not candidates_of(laboratory(self.config), self.path):
            return []  # an empty parameter set would show as a skipped test
        self.add_marker(self.path.parent.name)
        if _task(laboratory(self.config), self.path).extra:
            self.add_marker("extra")
        self.obj = stages
        return super().collect()


def candidates_of(lab: Laboratory, path: Path) -> list[Candidate]:
    """The candidates of a task file, in a fixed order."""
    return lab.by_task.get(path.stem, [])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Candidates and sizes become parameters: in task files, and in a user's own tests that ask for `candidate`."""
    names = {name for name in ("candidate", "task", "size") if _is_ours(metafunc, name)}
    if not names & {"candidate", "task"}:
        return
    lab = laboratory(metafunc.config)
    node = metafunc.definition.getparent(TaskFile)
    paths = [node.path] if node else list(lab.task_paths.values())
    if "candidate" in names:
        ids = [c.id if node else f"{path.stem}:{c.id}" for path in paths for c in candidates_of(lab, path)]
        if node and "size" in names and lab.settings.device == "cuda":
            ids.append(EAGER)
        metafunc.parametrize("candidate", ids, indirect=True, scope="module")
    else:
        metafunc.parametrize("task", [path.stem for path in paths], indirect=True, scope="module")
    if node and "size" in names:
        metafunc.parametrize("size", list(_task(lab, node.path).sizes))


def _is_ours(metafunc: pytest.Metafunc, name: str) -> bool:
    """Whether a test asks for this plugin's fixture, and not for a user's own of the same name."""
    from pytest_kernelbenchx import fixtures

    given = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    if any(name in (names.replace(" ", "").split(",") if isinstance(names, str) else names) for names in given):
        return False
    definitions = metafunc._arg2fixturedefs.get(name)
    return bool(definitions and definitions[-1].func.__module__ == fixtures.__name__)


def _task(lab: Laboratory, path: Path) -> Any:
    try:
        return lab.task(path)
    except TaskError as error:
        raise pytest.Collector.CollectError(str(error)) from None
