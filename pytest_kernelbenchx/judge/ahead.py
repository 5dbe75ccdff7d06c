"""Several processes of one candidate answer its cases at the same time, the judge takes their answers in order.

On a GPU most of stage two goes into compiling kernels: new element types, sizes and alignments ask for new ones, and a
compiler has one core. Which process answers which case follows from the order of the cases alone.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge.caller import Caller
from pytest_kernelbenchx.judge.judging import Reply
from pytest_kernelbenchx.judge.oracle import Expectation

WAITING = 4  # cases a process that are asked before the first of them is judged


class Asked(NamedTuple):
    """A case that one of the processes answers."""

    case: Case
    expected: Expectation
    caller: Caller
    answer: "Future[Reply]"


class Several:
    """A candidate's process and others like it. What the others learn is told to the first at the end.

    Args:
        caller: the first process.
        count: how many there are in all.
    """

    def __init__(self, caller: Caller, count: int):
        self.callers = [caller, *(caller.twin() for _ in range(count - 1))]
        self._threads = [ThreadPoolExecutor(1) for _ in self.callers]
        self._asked: deque[Asked] = deque()

    def __enter__(self) -> "Several":
        return self

    def __exit__(self, *_: object) -> None:
        """Leave what was not answered yet. Only the first process, if it is at work, is waited for."""
        first, *others = self.callers
        for thread in self._threads:
            thread.shutdown(wait=False, cancel_futures=True)
        for other in others:
            other.interrupt()
        for thread in self._threads:
            thread.shutdown()
        for other in others:
            other.close()
            first.absorb(other)

    def answers(self, cases: Iterable[Case], expect: Callable[[Case], Expectation]) -> Iterator[Asked]:
        """The cases in order. An answer may have to be waited for, and may raise what `Caller.call` raises."""
        for number, case in enumerate(cases):
            which = number % len(self.callers)
            caller, expected = self.callers[which], expect(case)
            answer = self._threads[which].submit(partial(caller.call, case, expected))
            self._asked.append(Asked(case, expected, caller, answer))
            if len(self._asked) > WAITING * len(self.callers):
                yield self._asked.popleft()
        while self._asked:
            yield self._asked.popleft()
