"""The three stages of a candidate. Collected once per task file, for every candidate and, for the last, every size."""

import pytest

from pytest_kernelbenchx.performance.device_clock import extra_info


@pytest.mark.compiles
def test_compiles(candidate):
    """The candidate parses, obeys the rules, imports, and launches a Triton kernel of its own."""
    candidate.compiles()


@pytest.mark.correct
def test_correct(candidate):
    """Its results are right, on the task's examples and on every case that Hypothesis thinks of."""
    candidate.correct()


@pytest.mark.performs
def test_performs(candidate, size, device_times):
    """Its device time, and PyTorch's beside it, at one size."""
    candidate.performs(size)
    device_times(candidate.measurements[size].seconds, **extra_info(candidate, size))
