"""docs/correctness.md quotes the code: its constants, its words, its names."""

import re

import pytest
import torch
from test_random_tasks import FEW

from conftest import ROOT, TASKS
from pytest_kernelbenchx.judge import chance, compare, hints, properties, tolerance
from pytest_kernelbenchx.loading import load_task, task_files
from pytest_kernelbenchx.settings import CASES

PAGE = " ".join((ROOT / "docs" / "correctness.md").read_text().split())
ROWS = {
    row.split("|")[1].strip(): [cell.strip() for cell in row.split("|")[2:-1]]
    for row in (ROOT / "docs" / "correctness.md").read_text().splitlines()
    if row.startswith("| ")
}
TYPES = ("f64", "f32", "f16", "bf16")


@pytest.mark.parametrize(("place", "row"), [*enumerate(["rtol * abs(truth)", "atol * scale", "factor * PyTorch's"])])
def test_table_of_tolerances(place, row):
    (cells,) = [cells for label, cells in ROWS.items() if label.startswith(row)]
    assert cells == [f"{tolerance.TABLE[name][place]:g}" for name in TYPES]


def test_flushed_denormals():
    types = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
    wanted = ["0" if dtype in compare.EXACT_NEAR_0 else f"{tolerance.FLUSHED:g}" for dtype in types]
    assert ROWS["flushed denormals"] == wanted


@pytest.mark.parametrize(
    "quoted",
    [
        f"or {tolerance.NOISE_FACTOR:g} times the *noise*",
        f"at most {tolerance.NOISE_MOST:g} of the element or the scale",
        f'the message says: "{hints.TF32}"',
        f"at most once in {1 / chance.FAMILY:.0f} times",
        f"each up to {properties.GROWTH:g} * n * eps of the norm",
        f"quick effort ({CASES['quick']} drawn cases)",
        "elements beyond 4 times the median cut down",
    ],
)
def test_page_quotes_the_code(quoted):
    assert quoted in PAGE


def test_scale_cuts_what_is_beyond_four_times_the_median():
    values = torch.cat([torch.ones(9), torch.tensor([100.0])]).double()
    assert float(compare.scale_of(values)) == pytest.approx(((9 + 16) / 10) ** 0.5)


def test_rates_that_quick_effort_misses_are_named():
    assert set(re.findall(r"`(fused_\w+)`", PAGE)) == FEW


def test_tasks_declare_the_exceptions_that_the_page_names():
    tasks = [load_task(path) for path in task_files(TASKS)]
    declared = [tolerance.Tolerance.of(task.tolerance) for task in tasks]
    assert any(each.ties for each in declared)
    assert any(each.rows is not None for each in declared)
