"""Utilisation by hand, and times that cannot be."""

from pathlib import Path

import pytest

from pytest_kernelbenchx.cases import from_size
from pytest_kernelbenchx.loading import load_task
from pytest_kernelbenchx.performance import cost, hardware
from pytest_kernelbenchx.performance.roofline import Utilisation, least_seconds, utilisation

TASKS = Path(__file__).parents[1] / "tasks"
H200 = hardware.find("NVIDIA H200")


def test_a_copy_is_bound_by_memory():
    used = utilisation(H200, 1e-3, moved=2_400_000_000, operations={}, floor=1e-6)
    assert used.iou == pytest.approx(0.5)
    assert used.mfu is None
    assert (used.efficiency, used.bound) == (used.iou, "memory")


def test_a_product_is_bound_by_compute():
    n = 4096
    used = utilisation(H200, 200e-6, moved=3 * n * n * 2, operations={"f16": 2 * n**3}, floor=1e-6)
    assert used.mfu == pytest.approx(2 * n**3 / 200e-6 / 989.4e12)
    assert used.iou == pytest.approx(6 * n * n / 200e-6 / 4.8e12)
    assert (used.efficiency, used.bound) == (used.mfu, "compute")


def test_the_busiest_unit_counts():
    used = utilisation(H200, 1e-3, moved=1000, operations={"f16": 98_940_000_000, "f32": 33_450_000_000}, floor=1e-6)
    assert used.mfu == pytest.approx(0.5, rel=0.01)


def test_short_calls_are_bound_by_the_launch():
    assert utilisation(H200, 2e-6, 8192, {}, floor=1e-6).bound == "launch"
    assert utilisation(H200, 4e-6, 8192, {}, floor=1e-6).bound == "memory"


def test_an_unknown_gpu_gives_no_share():
    assert utilisation(None, 1e-3, 1 << 30, {"f16": 1 << 40}, floor=1e-6) == Utilisation()
    assert Utilisation().efficiency is None


def test_a_class_without_a_peak_gives_no_mfu():
    v100 = hardware.find("Tesla V100-SXM2-16GB")
    assert utilisation(v100, 1e-3, 1000, {"int8": 1000}, floor=0.0).mfu is None


@pytest.mark.parametrize(
    ("path", "size", "kind"),
    [
        ("matrix_multiply/matmul_fp16.py", None, "f16"),
        ("quantization/matmul_w8a8.py", None, "int8"),
        ("quantization/linear_w4a16.py", None, "f16"),
        ("activation/relu.py", "4k", "f32"),
    ],
)
def test_class_of_arithmetic(path, size, kind):
    task = load_task(TASKS / path)
    case = from_size(task, size or next(iter(task.sizes)))
    assert cost.arithmetic(task, case) == kind


def test_the_least_time_leaves_room_for_what_kernels_really_do():
    n = 1 << 27
    assert least_seconds(H200, 8 * n, {}) < 8 * n / 4.69e12  # the best bandwidth measured on one is 4.69 TB/s
    assert least_seconds(H200, 8 * n, {}) > 8 * n / 6e12
    m = 8192
    fastest = 2 * m**3 / 1491e12  # measured, fp8
    assert least_seconds(H200, 3 * m * m, {"int8": 2 * m**3}) < fastest
    assert least_seconds(H200, 3 * m * m, {"f32": 2 * m**3}) > 2 * m**3 / 3000e12
