"""Matrices for the tasks of linear algebra, beside those of `fills`, and the axes that they are drawn with."""

import math

import torch
from torch import Tensor

from pytest_kernelbenchx import fills

BATCHES: tuple[list[int], ...] = ([], [], [1], [2], [5], [2, 3])
SIDES = (1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 32, 33)
LONG_SIDES = (*SIDES, 64, 65)
SMALL = 32  # sides up to which matrices have no structure


def shuffled(rng: torch.Generator, shape: list[int], kind: str) -> Tensor:
    """As `fills.well_conditioned`, with the rows in a random order, so that most need exchanges of rows."""
    return in_own_orders(rng, fills.well_conditioned(rng, shape, kind))


def some_deficient(rng: torch.Generator, shape: list[int], kind: str) -> Tensor:
    """[.., M, N] of normal values; one tensor in three is of rank min(M, N) // 2."""
    rank = min(shape[-2:]) // 2
    if not rank or int(torch.randint(3, (), generator=rng)):
        return fills.normal()(rng, shape, kind)
    right = torch.randn((*shape[:-2], rank, shape[-1]), generator=rng, dtype=torch.float64)
    return fills.normal()(rng, [*shape[:-1], rank], kind) @ right / rank**0.5


def with_spectrum(rng: torch.Generator, shape: list[int], values: Tensor) -> Tensor:
    """[.., M, N] with the singular values `values`, [.., min(M, N)], and random singular vectors."""
    rank = min(shape[-2:])
    left, _ = torch.linalg.qr(torch.randn((*shape[:-1], rank), generator=rng, dtype=torch.float64))
    right, _ = torch.linalg.qr(torch.randn((*shape[:-2], shape[-1], rank), generator=rng, dtype=torch.float64))
    return left * values.unsqueeze(-2) @ right.mT


def determinate(rng: torch.Generator, shape: list[int], kind: str) -> Tensor:
    """Normal values; large matrices are nearer to a permuted identity, each to another, so that float32 holds their
    determinants.

    That of N x N normal values is about sqrt(N!), 10 ** 44 for N = 64.
    """
    n = shape[-1]
    values = fills.normal()(rng, shape, kind)
    if n <= SMALL:
        return values
    return in_own_orders(rng, values / (2 * math.sqrt(n)) + torch.eye(n, dtype=torch.float64))


def in_own_orders(rng: torch.Generator, values: Tensor) -> Tensor:
    """`values` [..., N, M] with the rows of every matrix in an order of its own."""
    order = torch.rand(values.shape[:-1], generator=rng).argsort(-1)
    return values.gather(-2, order[..., None].expand(values.shape))


def definite(rng: torch.Generator, shape: list[int], dtype: torch.dtype, kind: str) -> Tensor:
    """As `fills.positive_definite`, and Hermitian if complex."""
    return _turned(fills.positive_definite(rng, shape, kind), rng, dtype, hermitian=True)


def indefinite(rng: torch.Generator, shape: list[int], dtype: torch.dtype, kind: str, hermitian: bool) -> Tensor:
    """Symmetric matrices with eigenvalues of both signs; if complex, Hermitian or complex symmetric.

    Condition numbers are up to 100, 10 ** 4 in outlier cases. Half of the matrices are those of a saddle point, where
    elimination meets a 0 at once unless it exchanges rows or takes blocks of 2 x 2.
    """
    batch, n = shape[:-2], shape[-1]
    if int(torch.randint(2, (), generator=rng)):
        real = _saddle_point(rng, batch, n // 2, n - n // 2, kind)
    else:
        values, basis = torch.linalg.eigh(fills.positive_definite(rng, shape, kind))
        signs = torch.where(torch.rand((*batch, n), generator=rng) < 0.5, -1.0, 1.0)
        real = (basis * (signs * values).unsqueeze(-2)) @ basis.mT
    return _turned(real, rng, dtype, hermitian)


def _saddle_point(rng: torch.Generator, batch: list[int], rows: int, columns: int, kind: str) -> Tensor:
    """[[0, X], [X^T, Y]] with X [rows, columns], rows <= columns, of full rank and Y positive definite."""
    basis, _ = torch.linalg.qr(torch.randn((*batch, columns, rows), generator=rng, dtype=torch.float64))
    exponents = torch.rand((*batch, 1, rows), generator=rng, dtype=torch.float64) * (3 if kind == "outlier" else 1)
    x = (basis * 3 * 10**exponents).mT
    y = fills.positive_definite(rng, [*batch, columns, columns], "standard")
    zeros = torch.zeros((*batch, rows, rows), dtype=torch.float64)
    return torch.cat([torch.cat([zeros, x], -1), torch.cat([x.mT, y], -1)], -2)


def _turned(real: Tensor, rng: torch.Generator, dtype: torch.dtype, hermitian: bool) -> Tensor:
    """Exactly symmetric; if complex, rows and columns are turned by random phases, conjugate ones if `hermitian`."""
    if not dtype.is_complex:
        return (real + real.mT) / 2
    phases = torch.exp(2j * math.pi * torch.rand(real.shape[:-1], generator=rng, dtype=torch.float64))
    turned = phases.unsqueeze(-1) * real * (phases.conj() if hermitian else phases).unsqueeze(-2)
    return (turned + (turned.mH if hermitian else turned.mT)) / 2
