"""The matrices that tasks of linear algebra are given have the structure and condition that they promise."""

import pytest
import torch

from pytest_kernelbenchx import matrices

KINDS = [("standard", 100), ("outlier", 3e4)]
SIDES = [1, 2, 3, 8, 17, 33]


def rng(seed):
    return torch.Generator().manual_seed(seed)


def check_condition(a, limit):
    assert (torch.linalg.cond(a) <= limit).all()


@pytest.mark.parametrize(("kind", "limit"), KINDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
def test_definite(dtype, kind, limit):
    for seed, n in enumerate(SIDES):
        a = matrices.definite(rng(seed), [2, n, n], dtype, kind)
        assert torch.equal(a, a.mH)
        assert a.is_complex() == dtype.is_complex
        assert (torch.linalg.eigvalsh(a) > 0).all()
        check_condition(a, limit)


@pytest.mark.parametrize(("kind", "limit"), KINDS)
@pytest.mark.parametrize("hermitian", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
def test_indefinite(dtype, hermitian, kind, limit):
    zeros = mixed = 0
    for seed, n in enumerate(6 * SIDES):
        a = matrices.indefinite(rng(seed), [2, n, n], dtype, kind, hermitian)
        assert torch.equal(a, a.mH if hermitian else a.mT)
        assert a.is_complex() == dtype.is_complex
        check_condition(a, limit)
        zeros += n > 1 and bool((a[..., 0, 0] == 0).all())
        if hermitian or not dtype.is_complex:
            values = torch.linalg.eigvalsh(a)
            mixed += bool((values[..., 0] < 0).any() and (values[..., -1] > 0).any())
    assert 6 <= zeros <= 24
    assert mixed >= 20 or (dtype.is_complex and not hermitian)


@pytest.mark.parametrize("kind", ["standard", "outlier"])
def test_float32_holds_the_determinant(kind):
    for n in (1, 2, 16, 32, 33, 64, 300):
        a = matrices.determinate(rng(n), [2, n, n], kind).to(torch.float32)
        found = torch.linalg.det(a).abs()
        assert ((found > 1e-6) & (found < 1e30)).all()
    assert (matrices.determinate(rng(0), [2, 64, 64], kind).diagonal(dim1=-2, dim2=-1).abs() < 0.5).any()


@pytest.mark.parametrize("kind", ["standard", "outlier"])
def test_most_shuffled_matrices_need_exchanges(kind):
    dominant = 0
    for seed in range(20):
        a = matrices.shuffled(rng(seed), [2, 9, 9], kind)
        assert torch.linalg.cond(a).max() < 1e4
        dominant += int((a.diagonal(dim1=-2, dim2=-1).abs() > a.abs().sum(-1) / 2).all())
    assert dominant < 3


@pytest.mark.parametrize("kind", ["standard", "outlier"])
def test_some_matrices_are_rank_deficient(kind):
    ranks = []
    for seed in range(60):
        a = matrices.some_deficient(rng(seed), [2, 7, 5], kind)
        assert a.shape == (2, 7, 5)
        ranks += torch.linalg.matrix_rank(a).tolist()
    assert set(ranks) == {2, 5}
    assert 20 <= ranks.count(2) <= 60
    assert matrices.some_deficient(rng(0), [1, 3], kind).abs().min() > 0


def test_matrices_have_the_spectrum_that_is_asked_for():
    values = torch.tensor([[3.0, 2.0, 0.0], [50.0, 1.0, 1e-3]], dtype=torch.float64)
    for shape in ([2, 3, 5], [2, 5, 3], [2, 3, 3]):
        found = torch.linalg.svdvals(matrices.with_spectrum(rng(0), shape, values))
        assert torch.allclose(found, values, atol=1e-12)


@pytest.mark.parametrize("fill", [matrices.determinate, matrices.in_own_orders])
def test_rows_of_every_matrix_are_in_an_order_of_its_own(fill):
    """A kernel that takes the pivots of one matrix for all of them would pass otherwise."""
    given = [[8, 40, 40], "standard"] if fill is matrices.determinate else [torch.eye(40).expand(8, 40, 40)]
    orders = fill(rng(0), *given).abs().argmax(-1)
    assert len({tuple(order) for order in orders.tolist()}) == 8
    assert (orders.sort(-1).values == torch.arange(40)).all()
