"""Memory that nothing was written to holds the same bytes in every run, and an element that is left out shows."""

import ctypes
import subprocess
import sys

import pytest

from conftest import RELU
from pytest_kernelbenchx.judge.hints import UNWRITTEN
from pytest_kernelbenchx.sandbox import fresh

PROGRAM = """
import torch
from pytest_kernelbenchx.sandbox.fresh import fill_fresh_memory
assert fill_fresh_memory()
for count in (1, 5, 1000, 100_000, 3_000_000):
    held = [torch.full((count,), 3.0) for _ in range(3)]
    del held
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int64):
        assert (torch.empty(count, dtype=dtype).view(torch.uint8) == 0x7F).all(), (count, dtype)
"""
# the third element is never stored
FORGETS = RELU.replace("mask=i < n)\n\n", "mask=(i < n) & (i != 2))\n\n")


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="no glibc")
def test_every_type_and_size():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_another_c_library(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert fresh.fill_fresh_memory() is False


def test_an_element_that_is_never_written(tree):
    """Both runs find the same, though the memory may have held the right value of the call before."""
    assert FORGETS != RELU
    tree.candidate("forgets", FORGETS)
    first, second = (tree.run("-k", "relu and not leaky and not fused", "-m", "correct") for _ in range(2))
    for result in (first, second):
        record = result.one()
        assert record["verdict"] == "WRONG_VALUES"
        assert "got 3.39615136e+38" in record["details"]
        assert f"hint: {UNWRITTEN}" in record["details"]
    assert first.one()["facts"]["case"] == second.one()["facts"]["case"]
