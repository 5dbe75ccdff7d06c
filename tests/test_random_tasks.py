"""The tasks with dropout on their own cases: honest generators pass all of them, each known mistake fails some."""

import functools
import importlib
import sys
from types import SimpleNamespace

import pytest
import torch
from audits import answer

from conftest import ROOT, TASKS
from pytest_kernelbenchx.judge.chance import pooled
from pytest_kernelbenchx.judge.judging import judge
from pytest_kernelbenchx.judge.oracle import expect
from pytest_kernelbenchx.judge.randomized import Dropout
from pytest_kernelbenchx.judge.trial import Trial
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.loading import load_task, task_files

sys.path.insert(0, str(ROOT / "benchmarks"))
schemes = importlib.import_module("quantization_schemes")

RANDOM = [task for task in map(load_task, task_files(TASKS)) if isinstance(task.random, Dropout)]
NAMES = [task.name for task in RANDOM]
COUNT = 15  # drawn cases, as at --kbx-effort=quick


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small tensors: more threads only wait for each other when tests run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Made(torch.overrides.TorchFunctionMode):
    """Within it dropout is done by `dropout(x, p, training)`."""

    def __init__(self, dropout):
        super().__init__()
        self.dropout = dropout

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function not in (torch.dropout, torch.nn.functional.dropout):
            return function(*args, **(kwargs or {}))
        named = dict(zip(("input", "p", "training"), args, strict=False)) | (kwargs or {})
        p, training = named.get("p", 0.5), named.get("training", named.get("train", True))
        made = self.dropout(named["input"], p, training)
        return named["input"].copy_(made) if named.get("inplace") else made


def masked(x, p, keep):
    return torch.where(keep, x / (1 - p), torch.zeros_like(x)) if p < 1 else torch.zeros_like(x)


def honest(x, p, training):
    return masked(x, p, torch.rand(x.shape) >= p) if training else x


def by_rows(x, p, training):
    """Every row with a seed of its own."""
    if not training or x.ndim < 2:
        return honest(x, p, training)
    rows = x.reshape(-1, x.shape[-1])
    seeds = [torch.Generator().manual_seed(int(torch.randint(2**31, ()))) for _ in rows]
    keep = torch.stack([torch.rand(rows.shape[-1], generator=seed) >= p for seed in seeds]) if len(rows) else rows > 0
    return masked(x, p, keep.reshape(x.shape))


def with_rate(off):
    return lambda x, p, training: masked(x, p, torch.rand(x.shape) >= p + off * (0 < p < 1)) if training else x


def unscaled(x, p, training):
    return torch.where(torch.rand(x.shape) >= p, x, torch.zeros_like(x)) if training else x


def always(x, p, training):
    return honest(x, p, True)


def never(x, p, training):
    return x


def one_seed(x, p, training):
    return masked(x, p, torch.rand(x.shape, generator=torch.Generator().manual_seed(7)) >= p) if training else x


def one_row(x, p, training):
    return masked(x, p, (torch.rand(x.shape[-1:]) >= p).expand(x.shape)) if training else x


def tiles(x, p, training):
    """The same tile of 16 x 16 all over every matrix."""
    side = torch.rand(16, 16).repeat(-(-(x.shape[-2] if x.ndim > 1 else 1) // 16), -(-x.shape[-1] // 16))
    side = side[: x.shape[-2], : x.shape[-1]] if x.ndim > 1 else side[0, : x.shape[-1]]
    return masked(x, p, (side >= p).expand(x.shape)) if training else x


HONEST = {"torch": honest, "a seed for every row": by_rows}
MISTAKES = {
    "not scaled": unscaled,
    "in evaluation too": always,
    "never": never,
    "one seed": one_seed,
    "one mask for all rows": one_row,
    "tiles": tiles,
}
RATES = {"rate + 0.02": with_rate(0.02), "rate - 0.02": with_rate(-0.02)}
MISSED = {("fused_mv_logsoftmax_dropout", "one mask for all rows"), ("fused_transformer_block", "in evaluation too")}
"""A vector has one row; what follows hides the mask."""
FEW = {"fused_mv_logsoftmax_dropout", "fused_transformer_block"}
"""Too few elements at quick effort, or what follows hides the mask: 0.02 is not told from chance."""


@functools.cache
def study(name):
    task = RANDOM[NAMES.index(name)]
    return task, [(case, expect(task, case)) for case in schemes.drawn(task, COUNT)]


def verdict_over_all(name, dropout):
    """The reason of the first failure, or of all cases together, or ""."""
    task, found = study(name)
    masks = []
    for case, expected in found:
        if expected.raises is not None:
            continue
        with Made(dropout):
            reply = answer(task, case, expected, seed=case.seed)
            reply.second = answer(task, case, expected, seed=case.seed + 1_000_003).value
        outcome = judge(task, case, expected, reply)
        if not outcome.passed:
            return f"{outcome.reason} on {case.to_json()}"
        masks += outcome.facts.get("masks", [])
    return pooled(masks)


@pytest.mark.parametrize("generator", HONEST)
@pytest.mark.parametrize("name", NAMES)
def test_honest_generators_pass(name, generator):
    assert verdict_over_all(name, HONEST[generator]) == ""


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("name", NAMES)
def test_mistakes_fail(name, mistake):
    reason = verdict_over_all(name, MISTAKES[mistake])
    assert bool(reason) != ((name, mistake) in MISSED)


@pytest.mark.parametrize("mistake", RATES)
def test_a_rate_that_is_wrong_by_little_fails_where_there_are_elements_enough(mistake):
    missed = {name for name in NAMES if not verdict_over_all(name, RATES[mistake])}
    assert len(missed - FEW) <= 1  # by chance


def test_stage_two_asks_for_the_rate_of_all_cases():
    trial = Trial(RANDOM[0], SimpleNamespace(), SimpleNamespace(device="cpu", effort="quick"))
    for number in range(8):
        mask = {"p": 0.5, "judged": 10_000, "dropped": 5_150}
        trial.seen[f'{{"seed": {number}}}'] = Outcome(Verdict.PASSED, facts={"masks": [mask]})
    outcome = trial._unfailed({"cases": 8})
    assert outcome.verdict is Verdict.WRONG_VALUES
    assert outcome.reason.endswith("51.5 % of 80000 elements were dropped, not 50 %")
