"""How the drawn cases of a candidate are divided: over element types and fills, and to a few large ones."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pytest_kernelbenchx.drawing import Budget, kinds
from pytest_kernelbenchx.task import Task

BUDGETS = {"cpu": Budget(2**14, 2**22), "cuda": Budget(2**16, 2**26)}
LARGE = {"cpu": Budget(2**17, 2**23, least=2**15)}  # a GPU's usual cases are as large, and stage three's far larger
LARGE_CASES = 2


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
        return self.budget.least > 0

    def smaller(self, device: str) -> "Share":
        """The same share of usual cases, for a task that has no large ones."""
        return replace(self, budget=BUDGETS[device])


def shares(task: Task, cases: int, device: str) -> Iterator[Share]:
    """Exactly `cases` in all: every kind has its share, and in the interpreter the last two are large."""
    every_kind = kinds(task)
    large = LARGE_CASES if device in LARGE else 0
    each, more = divmod(cases - large, len(every_kind))
    for number, kind in enumerate(every_kind):
        if count := each + (number < more):
            yield Share(kind, count, BUDGETS[device], simplest=number == 0)
    for kind in ((task.dtypes[0], "standard"), (task.dtypes[-1], "outlier"))[:large]:
        yield Share(kind, 1, LARGE[device])
