"""Factorisations by their properties: any valid one passes, a damaged one does not."""

import math

import pytest
import torch

from pytest_kernelbenchx.judge.properties import (
    Residual,
    close,
    judge_properties,
    ordered,
    orthonormal,
    svd_properties,
    triangular,
)
from pytest_kernelbenchx.judge.verdicts import Verdict


def matrix(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def judged(a, got, full=True):
    return judge_properties(svd_properties({"A": a, "full_matrices": full}, got))


MATRICES = {
    "square": matrix(17, 17),
    "tall": matrix(40, 9),
    "wide": matrix(9, 40),
    "batch": matrix(3, 2, 6, 5),
    "1 x 1": matrix(1, 1),
    "row": matrix(1, 7),
    "large": matrix(130, 130),
    "double": matrix(20, 20, dtype=torch.float64),
    "complex": matrix(8, 6, dtype=torch.complex64),
    "identity": torch.eye(6),
    "zeros": torch.zeros(4, 3),
    "rank 1": torch.ones(6, 4),
    "huge": 1e30 * matrix(5, 5),
    "tiny": 1e-30 * matrix(5, 5),
    "graded": matrix(20, 20) * torch.logspace(0, -12, 20),
    "empty": torch.zeros(0, 3, 3),
    "no rows": torch.zeros(0, 3),
}


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("kind", MATRICES)
def test_right_svd_passes(kind, full):
    a = MATRICES[kind]
    outcome = judged(a, torch.linalg.svd(a, full_matrices=full), full)
    assert outcome.passed, outcome.reason
    wide = torch.linalg.svd(a.to(torch.complex128 if a.is_complex() else torch.float64), full_matrices=full)
    real = torch.float64 if a.dtype == torch.float64 else torch.float32
    rounded = (wide[0].to(a.dtype), wide[1].to(real), wide[2].to(a.dtype))
    outcome = judged(a, rounded, full)
    assert outcome.passed, outcome.reason


def test_flipped_signs_and_rotated_bases_pass():
    a = matrix(12, 12)
    u, s, vh = torch.linalg.svd(a)
    signs = torch.tensor([1.0, -1.0] * 6)
    assert judged(a, (u * signs, s, signs[:, None] * vh)).passed
    turn = torch.linalg.qr(matrix(6, 6, seed=1)).Q
    assert judged(torch.eye(6), (turn, torch.ones(6), turn.mT.contiguous())).passed
    u, s, vh = torch.linalg.svd(matrix(9, 4))
    turn = torch.linalg.qr(matrix(5, 5, seed=2)).Q
    other = torch.cat([u[:, :4], u[:, 4:] @ turn], 1)
    assert judged(matrix(9, 4), (other, s, vh)).passed


def swap(values):
    return values[..., [1, 0, *range(2, values.shape[-1])]]


WRONG = {
    "signs of U alone": lambda u, s, v: (u * -1, s, v),
    "one sign": lambda u, s, v: (torch.cat([-u[:, :1], u[:, 1:]], 1), s, v),
    "V for Vh": lambda u, s, v: (u, s, v.mT),
    "U transposed": lambda u, s, v: (u.mT, s, v),
    "negative values": lambda u, s, v: (-u, -s, v),
    "ascending values": lambda u, s, v: (u.flip(1), s.flip(0), v.flip(0)),
    "values swapped": lambda u, s, v: (swap(u), swap(s), swap(v.mT).mT),
    "values squared": lambda u, s, v: (u, s**2, v),
    "zeros": lambda u, s, v: (0 * u, 0 * s, 0 * v),
    "NaN": lambda u, s, v: (u * math.nan, s, v),
    "U scaled": lambda u, s, v: (u * 2, s / 2, v),
    "U and V not orthonormal": lambda u, s, v: (u * s, s / s, v),
    "half precision": lambda u, s, v: (u.half().float(), s, v.half().float()),
    "TF32 values": lambda u, s, v: (u, s * (1 + 5e-4), v),
    "the smallest value lost": lambda u, s, v: (u, torch.cat([s[:-1], 0 * s[-1:]]), v),
    "wrong shape": lambda u, s, v: (u[:, :-1], s, v),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_svd_fails(kind):
    a = matrix(16, 16)
    outcome = judged(a, WRONG[kind](*torch.linalg.svd(a)))
    assert outcome.verdict is Verdict.WRONG_VALUES
    assert "allowed" in outcome.reason


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        ("one sign", {"U diag(S) Vh = A"}),
        ("negative values", {"singular values", "singular values descend and are not negative"}),
        ("U scaled", {"singular values", "columns of U are orthonormal"}),
        ("values swapped", {"singular values", "singular values descend and are not negative"}),
        ("TF32 values", {"U diag(S) Vh = A", "singular values"}),
    ],
)
def test_each_residual_sees_its_own_damage(kind, labels):
    a = matrix(16, 16)
    residuals = svd_properties({"A": a}, WRONG[kind](*torch.linalg.svd(a)))
    assert {each.label for each in residuals if not each.holds} == labels


def test_bases_beyond_the_rank_must_be_orthonormal():
    """What multiplies zeros of S does not show in the product."""
    a = matrix(9, 4)
    u, s, vh = torch.linalg.svd(a)
    u[:, -1] = u[:, -2]
    assert "columns of U" in judged(a, (u, s, vh)).reason
    u, s, vh = torch.linalg.svd(a.mT)
    vh[-1] *= 2
    assert "rows of Vh" in judged(a.mT, (u, s, vh)).reason


def test_one_wrong_matrix_of_a_batch_fails():
    a = matrix(5, 8, 8)
    u, s, vh = torch.linalg.svd(a)
    u = u.clone()
    u[3] = u[2]
    assert "U diag(S) Vh = A" in judged(a, (u, s, vh)).reason


def test_thin_and_full_shapes_are_told_apart():
    a = matrix(9, 4)
    assert "shape of U" in judged(a, torch.linalg.svd(a, full_matrices=False), True).reason
    assert "shape of U" in judged(a, torch.linalg.svd(a), False).reason


def test_the_other_properties():
    a = matrix(30, 30)
    q, r = torch.linalg.qr(a)
    assert all(each.holds for each in (orthonormal("Q", q), triangular("R", r), close("QR", q @ r, a.double())))
    assert not triangular("R", r + 1e-30).holds
    assert not triangular("R", r, upper=False).holds
    assert triangular("L", r.mT, upper=False).holds
    _, low, _ = torch.linalg.lu(a)
    assert triangular("L", low, upper=False, unit=True).holds
    assert not triangular("L", 2 * low, upper=False, unit=True).holds
    assert not orthonormal("Q", q * (1 + 1e-3)).holds
    assert not orthonormal("Q", q[:, [0, *range(29)]]).holds
    assert orthonormal("rows", q[:7], rows=True).holds
    assert not orthonormal("columns", q[:7]).holds
    assert ordered("up", torch.arange(5.0), descending=False).holds
    assert not ordered("down", torch.arange(5.0)).holds
    assert not ordered("up", torch.tensor([1.0, math.nan]), descending=False).holds
    assert not ordered("one", torch.tensor([math.nan])).holds
    assert not ordered("one", torch.tensor([math.inf])).holds
    assert ordered("down", torch.tensor([1.0, -1.0])).holds
    assert not ordered("down", torch.tensor([1.0, -1.0]), nonnegative=True).holds


def test_close_is_relative_to_its_scale():
    want = matrix(8, dtype=torch.float64)
    got = (want + 1e-3).float()
    assert not close("x", got, want).holds
    assert close("x", got, want, scale=1e3).holds
    assert not close("x", want.float()[:5], want).holds
    assert close("x", torch.tensor(1.0), torch.tensor(1.0, dtype=torch.float64)).holds


def test_the_worst_residual_comes_first():
    residuals = [Residual("a", 2.0, 1.0), Residual("b", 50.0, 1.0), Residual("c", 0.5, 1.0), Residual("d", 3.0, 1.0)]
    outcome = judge_properties(residuals)
    assert outcome.reason == "b: error 50, at most 1 is allowed"
    assert outcome.details.splitlines() == [
        "d: error 3, at most 1 is allowed",
        "a: error 2, at most 1 is allowed",
    ]
    assert outcome.facts["residuals"]["c"] == [0.5, 1.0]
    assert judge_properties([]).passed
    assert not judge_properties([Residual("e", math.nan, 1.0)]).passed
