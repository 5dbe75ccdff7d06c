"""What a case should give."""

import warnings

import torch

from pytest_kernelbenchx import task
from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge.oracle import expect


@task(inputs={"x": "f32[N]"}, output="f32[]", sizes={"1k": dict(N=1024), "1m": dict(N=1 << 20)})
def deviation(x):
    return torch.std(x)


def test_what_pytorch_warns_of_does_not_reach_the_user():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = expect(deviation, Case(axes={"N": 1}))  # no degree of freedom
    assert expected.eager[0].isnan()
    assert expected.truth[0].isnan()
