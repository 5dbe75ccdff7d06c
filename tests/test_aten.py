"""What PyTorch's operators are counted as, by running them, and what is counted of those that compute."""

import pytest
import torch
from torch.nn import functional as F

from pytest_kernelbenchx.sandbox.audit import Audit

X, Y = torch.randn(12, 12), torch.randn(12, 12)
INDEX = torch.randperm(12)

CALLS = {
    "torch.empty(64)": ("alloc", lambda: torch.empty(64)),
    "empty_like": ("alloc", lambda: torch.empty_like(X)),
    "new_empty": ("alloc", lambda: X.new_empty(64)),
    "zeros": ("fill", lambda: torch.zeros(64)),
    "full_like": ("fill", lambda: torch.full_like(X, 3.0)),
    "zero_": ("fill", lambda: torch.ones(64).zero_()),
    "arange": ("fill", lambda: torch.arange(64)),
    "eye": ("fill", lambda: torch.eye(12)),
    "clone": ("move", lambda: X.clone()),
    "copy_": ("move", lambda: torch.zeros(12, 12).copy_(X)),
    "contiguous of a transposed": ("move", lambda: X.t().contiguous()),
    "cast": ("move", lambda: X.to(torch.float16)),
    "cat": ("move", lambda: torch.cat([X, Y])),
    "stack": ("move", lambda: torch.stack([X, Y])),
    "pad": ("move", lambda: F.pad(X, (1, 1))),
    "flip": ("move", lambda: X.flip(0)),
    "roll": ("move", lambda: X.roll(1)),
    "repeat": ("move", lambda: X.repeat(2, 2)),
    "index": ("move", lambda: X[INDEX]),
    "index_select": ("move", lambda: X.index_select(0, INDEX)),
    "gather": ("move", lambda: X.gather(0, INDEX[None].expand(12, 12))),
    "tril": ("move", lambda: X.tril()),
    "where": ("move", lambda: torch.where(X.bool(), X, Y)),
    "im2col": ("move", lambda: F.unfold(X.view(1, 1, 12, 12), 3)),
    "view": ("view", lambda: X.view(-1)),
    "transposed": ("view", lambda: X.t()),
    "slice": ("view", lambda: X[1:, ::2]),
    "expand": ("view", lambda: X[:1].expand(12, 12)),
    "item": ("meta", lambda: X.view(-1)[0].item()),
    "equal": ("meta", lambda: torch.equal(X, Y)),
    "a scalar": ("meta", lambda: torch.tensor(2.0) * 3),
    "a seed": ("meta", lambda: torch.randint(0, 2**31, (1,))),
    "add": ("compute", lambda: X + Y),
    "in place": ("compute", lambda: torch.zeros(64).add_(1)),
    "relu": ("compute", lambda: torch.relu(X)),
    "sum": ("compute", lambda: X.sum()),
    "sort": ("compute", lambda: X.sort()),
    "softmax": ("compute", lambda: torch.softmax(X, 0)),
    "matmul": ("compute", lambda: X @ Y),
    "randn": ("compute", lambda: torch.randn(64)),
    "several in place": ("compute", lambda: torch._foreach_add_([torch.zeros(64)], 1.0)),
    "a solution": ("compute", lambda: torch.linalg.solve(X, Y)),
}


def watched(call):
    """What a call does, as it is watched."""
    audit = Audit([X, Y, INDEX], 255, "", True, lambda: 0)
    with audit:
        result = call()
    return audit.report(result)


@pytest.mark.parametrize("name", CALLS)
def test_kinds(name):
    kind, call = CALLS[name]
    report = watched(call)
    assert report["fault"] is None
    assert report["kinds"][kind] >= 1, report
    assert (report["kinds"]["compute"] > 0) == (kind == "compute"), report["compute"]
    assert bool(report["compute"]) == (kind == "compute")


def test_an_operator_that_no_table_knows_computes():
    with torch.library._scoped_library("kbx_test", "FRAGMENT") as library:
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x * 2, "CPU")
        report = watched(lambda: torch.ops.kbx_test.twice(X))
    assert report["compute"][0][:2] == ["kbx_test::twice", 1]


@pytest.mark.parametrize(
    ("call", "operator", "flops"),
    [
        (lambda: X @ Y, "aten::mm", 2 * 12**3),
        (lambda: F.conv2d(X.view(1, 1, 12, 12), Y[:3, :3].reshape(1, 1, 3, 3)), "aten::convolution", 2 * 9 * 10 * 10),
        (lambda: X @ Y[0], "aten::mv", 2 * 12 * 12),
        (lambda: torch.linalg.cholesky(X @ X.t() + 12 * torch.eye(12)), "aten::linalg_cholesky_ex", 12 * 12 * 12),
        (lambda: torch.fft.fft(torch.randn(64).to(torch.complex64)), "aten::_fft_c2c", 5 * 64 * 6),
        (lambda: X + Y, "aten::add", 0),
    ],
)
def test_floating_point_operations(call, operator, flops):
    """2 m n k of a product, by PyTorch's own counter; 5 n log2(n) of a transform."""
    work = {row[0]: row[3] for row in watched(call)["compute"]}
    assert work[operator] == flops


def test_elements_are_those_of_all_tensors_once():
    work = {row[0]: row[2] for row in watched(lambda: X * X)["compute"]}
    assert work == {"aten::mul": 2 * X.numel()}


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.int64, torch.uint8, torch.bool, torch.complex64]
)
@pytest.mark.parametrize("fresh", [0, 255])
def test_fresh_memory_holds_one_byte(dtype, fresh):
    audit = Audit([], fresh, "", True, lambda: 0)
    with audit:
        made = [torch.empty(5, dtype=dtype), torch.empty_like(torch.zeros(5, dtype=dtype))]
    wanted = 1 if dtype is torch.bool and fresh else fresh
    assert all((tensor.view(torch.uint8) == wanted).all() for tensor in made)


def test_a_watch_that_fails_disturbs_nothing(monkeypatch):
    monkeypatch.setattr(Audit, "_wrote", None)
    report = watched(lambda: torch.exp(X) + 1)
    assert "TypeError" in report["fault"]
