"""Results that depend on memory that nothing had written: right by luck, or wrong and now explained."""

from types import SimpleNamespace

import pytest
import torch

from pytest_kernelbenchx.judge import freshness
from pytest_kernelbenchx.judge.freshness import compared, depends
from pytest_kernelbenchx.judge.judging import Reply
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.sandbox.evidence import Evidence, Memory

TASK = '''
"""The least element of each row."""

from pytest_kernelbenchx import task


@task(inputs={"x": "f32[M, N]"}, output="f32[M]", sizes={"4k": dict(M=64, N=64)}, examples=[dict(M=40, N=70)])
def row_min(x):
    return x.amin(1)
'''
HEAD = """
import torch
import triton
import triton.language as tl


@triton.jit
def _least(x, out, M, N, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + row * N + i, mask=i < N, other=float("inf"))
    tl.atomic_min(out + row, tl.min(value, 0), mask=row < M)


@triton.jit
def _halves(x, part, M, N, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + row * N + i, mask=i < N, other=float("inf"))
    tl.store(part + row * 1024 + tl.program_id(1), tl.min(value, 0))


@triton.jit
def _whole(part, out, count, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(part + row * BLOCK + i)
    value = tl.where(i < count, value, float("inf"))
    tl.store(out + row, tl.min(value, 0))


def row_min(x):
    x = x.contiguous()
    M, N = x.shape
    grid = (M, triton.cdiv(N, 64))
"""
KEPT = "    out = torch.empty(M)\n    _least[grid](x, out, M, N, BLOCK=64)\n"
CANDIDATES = {
    "lucky": (f"{KEPT}    return out\n", "UNINITIALISED_READ"),
    "wrong": (KEPT.replace("empty", "zeros") + "    return out\n", "WRONG_VALUES"),
    "right": (KEPT.replace("empty(M)", 'full((M,), float("inf"))') + "    return out\n", "PASSED"),
    "scratch": (
        "    part, out = torch.empty(M, 1024), torch.empty(M)\n    _halves[grid](x, part, M, N, BLOCK=64)\n"
        "    _whole[(M,)](part, out, grid[1], BLOCK=1024)\n    return out\n",
        "PASSED",
    ),
}


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    from conftest import Tree

    tree = Tree(tmp_path_factory.mktemp("freshness"))
    (tree.path / "tasks" / "reduce").mkdir(parents=True)
    (tree.path / "tasks" / "reduce" / "row_min.py").write_text(TASK)
    for method, (source, _) in CANDIDATES.items():
        tree.candidate(method, HEAD + source, "row_min", "reduce")
    result = tree.run("-m", "correct", "--kbx-tasks=tasks")
    found = {record["method"]: record for record in result.records if record["stage"] == "correct"}
    assert set(found) == set(CANDIDATES), result.text
    return found


@pytest.mark.parametrize("method", CANDIDATES)
def test_verdicts(records, method):
    assert records[method]["verdict"] == CANDIDATES[method][1], records[method]["reason"]


def test_what_is_right_by_luck_names_the_kernel(records):
    """Fresh memory happens to hold the largest numbers, so the least of all is right until it holds others."""
    reason = records["lucky"]["reason"]
    assert reason.startswith("the result depends on memory that nothing had written: _least read ")
    assert records["lucky"]["facts"]["call"].startswith("row_min(")


def test_scratch_that_is_read_and_not_used_is_only_told(records):
    assert records["scratch"]["facts"]["audit"]["uninitialised"]["_whole"] > 0


def test_elements_that_differ_and_those_that_were_never_written():
    full, zero = torch.zeros(5), torch.zeros(5)
    full.view(torch.uint8)[:8] = 0xFF
    full[3] = 1.0
    assert compared(full, zero, 255, 0) == (3, 2)
    assert compared(full, zero, 255, 127) == (3, 0)
    assert compared([full, zero], [full, full], 255, 0) == (3, 0)
    assert compared(full, None, 255, 0) == (0, 0)


def reply(value, read):
    memory = Memory(1, 1, 1, 0, 0, {"_k": read} if read else {}, 1.0, [1.0])
    return Reply([value], evidence=Evidence(memory=memory) if read is not None else None, devices=["cpu"])


@pytest.mark.parametrize(
    ("read", "left", "verdict"),
    [
        (3, True, "UNINITIALISED_READ"),
        (3, False, "UNINITIALISED_READ"),
        (0, True, "WRONG_VALUES"),
        (0, False, None),
        (None, True, "WRONG_VALUES"),
        (None, False, "UNINITIALISED_READ"),
    ],
)
def test_loads_that_were_watched_count_more_than_bytes(read, left, verdict):
    """`read` elements that nothing had written, None where loads are not watched; `left`: the bytes of fresh memory."""
    right, wrong = torch.zeros(3), torch.full((3,), 2.0)
    if left:
        wrong.view(torch.uint8)[:] = 0xFF
    found = depends((255, reply(wrong, read)), (0, reply(right, read)))
    assert (found and found.verdict.name) == verdict


@pytest.mark.parametrize(
    ("verdicts", "found"),
    [
        ({0xFF: "W", 0: "P"}, "UNINITIALISED_READ"),
        ({0xFF: "W", 0: "W", 0x7F: "P"}, "UNINITIALISED_READ"),
        ({0xFF: "P", 0: "W"}, "UNINITIALISED_READ"),
        ({0xFF: "P", 0: "P", 0x7F: "P"}, None),
        ({0xFF: "W", 0: "W", 0x7F: "W"}, None),
        ({0xFF: "WP", 0: "P"}, None),
        ({0xFF: "W", 0: "PW"}, None),
        ({0xFF: "R", 0: "P"}, None),
    ],
)
def test_one_byte_must_be_right_and_another_wrong_each_time(monkeypatch, verdicts, found):
    """P passed, W wrong values, R an error; two letters for the first call and the later ones."""
    asked = []
    names = {"P": Verdict.PASSED, "W": Verdict.WRONG_VALUES, "R": Verdict.RUNTIME_ERROR}

    def call(case, expected, audit):
        asked.append(audit["fresh"])
        return reply(torch.full((3,), float(audit["fresh"])), 3)

    def judged(task, case, expected, answer):
        letters = verdicts[asked[-1]]
        return Outcome(names[letters[0] if asked.count(asked[-1]) == 1 else letters[-1]])

    monkeypatch.setattr(freshness, "judge", judged)
    outcome = freshness.judge_freshness(None, SimpleNamespace(call=call), None, None)
    assert (outcome and outcome.verdict.name) == found
