"""Several processes of one candidate answer its cases at the same time, the judge takes their answers in order.

On a GPU most of stage two goes into compiling kernels: new element types, sizes and alignments ask for new ones, and a
compiler has one core. A process that is free takes the next case; which configuration of an autotuned kernel a case
gets follows from its number alone.
"""

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import SimpleQueue

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge.caller import Caller
from pytest_kernelbenchx.judge.judging import Reply
from pytest_kernelbenchx.judge.oracle import Expectation

WAITING = 4  # cases a process that are asked before the first of them is judged


@dataclass
class Asked:
    """A case that one of the processes answers."""

    case: Case
    expected: Expectation
    caller: Caller
    _answer: "Future[Reply]" = field(default_factory=Future)

    def reply(self) -> Reply:
        """Wait for the answer; raises what `Caller.call` raises."""
        return self._answer.result()


class Several:
    """A candidate's process and others like it. What the others learn is told to the first at the end.

    Args:
        caller: the first process.
        count: how many there are in all.
    """

    def __init__(self, caller: Caller, count: int):
        self.callers = [caller, *(caller.twin() for _ in range(count - 1))]
        self._threads = ThreadPoolExecutor(count)
        self._free: SimpleQueue[Caller] = SimpleQueue()

    def __enter__(self) -> "Several":
        """The processes start, and load the candidate."""
        for caller in self.callers:
            self._threads.submit(self._load, caller)
        return self

    def __exit__(self, *_: object) -> None:
        """Leave what was not answered yet. Only the first process, if it is at work, is waited for."""
        first, *others = self.callers
        self._threads.shutdown(wait=False, cancel_futures=True)
        for other in others:
            other.interrupt()
        self._threads.shutdown()
        for other in others:
            other.close()
            first.absorb(other)

    def answers(self, cases: Iterable[Case], expect: Callable[[Case], Expectation]) -> Iterator[Asked]:
        """The cases in order, each while it or a later one is answered."""
        waiting: deque[Asked] = deque()
        for number, case in enumerate(cases):
            asked = Asked(case, expect(case), self.callers[0])
            asked._answer = self._threads.submit(self._call, asked, number)
            waiting.append(asked)
            if len(waiting) > WAITING * len(self.callers):
                yield waiting.popleft()
        yield from waiting

    def _load(self, caller: Caller) -> None:
        with contextlib.suppress(Exception):  # it is raised again where the caller is asked
            caller.load()
        self._free.put(caller)

    def _call(self, asked: Asked, number: int) -> Reply:
        asked.caller = self._free.get()
        try:
            return asked.caller.call(asked.case, asked.expected, turn=number)
        finally:
            self._free.put(asked.caller)
