"""Cases that chance would leave out: an axis longer than a block, one element beside blocks, an `out` with strides."""

import random

import pytest
import torch
from hypothesis import find
from hypothesis.errors import NoSuchExample, Unsatisfiable

from conftest import TASKS
from pytest_kernelbenchx.drawing import cases
from pytest_kernelbenchx.judge.caller import preallocated
from pytest_kernelbenchx.judge.explicit import QUIET
from pytest_kernelbenchx.judge.sharing import BESIDE, LONG, LONG_CASES, LONG_FROM, shares
from pytest_kernelbenchx.loading import load_task
from pytest_kernelbenchx.settings import CASES


def first(about, share):
    """The simplest case of a share."""
    drawn = cases(about, share.budget, share.kind, share.simplest)
    return find(drawn, lambda case: True, settings=QUIET, random=random.Random(0))


def long_shares(about, effort, device="cpu"):
    every = shares(about, CASES[effort], device)
    return [share for share in every if share.budget.long and share.budget.long != BESIDE.long]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_each_axis_is_long_in_its_turn(device):
    about = load_task(TASKS / "matrix_multiply" / "addmm.py")
    found = [first(about, share).axes for share in long_shares(about, "standard", device)]
    least, most = LONG[device].long
    long = [[name for name, n in axes.items() if isinstance(n, int) and n >= least] for axes in found]
    assert long == [["K"], ["N"]]  # what is summed over, then the last axis of the result
    assert all(n <= most for axes in found for n in axes.values() if isinstance(n, int))


@pytest.mark.parametrize("name", ["math/softmax", "reduce/sum", "activation/relu", "normalization/batch_norm"])
def test_any_shape_can_have_a_long_axis(name):
    about = load_task(TASKS / f"{name}.py")
    share = long_shares(about, "standard")[0]
    axes = first(about, share).axes
    lengths = [n for value in axes.values() for n in (value if isinstance(value, list) else [value])]
    assert max(lengths) >= share.budget.long[0]
    assert 0 not in lengths
    assert about.elements(axes) <= share.budget.elements


def test_the_work_stays_within_the_budget():
    about = load_task(TASKS / "matrix_multiply" / "matmul.py")
    for share in long_shares(about, "standard"):
        case = first(about, share)
        assert sum(about.operations({**case.axes, "dtype": case.dtype}).values()) <= share.budget.flops


def test_who_asks_for_few_cases_gets_no_long_ones():
    about = load_task(TASKS / "activation" / "relu.py")
    assert CASES["quick"] < LONG_FROM <= CASES["standard"]
    assert len(long_shares(about, "quick")) == 0
    assert len(long_shares(about, "standard")) == len(long_shares(about, "thorough")) == LONG_CASES
    assert sum(share.count for share in shares(about, CASES["standard"], "cpu")) == CASES["standard"]


def test_a_task_that_names_its_lengths_has_none():
    about = load_task(TASKS / "convolution" / "conv2d.py")
    with pytest.raises((NoSuchExample, Unsatisfiable)):
        first(about, long_shares(about, "standard")[0])


@pytest.mark.parametrize(("effort", "wanted"), [("quick", ["K"]), ("standard", ["K", "N"])])
def test_one_element_lies_beside_the_blocks(effort, wanted):
    about = load_task(TASKS / "matrix_multiply" / "addmm.py")
    found = [share for share in shares(about, CASES[effort], "cpu") if share.budget.long == BESIDE.long]
    axes = [first(about, share).axes for share in found]
    assert [[name for name, n in one.items() if n == 4097] for one in axes] == [[name] for name in wanted]


def test_a_tensor_beside_the_blocks_has_no_other_elements():
    """Else what lies in one row after the other would fill the blocks in another way."""
    about = load_task(TASKS / "activation" / "relu.py")
    share = next(share for share in shares(about, CASES["quick"], "cpu") if share.budget.long == BESIDE.long)
    assert about.elements(first(about, share).axes) == 4097


def test_out_is_passed_with_strides_too():
    about = load_task(TASKS / "math" / "exp_sqrt.py")
    drawn = cases(about).filter(lambda case: case.out)
    for layouts in ({"out": "strided"}, {}):
        with_layouts = drawn.filter(lambda case, wanted=layouts: case.layouts == wanted)
        assert find(with_layouts, lambda case: True, settings=QUIET, random=random.Random(0)).out
    with pytest.raises(NoSuchExample):
        find(cases(about), lambda case: "out" in case.layouts and not case.out, settings=QUIET, random=random.Random(0))
    made = preallocated([torch.ones(2, 3)], "strided")
    assert made.shape == (2, 3)
    assert not made.is_contiguous()
    assert bool(made.isnan().all())
