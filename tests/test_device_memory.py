"""A candidate's share of a GPU's memory."""

from types import SimpleNamespace

import pytest
import torch

from pytest_kernelbenchx.judge.verdicts import Verdict
from pytest_kernelbenchx.sandbox import device_memory
from pytest_kernelbenchx.sandbox.host import Sandbox

TAKES = """
import torch
kept = []
def f(gib, x):
    kept.append(torch.empty(gib << 30, dtype=torch.uint8, device=x.device))
"""


@pytest.mark.parametrize(("memory", "share"), [(8 << 30, 0.25), (32 << 30, 1.0), (64 << 30, 1.0)])
def test_the_cap_is_set_once_as_a_share_of_the_gpu(monkeypatch, memory, share):
    set_to = []
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(total_memory=32 << 30))
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", lambda *given: set_to.append(given))
    device_memory.cap.cache_clear()
    device_memory.cap("cuda", memory)
    device_memory.cap("cuda", memory)
    device_memory.cap("cpu", memory)
    device_memory.cap.cache_clear()
    assert set_to == [(share, 0)]


@pytest.mark.gpu
def test_a_candidate_that_takes_more_is_out_of_memory_and_its_neighbours_are_not():
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    with Sandbox("cuda", memory=4 << 30) as sandbox:
        greedy, modest = sandbox.child(), sandbox.child()
        for child in (greedy, modest):
            assert child.load("kernel.py", TAKES, ["f"], 60.0).ok
        x = torch.ones(3)
        assert greedy.call([3, x], {}, seed=0, timeout=60.0).ok
        assert greedy.call([2, x], {}, seed=0, timeout=60.0).outcome.verdict is Verdict.OUT_OF_MEMORY
        assert modest.call([3, x], {}, seed=0, timeout=60.0).ok
        greedy.kill()
        modest.kill()
