"""Fixtures, for the stages and for a user's own tests: `pytest --fixtures` lists them."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pytest_kernelbenchx.collection import EAGER, TaskFile
from pytest_kernelbenchx.judge.evaluation import Evaluation
from pytest_kernelbenchx.laboratory import KEY, laboratory
from pytest_kernelbenchx.task import Task


@pytest.fixture(scope="module")
def candidate(request: pytest.FixtureRequest) -> Iterator[Evaluation]:
    """A candidate with its task. `candidate.compiles()`, `candidate.correct()` and `candidate.performs(size)` judge it;
    `candidate.check(case)` judges one case; `candidate.candidate` has its source, method, round and sample.

    A test that asks for it runs once per candidate that was found.
    """
    evaluation = evaluation_of(request.node, request.param)
    yield evaluation
    evaluation.close()


@pytest.fixture(scope="module")
def task(request: pytest.FixtureRequest) -> Task:
    """The task of the candidate; in a test that asks for no candidate, every task in turn."""
    if hasattr(request, "param"):
        lab = laboratory(request.config)
        return lab.task(lab.task_paths[request.param])
    return request.getfixturevalue("candidate").task


@pytest.fixture(scope="module")
def reference(task: Task) -> Callable[..., Any]:
    """The PyTorch function that defines the task."""
    return task.reference


@pytest.fixture
def size(request: pytest.FixtureRequest) -> str:
    """Label of one of the task's sizes. In task files it is a parameter; a user's own test parametrises it."""
    return request.param


def evaluation_of(module: Any, name: str) -> Any:
    """What a parameter stands for: `claude` in a task file, `relu:claude` in other modules, `eager` for PyTorch."""
    lab = laboratory(module.config)
    stem, _, id = (module.path.stem, "", name) if isinstance(module, TaskFile) else name.partition(":")
    task = lab.task(module.path if isinstance(module, TaskFile) else lab.task_paths[stem])
    if id == EAGER:
        from pytest_kernelbenchx.judge.speed import EagerEvaluation

        return EagerEvaluation(task, lab)
    return Evaluation(task, lab.by_label[f"{id}/{stem}"], lab)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Let the sandbox import torch and triton while the first test is being set up."""
    judged = any(isinstance(item.parent, TaskFile) for item in session.items)
    if judged and not session.config.getoption("collectonly"):
        laboratory(session.config).sandbox.prepare()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Send what was recorded home on the report, so that a later crash of this process loses nothing."""
    report = yield
    evaluation: Any = getattr(item, "funcargs", {}).get("candidate")
    if getattr(evaluation, "laboratory", None) is laboratory(item.config) and evaluation.unsent:
        report.kbx_records, evaluation.unsent = evaluation.unsent, []
    return report


def pytest_unconfigure(config: pytest.Config) -> None:
    if KEY in config.stash:
        config.stash[KEY].close()
