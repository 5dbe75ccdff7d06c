"""What tasks with a convolution share: the axes that `case` finds, and what drawn cases reach."""

import pytest
from hypothesis import HealthCheck, given, settings
from torch.nn.functional import conv2d

from pytest_kernelbenchx import convolution, fills, task
from pytest_kernelbenchx.cases import build, from_example
from pytest_kernelbenchx.drawing import cases

QUIET = settings(
    max_examples=300, database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
GIVEN = [
    dict(H=8, W=9),
    dict(N=2, C=3, F=5, H=8, W=9, KH=3, KW=2, stride=2, padding=1),
    dict(H=8, W=9, KH=3, KW=2, stride=(3, 2), padding=(0, 2), dilation=(2, 1)),
    dict(F=2, H=6, W=4, KH=2, KW=4, dilation=(3, 1), groups=3, padding="same"),
    dict(H=5, W=7, KH=5, KW=7, padding="valid", bias=True),
]


@task(
    **convolution.TASK,
    options=convolution.options(),
    examples=[convolution.case(**given) for given in GIVEN],
    sizes={"8": convolution.case(H=8, W=8)},
)
def convolve(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return conv2d(input, weight, bias, stride, padding, dilation, groups)


@pytest.mark.parametrize("number", range(len(GIVEN)))
def test_axes_of_an_example_follow_from_the_input(number):
    case = from_example(convolve, number)
    arguments = build(convolve, case)
    assert list(arguments["input"].shape[2:]) == [GIVEN[number]["H"], GIVEN[number]["W"]]
    assert list(convolve(**arguments).shape) == convolve.output[0].shape(case.axes)


def test_options_may_have_a_prefix():
    plain, prefixed = (
        convolution.case(H=8, W=8, KH=3, **{f"{prefix}stride": 2, f"{prefix}groups": 2}, prefix=prefix)
        for prefix in ("", "conv_")
    )
    assert plain["OH"] == prefixed["OH"] == 3
    assert plain["G"] == prefixed["G"] == 2
    assert set(convolution.options("conv_")) == {"conv_stride", "conv_padding", "conv_dilation", "conv_groups"}


def test_drawn_cases_reach_what_kernels_get_wrong():
    found = []

    @QUIET
    @given(case=cases(convolve))
    def collect(case):
        found.append(case)
        assert list(convolve(**build(convolve, case)).shape) == convolve.output[0].shape(case.axes)

    collect()
    axes = [case.axes for case in found]
    assert any(a["RY"] or a["RX"] for a in axes), "a rest that no filter reaches"
    assert any(a["SAME"] and (a["TY"] % 2 or a["TX"] % 2) for a in axes), "more padding after than before"
    assert any(a["G"] > 1 and a["F"] > 1 and a["C"] > 1 for a in axes)
    assert any(a["SY"] != a["SX"] for a in axes)
    assert any(a["DY"] != a["DX"] and a["KH"] > 1 and a["KW"] > 1 for a in axes)
    assert {type(case.options["padding"]) for case in found if "padding" in case.options} == {int, tuple, str}


def test_where_every_output_shall_see_the_input_it_does():
    seen = task(
        **convolution.TASK | {"where": convolution.sees},
        options=convolution.options(),
        fill={"input": fills.constant(1), "weight": fills.constant(1), "bias": fills.constant(0)},
        examples=[convolution.case(**given) for given in GIVEN],
        sizes={"8": convolution.case(H=8, W=8)},
    )(convolve.reference)
    dilated = []

    @QUIET
    @given(case=cases(seen))
    def collect(case):
        assert bool((seen(**build(seen, case)) > 0).all())
        dilated.append(case.axes["KH"] > 1 and case.axes["DY"] > 1 and case.axes["TY"] > 0)

    collect()
    assert any(dilated), "padding that the holes of a dilated filter make to be all that is seen"
