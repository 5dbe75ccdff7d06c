"""Kernels and checks of the interpreter's self-test: one per repair, small enough for milliseconds each.

Import only in a process where the interpreter is repaired. `CHECKS` maps a sentence to a function that returns whether
the interpreter does what the sentence asks.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

N = 16
BF16, F32, I32 = torch.bfloat16, torch.float32, torch.int32


@triton.jit
def arithmetic(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(a + i), tl.load(b + i)
    tl.store(out + i, x * y + x)


@triton.jit
def copy(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(a + i) + 0.0)


@triton.jit
def largest(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.max(tl.load(a + i), 0) + tl.zeros((N,), tl.float32))


@triton.jit
def total(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.sum(tl.load(a + i).to(tl.float32), 0) + tl.zeros((N,), tl.float32))


@triton.jit
def product(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    grid = i[:, None] * N + i[None, :]
    tl.store(out + grid, tl.dot(tl.load(a + grid), tl.load(b + grid)))


@triton.jit
def quotient(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    tl.store(out + i, (x // 4) * 100 + x % 4)


@triton.jit
def both(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(a + i), tl.load(b + i)
    tl.store(out + i, max(tl.where((x > 0) and (y > 0), x, y), 0.0))


@triton.jit
def tangent(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, libdevice.tanh(tl.load(a + i)))


@triton.jit
def count(out, n):
    steps = 0
    for i in range(0, n, 2):
        steps += i.to(tl.int32)  # type: ignore[attr-defined]
    while steps < 100:
        steps += n
    tl.store(out, steps)


@triton.autotune(configs=[triton.Config({"B": 4}, num_warps=2), triton.Config({"B": 8})], key=["n"])
@triton.jit
def tuned(out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, B + tl.zeros((B,), tl.int32), mask=i < n)


def operands(dtype: torch.dtype, size: int = N) -> tuple[torch.Tensor, torch.Tensor]:
    """Two vectors of values of both signs that bf16 represents exactly, and whose products it does not."""
    step = torch.arange(size)
    return ((step * 37 % 101 - 50) / 16).to(dtype), ((step * 53 % 97 - 48) / 16).to(dtype)


def same(kernel: object, dtype: torch.dtype, want: object, result: torch.dtype, size: int = N) -> bool:
    a, b = operands(dtype, size)
    out = torch.zeros(size, dtype=result)
    kernel[(1,)](a, b, out, N=N)  # type: ignore[index]
    expected = want(a, b).to(result)  # type: ignore[operator]
    return bool(torch.isclose(out, expected.expand(size), rtol=1e-6, atol=1e-6).all())


def matrices(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a.double().view(N, N) @ b.double().view(N, N)).flatten()


def first_config() -> bool:
    out = torch.zeros(N, dtype=I32)
    tuned[lambda meta: (triton.cdiv(meta["n"], meta["B"]),)](out, N)
    return out.tolist() == [4] * N and tuned.best_config is tuned.configs[0]


def runtime_loops() -> bool:
    out = torch.zeros(1, dtype=I32)
    count[(1,)](out, 9)
    return out.item() == 20 + 9 * 9


CHECKS = {
    "bf16 is multiplied and added with one rounding each": lambda: same(arithmetic, BF16, lambda a, b: a * b + a, BF16),
    "bf16 is read and written unchanged": lambda: same(copy, BF16, lambda a, b: a, BF16),
    "the largest bf16 is found": lambda: same(largest, BF16, lambda a, b: a.max(), F32),
    "bf16 is summed in float32": lambda: same(total, BF16, lambda a, b: a.double().sum(), F32),
    "a bf16 matrix product accumulates in float32": lambda: same(product, BF16, matrices, F32, N * N),
    "an integer division truncates toward zero": lambda: same(
        quotient, I32, lambda a, b: a.div(4, rounding_mode="trunc") * 100 + a.fmod(4), I32
    ),
    "`and` and `max` work element by element": lambda: same(
        both, F32, lambda a, b: torch.where((a > 0) & (b > 0), a, b).relu(), F32
    ),
    "libdevice functions are computed": lambda: same(tangent, F32, lambda a, b: a.double().tanh(), F32),
    "loops run over bounds known at run time": runtime_loops,
    "tuning takes the first configuration": first_config,
}
