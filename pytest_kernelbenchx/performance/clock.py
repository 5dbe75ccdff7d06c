"""What is timed (`Side`), and what measures it (`Clock`): the protocol in `timing` knows of a device nothing else."""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

Work = Callable[[], Any]


class Clock(ABC):
    """What the protocol needs of a device.

    Attributes:
        l2: bytes of the cache.
        graphs: whether `capture` may be tried.
        obstacle: why the last `capture` failed.
        repeated, late: batches that were measured again, or in the end still not apart from the host's work.
    """

    l2 = 0
    graphs = True
    obstacle = ""
    repeated = late = 0

    @abstractmethod
    def now(self) -> float:
        """Seconds by the host's clock."""

    @abstractmethod
    def wait(self) -> None:
        """Until the device has done everything."""

    @abstractmethod
    def timed(self, works: Sequence[Work], flush: bool = False) -> list[float]:
        """Device seconds of each of `works`, which run one after the other without waiting for the host.

        Args:
            flush: whether other memory is read before each of them.
        """

    @abstractmethod
    def capture(self, work: Work) -> Work | None:
        """A replay of everything that `work` launches, or None if that cannot be had."""

    def floor(self) -> float:
        """Seconds of the smallest launch in a replay."""
        return 0.0


class Side:
    """PyTorch, or the candidate: calls on the input sets in turn.

    Args:
        call: takes the number of a set, returns the outputs.
        sets: how many there are.

    Attributes:
        outputs: of the last call on every set, which keeps their memory apart.
        kept: outputs of one call on every set, chosen at random among all since `forget`.
    """

    def __init__(self, call: Callable[[int], Any], sets: int):
        self.call, self.sets, self.turn = call, sets, 0
        self._chance = random.Random(random.SystemRandom().getrandbits(128)).random
        self.forget()

    def forget(self) -> None:
        self.outputs: list[Any] = [None] * self.sets
        self.kept: list[Any] = [None] * self.sets
        self._seen = [0] * self.sets

    def __call__(self) -> None:
        number = self.turn % self.sets
        self.turn += 1
        result = self.call(number)
        self.outputs[number] = result
        self._seen[number] += 1
        if self._chance() * self._seen[number] < 1:
            self.kept[number] = result

    def drop(self, number: int) -> None:
        """Forget the outputs on one set."""
        self.outputs[number] = self.kept[number] = None
        self._seen[number] = 0

    def times(self, calls: int) -> Work:
        """So many calls, of which one on every set is kept."""

        def work() -> None:
            self.forget()
            for _ in range(calls):
                self()

        return work
