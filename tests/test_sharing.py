"""How many cases are drawn, of which kinds and sizes, and what the record says about it."""

from types import SimpleNamespace

import pytest

from conftest import TASKS
from pytest_kernelbenchx import task
from pytest_kernelbenchx.drawing import LENGTHS
from pytest_kernelbenchx.judge.sharing import BUDGETS, LARGE, LARGE_CASES, shares
from pytest_kernelbenchx.judge.trial import Trial
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.loading import load_task
from pytest_kernelbenchx.settings import CASES


class Drawn(Trial):
    """Judges nothing: every case is passed, and kept."""

    def __init__(self, about, effort, device="cpu"):
        caller = SimpleNamespace(spent=0.0, limit=100.0, output="", launches={})
        super().__init__(about, caller, SimpleNamespace(device=device, effort=effort, seed=0, processes=1))
        self.cases = []
        self._draw(self._check_new)

    def judged(self, case):
        self.tally.count(case, self.task.elements(case.axes), False)
        self.cases.append(case)
        return Outcome(Verdict.PASSED)


@task(
    inputs={"x": "T[N]"},
    output="T[N]",
    dtypes=("f32", "f16"),
    axes={"N": tuple(n for n in LENGTHS if n % 3)},
    sizes={"s": {"N": 4}},
    where=lambda N: N % 2,
)
def small(x):
    return x


@pytest.mark.parametrize(
    ("name", "effort"),
    [
        ("activation/relu", "quick"),
        ("activation/relu", "thorough"),
        ("matrix_multiply/matmul", "standard"),
        ("reduce/sum", "quick"),
        ("convolution/conv2d", "standard"),
    ],
)
def test_the_counts_are_those_that_the_option_names(name, effort):
    """Each drawn once: one that comes again counts for nothing. Every kind is among them where there are enough."""
    about = load_task(TASKS / f"{name}.py")
    drawn = Drawn(about, effort)
    assert len({case.to_json() for case in drawn.cases}) == len(drawn.cases) == CASES[effort]
    wanted = {share.kind for share in shares(about, CASES[effort], "cpu")}
    assert {(case.dtype, case.fill) for case in drawn.cases} == wanted


@pytest.mark.parametrize("name", ["activation/relu", "reduce/sum", "math/softmax", "matrix_multiply/matmul"])
def test_the_simplest_case_is_one_of_them_and_no_more(name):
    """Hypothesis begins every search with it: half of the cases at quick effort were tensors of one element."""
    drawn = Drawn(load_task(TASKS / f"{name}.py"), "quick")
    assert sum(case.seed == 0 and drawn.task.elements(case.axes) == 1 for case in drawn.cases) == 1


@pytest.mark.parametrize(("device", "wanted"), [("cpu", LARGE_CASES), ("cuda", 0)])
def test_large_cases(device, wanted):
    """Two in the interpreter, within 2**17 elements, the others within 2**14; on a GPU all are within 2**16."""
    drawn = Drawn(load_task(TASKS / "activation" / "relu.py"), "quick", device)
    sizes = [drawn.task.elements(case.axes) for case in drawn.cases]
    large = [size for size in sizes if size > BUDGETS[device].elements]
    assert len(large) == wanted
    assert all(LARGE["cpu"].least <= size <= LARGE["cpu"].elements for size in large)
    assert sizes[len(sizes) - len(large) :] == large  # last: what fails should fail small


def test_a_task_without_large_cases_has_as_many_of_the_usual_size():
    drawn = Drawn(small, "quick")
    assert len(drawn.cases) == CASES["quick"]
    assert max(drawn.task.elements(case.axes) for case in drawn.cases) <= max(LENGTHS)


def test_a_kernel_that_is_slow_is_spared_the_large_cases():
    """A stage has 100 s: a large case may take 25 of them."""
    drawn = Drawn(load_task(TASKS / "activation" / "relu.py"), "quick")
    drawn.tally.elements = 1000
    for spent, dear in ((0.18, False), (0.2, True)):
        drawn.caller.spent = spent
        assert drawn._dear(2**17) is dear


def test_what_the_record_says():
    facts = Drawn(small, "standard").tally.facts()
    assert sum(facts["kinds"].values()) == CASES["standard"]
    fills = ("standard", "outlier", "edge")
    assert set(facts["kinds"]) == {f"{dtype} {fill}" for dtype in small.dtypes for fill in fills}
    assert facts["rejected_by_where"] > 10  # even lengths
    assert facts["after_failure"] == 0
