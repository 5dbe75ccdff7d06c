"""QR, LU, LDL and eigenvalue decompositions: any valid one passes, a damaged one does not."""

import math

import pytest
import torch

from pytest_kernelbenchx.judge.factorisations import eig_properties, ldl_properties, lu_properties, qr_properties
from pytest_kernelbenchx.judge.properties import judge_properties


def matrix(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def failed(residuals):
    wrong = {each.label for each in residuals if not each.holds}
    assert judge_properties(residuals).passed == (not wrong)
    return wrong


MATRICES = {
    "square": matrix(17, 17),
    "tall": matrix(40, 9),
    "wide": matrix(9, 40),
    "batch": matrix(3, 2, 6, 5),
    "1 x 1": matrix(1, 1),
    "large": matrix(130, 130),
    "double": matrix(20, 20, dtype=torch.float64),
    "identity": torch.eye(6),
    "zeros": torch.zeros(4, 3),
    "rank 1": torch.ones(6, 6),
    "low rank": matrix(12, 3) @ matrix(3, 12, seed=1),
    "huge": 1e15 * matrix(5, 5),
    "graded": matrix(20, 20) * torch.logspace(0, -12, 20),
}
SQUARE = {name: a for name, a in MATRICES.items() if a.shape[-1] == a.shape[-2]} | {
    "batch": matrix(3, 2, 5, 5),
    "Jordan block": torch.diag(torch.ones(5)) + torch.diag(torch.ones(4), 1),
    "nilpotent": torch.diag(torch.ones(4), 1),
    "rotation": torch.tensor([[0.0, -1.0], [1.0, 0.0]]),
    "symmetric": matrix(17, 17) + matrix(17, 17).mT,
    "zero": torch.zeros(3, 3),
}


@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
@pytest.mark.parametrize("kind", MATRICES)
def test_right_qr_passes(kind, mode):
    a = MATRICES[kind]
    q, r = torch.linalg.qr(a, mode=mode)
    signs = torch.tensor([1.0, -1.0], dtype=a.dtype).repeat(65)[: r.shape[-2]]
    assert not failed(qr_properties({"A": a, "mode": mode}, (q, r)))
    q = q if mode == "r" else q * signs
    assert not failed(qr_properties({"A": a, "mode": mode}, (q, signs[:, None] * r)))


WRONG_QR = {
    "R scaled": (lambda q, r: (q, r * (1 + 5e-4)), {"Q R = A"}),
    "signs of one": (lambda q, r: (-q, r), {"Q R = A"}),
    "Q not orthonormal": (lambda q, r: (q * 2, r / 2), {"columns of Q are orthonormal"}),
    "R full": (lambda q, r: (q, r + 1e-30), {"R is upper triangular"}),
    "half precision": (lambda q, r: (q.half().float(), r), {"Q R = A", "columns of Q are orthonormal"}),
    "lower": (lambda q, r: (q, r.mT), {"Q R = A", "R is upper triangular"}),
    "zeros": (lambda q, r: (0 * q, 0 * r), {"Q R = A", "columns of Q are orthonormal"}),
    "NaN": (lambda q, r: (q, r * math.nan), {"Q R = A", "R is upper triangular"}),
}


@pytest.mark.parametrize("kind", WRONG_QR)
def test_wrong_qr_fails(kind):
    a, (change, labels) = matrix(16, 16), WRONG_QR[kind]
    assert failed(qr_properties({"A": a, "mode": "reduced"}, change(*torch.linalg.qr(a)))) == labels


def test_wrong_r_alone_fails():
    a = matrix(20, 9)
    q, r = torch.linalg.qr(a, mode="r")
    for wrong in (r * (1 + 5e-4), 0 * r, r.abs(), torch.cat([r[:-1], 0 * r[-1:]]), r * math.nan):
        assert failed(qr_properties({"A": a, "mode": "r"}, (q, wrong)))


def test_q_of_a_matrix_of_low_rank_is_orthonormal():
    """Gram and Schmidt's method divides rounding errors there."""
    a = matrix(12, 3) @ matrix(3, 12, seed=1)
    q, r = torch.linalg.qr(a)
    q[:, 5:] = q[:, 4:5]
    assert failed(qr_properties({"A": a, "mode": "reduced"}, (q, r))) == {"columns of Q are orthonormal"}


@pytest.mark.parametrize("kind", MATRICES)
def test_right_lu_passes(kind):
    a = MATRICES[kind]
    assert not failed(lu_properties({"A": a, "pivot": True}, torch.linalg.lu(a)))


def without_exchanges(a):
    low, up = torch.eye(*a.shape), a.clone()
    for k in range(min(a.shape)):
        low[k + 1 :, k] = up[k + 1 :, k] / up[k, k]
        up[k + 1 :] -= low[k + 1 :, k, None] * up[k]
    rank = min(a.shape)
    return a.new_empty(0), low[:, :rank].contiguous(), up[:rank].triu()


def test_lu_without_pivots():
    for a in (matrix(9, 9) + 9 * torch.eye(9), matrix(9, 14) + 9 * torch.eye(9, 14), matrix(14, 9)):
        a[:9, :9] += 9 * torch.eye(9)
        got = without_exchanges(a)
        assert not failed(lu_properties({"A": a, "pivot": False}, got))
        assert failed(lu_properties({"A": a, "pivot": False}, (got[0], got[1], got[2] * 1.001)))
    _, low, up = without_exchanges(MATRICES["square"])
    labels = failed(lu_properties({"A": MATRICES["square"], "pivot": True}, (torch.eye(17), low, up)))
    assert "multipliers of partial pivoting beyond 1" in labels


WRONG_LU = {
    "P transposed": (lambda p, low, up: (p.mT, low, up), {"P L U = A"}),
    "no P": (lambda p, low, up: (torch.eye(16), low, up), {"P L U = A"}),
    "P of halves": (lambda p, low, up: (p / 2, low, 2 * up), {"P is a permutation"}),
    "a row twice": (lambda p, low, up: (p[[0, *range(15)]], low, up), {"P is a permutation", "P L U = A"}),
    "Crout": (
        lambda p, low, up: (p, low * up.diagonal(), up / up.diagonal()[:, None]),
        {"L is lower triangular with ones on its diagonal", "multipliers of partial pivoting beyond 1"},
    ),
    "packed": (
        lambda p, low, up: (p, low, low.tril(-1) + up),
        {"U is upper triangular", "P L U = A"},
    ),
    "half precision": (lambda p, low, up: (p, low.half().float(), up), {"P L U = A"}),
    "TF32": (lambda p, low, up: (p, low, up * (1 + 5e-4)), {"P L U = A"}),
}


@pytest.mark.parametrize("kind", WRONG_LU)
def test_wrong_lu_fails(kind):
    a, (change, labels) = matrix(16, 16), WRONG_LU[kind]
    assert failed(lu_properties({"A": a, "pivot": True}, change(*torch.linalg.lu(a)))) >= labels


@pytest.mark.parametrize("kind", SQUARE)
def test_right_eigenvectors_pass(kind):
    a = SQUARE[kind]
    w, v = torch.linalg.eig(a)
    assert not failed(eig_properties({"A": a}, (w, v)))
    turn = torch.exp(1j * torch.arange(a.shape[-1], dtype=torch.float64)).to(v.dtype)
    assert not failed(eig_properties({"A": a}, (w.flip(-1), (v * turn).flip(-1))))


PAIRS = "A V = V diag(w)"
WRONG_EIG = {
    "order of one": (lambda w, v: (w.flip(0), v), {PAIRS}),
    "one pair twice": (lambda w, v: (w[[0, *range(15)]], v[:, [0, *range(15)]]), {"eigenvalues as a set"}),
    "one of a conjugate pair twice": (
        lambda w, v: (torch.where(w.imag < 0, w.conj(), w), torch.where(w.imag < 0, v.conj(), v)),
        {"eigenvalues as a set"},
    ),
    "not of norm 1": (lambda w, v: (w, 2 * v), {"columns of V have norm 1"}),
    "V transposed": (lambda w, v: (w, v.mT), {PAIRS}),
    "real parts": (lambda w, v: (w.real.to(w.dtype), v.real.to(v.dtype)), {PAIRS, "eigenvalues as a set"}),
    "values inexact": (lambda w, v: (w * (1 + 1e-3), v), {PAIRS}),
    "half precision": (lambda w, v: (w, torch.view_as_complex(torch.view_as_real(v).half().float())), {PAIRS}),
    "zeros": (lambda w, v: (0 * w, 0 * v), {"columns of V have norm 1", "eigenvalues as a set"}),
    "NaN": (lambda w, v: (w, v * math.nan), {"eigenvalues and eigenvectors are finite"}),
}


@pytest.mark.parametrize("kind", WRONG_EIG)
def test_wrong_eigenvectors_fail(kind):
    a, (change, labels) = matrix(16, 16), WRONG_EIG[kind]
    assert failed(eig_properties({"A": a}, change(*torch.linalg.eig(a)))) >= labels


def test_eigenvectors_of_a_repeated_eigenvalue_are_independent():
    w, v = torch.linalg.eig(torch.eye(6))
    twice = v[:, [0, *range(5)]]
    assert failed(eig_properties({"A": torch.eye(6)}, (w, twice))) == {"condition of V against PyTorch's"}


def hermitian(n, seed=0):
    a = matrix(n, n, dtype=torch.complex64, seed=seed)
    return a + a.mH


def saddle(n):
    x = matrix(n, n)
    return torch.cat([torch.cat([torch.zeros(n, n), x], 1), torch.cat([x.mT, torch.zeros(n, n)], 1)])


SYMMETRIC = {name: a + a.mT for name, a in SQUARE.items()} | {
    "saddle": saddle(8),
    "exchange": torch.tensor([[0.0, 1.0], [1.0, 0.0]]),
    "complex": matrix(9, 9, dtype=torch.complex64) + matrix(9, 9, dtype=torch.complex64).mT,
}


@pytest.mark.parametrize("kind", SYMMETRIC)
def test_right_ldl_passes(kind):
    a = SYMMETRIC[kind]
    ld, pivots, _ = torch.linalg.ldl_factor_ex(a)  # of a singular matrix, too
    assert not failed(ldl_properties({"A": a, "hermitian": False}, (ld, pivots)))
    above = ld + torch.ones_like(ld).triu(1)  # does not count
    assert not failed(ldl_properties({"A": a, "hermitian": False}, (above, pivots)))


def test_hermitian_ldl():
    for n in (1, 2, 9, 33):
        a = hermitian(n)
        got = torch.linalg.ldl_factor(a, hermitian=True)
        assert not failed(ldl_properties({"A": a, "hermitian": True}, got))
        assert n == 1 or failed(ldl_properties({"A": a, "hermitian": False}, got))


def test_ldl_without_exchanges_passes_where_none_are_needed():
    a = matrix(7, 7) @ matrix(7, 7).mT + 7 * torch.eye(7)
    _, low, up = without_exchanges(a)
    got = (low.tril(-1) + torch.diag(up.diagonal()), torch.arange(1, 8, dtype=torch.int32))
    assert not failed(ldl_properties({"A": a, "hermitian": False}, got))


def test_wrong_ldl_fails():
    a = SYMMETRIC["square"]
    ld, pivots = torch.linalg.ldl_factor(a)
    assert (pivots < 0).any(), "the case has 2 x 2 blocks"

    def wrong(changed, rows):
        return failed(ldl_properties({"A": a, "hermitian": False}, (changed, rows)))

    assert wrong(ld * (1 + 5e-4), pivots) == {"P L D (P L)' = A"}
    assert wrong(ld.mT, pivots)
    assert wrong(ld, torch.arange(1, 18, dtype=torch.int32))
    assert wrong(0 * ld, pivots)
    assert wrong(ld.half().float(), pivots)
    for bad in (0 * pivots, pivots - 1, torch.full_like(pivots, 99), torch.full_like(pivots, 1)):
        assert wrong(ld, bad) == {"pivots that are no exchanges of rows"}
