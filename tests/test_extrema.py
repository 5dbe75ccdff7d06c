"""A minimum and its place: any place passes at which rounding cannot tell the value from the minimum; no other does."""

import pytest
import torch
from torch.nn.functional import gelu

from pytest_kernelbenchx.judge.extrema import minimum_of
from pytest_kernelbenchx.judge.properties import judge_properties

PROPERTIES = minimum_of(lambda input, approximate: gelu(input, approximate=approximate))
LOWEST = -0.7517916  # where GELU has its minimum, around which it is flat


def judged(x, *got, dim=1, keepdim=False, approximate="none"):
    inputs = {"input": x, "dim": dim, "keepdim": keepdim, "approximate": approximate}
    return judge_properties(PROPERTIES(inputs, got))


def data(*shape, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("how", ["none", "tanh"])
@pytest.mark.parametrize("dim", [0, 1, -1, -3])
def test_pytorch_passes(dtype, how, dim):
    x = data(7, 33, 65, dtype=dtype)
    y = gelu(x, approximate=how)
    for keepdim in (False, True):
        values, places = torch.min(y, dim, keepdim=keepdim)
        assert judged(x, values, places, dim=dim, keepdim=keepdim, approximate=how).passed
    assert judged(x, y.min(), dim=None, approximate=how).passed


def test_a_place_of_almost_the_same_value_passes():
    x = torch.tensor([[2.0, LOWEST, LOWEST + 1e-4, 1.0]])
    least = gelu(x).amin(1)
    assert judged(x, least, torch.tensor([1])).passed
    assert judged(x, least, torch.tensor([2])).passed
    assert not judged(x, least, torch.tensor([3])).passed
    assert not judged(torch.tensor([[LOWEST, LOWEST + 0.02]]), least, torch.tensor([1])).passed


@pytest.mark.parametrize("place", [-1, 4, 2**40])
def test_a_place_outside_fails(place):
    x = torch.full((1, 4), LOWEST)
    assert judged(x, gelu(x).amin(1), torch.tensor([3])).passed
    assert not judged(x, gelu(x).amin(1), torch.tensor([place])).passed


def test_wrong_values_fail():
    x = data(9, 40)
    values, places = torch.min(gelu(x), 1)
    assert judged(x, values, places).passed
    for wrong in (values + 1e-4, x.amin(1), torch.zeros(9), gelu(x).amax(1), values * float("nan")):
        assert not judged(x, wrong, places).passed
    assert not judged(x, gelu(x, approximate="tanh").amin() - 3e-4, dim=None).passed


def test_nan_is_the_minimum():
    x = torch.tensor([[1.0, float("nan"), -1.0], [0.5, -0.5, 2.0]])
    values, places = torch.min(gelu(x), 1)
    assert judged(x, values, places).passed
    assert not judged(x, values, torch.tensor([2, 1])).passed
    assert not judged(x, torch.nan_to_num(values), places).passed


def test_far_below_zero_the_usual_formula_passes():
    x = torch.tensor([[-6.0], [-10.0]])
    assert judged(x, 0.5 * x[:, 0] * (1 + torch.erf(x[:, 0] * 2**-0.5)), torch.tensor([0, 0])).passed


def test_where_the_type_of_the_result_has_only_zero_every_place_passes():
    x = torch.tensor([[-6.0, -8.0, -10.0]], dtype=torch.float16)  # GELU is -6e-9 and less, half a step of float16 3e-8
    values, places = torch.min(gelu(x), 1)
    assert values == 0
    for place in range(3):
        assert judged(x, values, torch.tensor([place])).passed
    assert judged(x, values[0], dim=None).passed
    assert not judged(x, values - 2.0**-23, places).passed
