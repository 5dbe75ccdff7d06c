"""How the drawn cases of a candidate are divided: over element types and fills, and to a few large ones."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import seed as seeded
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import Unsatisfiable

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.drawing import Budget, cases, kinds
from pytest_kernelbenchx.judge.explicit import QUIET
from pytest_kernelbenchx.judge.verdicts import Outcome, OutcomeError, Verdict
from pytest_kernelbenchx.settings import CASES, Settings
from pytest_kernelbenchx.task import Task

BUDGETS = {"cpu": Budget(2**14, 2**22), "cuda": Budget(2**16, 2**26)}
LARGE = {"cpu": Budget(2**17, 2**23, least=2**15)}  # a GPU's usual cases are as large, and stage three's far larger
LARGE_CASES = 2
LONG = {
    "cpu": Budget(2**17, 2**23, long=(2**14 + 1, 17_011)),
    "cuda": Budget(2**18, 2**26, long=(2**14 + 1, 40_009)),
}
"""One axis of a case, each in its turn, is longer than what many kernels take in one block: it is cut into parts."""
LONG_CASES, LONG_FROM = 2, 50  # how many; of how many cases in all, as those who ask for fewer are in a hurry
BESIDE = Budget(2**12 + 1, 2**22, long=(2**12 + 1, 2**12 + 1))
"""One axis has a single element more than whole blocks of every size up to 4,096, the others are next to 1."""


@dataclass(frozen=True)
class Share:
    """Some of the drawn cases.

    Attributes:
        kind: element type and fill.
        count: how many.
        budget: how large they may be.
        simplest: whether the simplest case of all is among them.
    """

    kind: tuple[str, str]
    count: int
    budget: Budget
    simplest: bool = False

    @property
    def large(self) -> bool:
        return self.budget.least > 0 or self.budget.long is not None

    def smaller(self, device: str) -> "Share":
        """The same share of usual cases, for a task that has no large ones."""
        return replace(self, budget=BUDGETS[device])


def shares(task: Task, count: int, device: str) -> Iterator[Share]:
    """Exactly `count` in all: every kind has its share; in the interpreter the last two are large. Of many cases
    some have a long axis.
    """
    every_kind = kinds(task)
    large = LARGE_CASES if device in LARGE else 0
    long = LONG_CASES if count >= LONG_FROM else 0
    beside = 2 if long else 1
    each, more = divmod(count - large - long - beside, len(every_kind))
    for number, kind in enumerate(every_kind):
        if some := each + (number < more):
            yield Share(kind, some, BUDGETS[device], simplest=number == 0)
    for turn in range(beside):
        yield Share((task.dtypes[turn % len(task.dtypes)], "standard"), 1, replace(BESIDE, turn=turn))
    for turn in range(long):
        yield Share((task.dtypes[turn % len(task.dtypes)], "standard"), 1, replace(LONG[device], turn=turn))
    for kind in ((task.dtypes[0], "standard"), (task.dtypes[-1], "outlier"))[:large]:
        yield Share(kind, 1, LARGE[device])


def draw(
    task: Task,
    settings: Settings,
    every_case: Callable[[Case], None],
    *,
    rejected: Callable[[], None],
    dear: Callable[[int], bool],
) -> None:
    """Hand on the cases that Hypothesis draws, always the same under one seed.

    Args:
        every_case: where it raises, Hypothesis looks for a smaller case that makes it raise, and raises that error.
        rejected: called for every case that the task's `where=` turns away.
        dear: whether a case of so many elements may take too long; then it is not drawn.

    Raises:
        OutcomeError: INFRA_ERROR if `where=` turns all away.
    """
    for number, share in enumerate(shares(task, CASES[settings.effort], settings.device)):
        if share.large and dear(share.budget.elements):
            continue
        try:
            _draw_share(task, share, settings.seed + number, every_case, rejected)
        except Unsatisfiable as error:
            if not share.large:
                reason = f"the task's where= rejects every case: {error}"
                raise OutcomeError(Outcome(Verdict.INFRA_ERROR, reason)) from None
            _draw_share(task, share.smaller(settings.device), settings.seed + number, every_case, rejected)


def _draw_share(
    task: Task, share: Share, seed: int, every_case: Callable[[Case], None], rejected: Callable[[], None]
) -> None:
    drawn = cases(task, share.budget, share.kind, share.simplest, rejected)
    decorate = hypothesis_settings(QUIET, max_examples=share.count)
    seeded(seed)(decorate(given(case=drawn)(every_case)))()
