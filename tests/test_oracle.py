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


@task(inputs={"x": "f32[N]"}, output="f32[N]", mutates=("x",), sizes={"1k": dict(N=1024), "1m": dict(N=1 << 20)})
def dropped(x):
    return torch.nn.functional.dropout(x, 0.5, inplace=True)


def test_what_the_reference_leaves_to_chance_is_the_same_every_time_and_changes_nobody_elses_numbers():
    torch.manual_seed(1)
    wanted = torch.rand(3)
    torch.manual_seed(1)
    first, second, other = (expect(dropped, Case(axes={"N": 1000}, seed=seed)) for seed in (5, 5, 6))
    assert torch.equal(torch.rand(3), wanted)
    assert torch.equal(first.truth[0], second.truth[0])
    assert torch.equal(first.changed_eager["x"], second.changed_eager["x"])
    assert not torch.equal(first.truth[0] == 0, other.truth[0] == 0)
