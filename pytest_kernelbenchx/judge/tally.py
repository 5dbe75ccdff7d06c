"""What stage two did: how many cases of which kind, and where the time went. The record of the stage carries it."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pytest_kernelbenchx.cases import Case


@dataclass
class Tally:
    """Counts of one candidate's stage two.

    Attributes:
        kinds: judged cases by element type and fill, "f32 outlier"; those with literal values are "examples".
        rejected: drawn cases that the task's `where=` turned away.
        elements: of all judged cases together.
        after_failure: cases that were judged after the first failure, to find a smaller one.
        seconds: in the reference (inputs, truth, eager result), the candidate's process, and the comparison.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    rejected: int = 0
    elements: int = 0
    after_failure: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def count(self, case: Case, elements: int, after_failure: bool) -> None:
        """One more case is judged."""
        self.kinds["examples" if case.example is not None else f"{case.dtype} {case.fill}"] += 1
        self.elements += elements
        self.after_failure += after_failure

    def reject(self) -> None:
        """One more case was turned away."""
        self.rejected += 1

    @contextmanager
    def spent(self, part: str) -> Iterator[None]:
        """Add the time that the block takes to `part`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[part] = self.seconds.get(part, 0.0) + time.perf_counter() - start

    def facts(self) -> dict[str, Any]:
        """What goes into the record; `seconds_in` alone differs between two runs."""
        return {
            "kinds": dict(sorted(self.kinds.items())),
            "rejected_by_where": self.rejected,
            "after_failure": self.after_failure,
            "seconds_in": {part: round(spent, 3) for part, spent in sorted(self.seconds.items())},
        }
