"""Shadow memory: what a watched call in the interpreter reports of every byte."""

import pytest
import torch

from conftest import RELU
from pytest_kernelbenchx.sandbox.host import Sandbox

FRESH, ZERO = {"fresh": 255}, {"fresh": 0}

KERNELS = '''
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def _copy(x, out, n, limit, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < limit, other=0.0), mask=i < n)


@triton.jit
def _add(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(out + i * 0, tl.load(x + i, mask=i < n, other=0.0), mask=i < n)


@triton.jit
def _product(a, b, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    tl.store(out + at, tl.dot(tl.load(a + at), tl.load(b + at)))


@triton.jit
def _by_number(address, out):
    tl.store(out, tl.load(address.to(tl.pointer_type(tl.float32))))


def part(x):
    """Writes the first half of the result; PyTorch the other."""
    out = torch.empty_like(x)
    half = x.numel() // 2
    _copy[(1,)](x, out, half, half, BLOCK=64)
    out[half:] = torch.exp(x[half:])
    return out


def padded(x):
    """Scratch with a tail that is never written and never loaded: its lanes are masked."""
    scratch, out = torch.empty(64), torch.empty_like(x)
    _copy[(1,)](x, scratch, x.numel(), x.numel(), BLOCK=64)
    _copy[(1,)](scratch, out, x.numel(), x.numel(), BLOCK=64)
    return out


def careless(x):
    """Loads the whole of a scratch of which a part was written; what was not is not stored."""
    scratch, out = torch.empty(64), torch.empty_like(x)
    _copy[(1,)](x, scratch, x.numel(), x.numel(), BLOCK=64)
    _copy[(1,)](scratch, out, x.numel(), 64, BLOCK=64)
    return out


def added(x, start):
    out = torch.zeros(1) if start == "zeros" else torch.empty(1)
    _add[(1,)](x, out, x.numel(), BLOCK=64)
    return out


def product(a, b):
    out = torch.empty(16, 16)
    _product[(1,)](a.t().contiguous(), b, out, BLOCK=16)
    return out.to(torch.float16)


def by_number(x):
    out = torch.empty(1)
    _by_number[(1,)](x.data_ptr(), out)
    return out


def again(x):
    """A buffer that is kept: its memory was written in an earlier call."""
    global kept
    if "kept" not in globals():
        kept = torch.empty(64)
        _copy[(1,)](x, kept, 64, x.numel(), BLOCK=64)
    out = torch.empty_like(x)
    _copy[(1,)](kept, out, x.numel(), x.numel(), BLOCK=64)
    return out


def near(x):
    """What torch computed is not what is returned."""
    y, out = torch.exp(x), torch.empty_like(x)
    _copy[(1,)](y + x, out, x.numel(), x.numel(), BLOCK=128)
    return out.neg()


@triton.jit
def _bessel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, libdevice.cyl_bessel_i0(tl.load(x + i, mask=i < n)), mask=i < n)


def bessel(x):
    out = torch.empty_like(x)
    _bessel[(1,)](x, out, x.numel(), BLOCK=64)
    return out


def late(x):
    """What torch computed, by way of a kernel."""
    y, out = torch.exp(x), torch.empty_like(x)
    _copy[(1,)](y, out, x.numel(), x.numel(), BLOCK=128)
    return out
'''


@pytest.fixture(scope="module")
def box():
    with Sandbox() as made:
        yield made


def call(box, entry, *args, audit=FRESH, calls=1):
    """The last of some calls of an entry point, watched."""
    child = box.child()
    try:
        assert child.load("k.py", KERNELS, [entry], 60.0).ok
        for _ in range(calls - 1):
            child.call(args, {}, 0, 60.0)
        answer = child.call(args, {}, 0, 60.0, audit=audit)
    finally:
        child.kill()
    assert answer.error is None, answer.error
    return answer


X = torch.arange(40.0)


def test_shares_of_the_result_and_of_the_inputs(box):
    seen = call(box, "part", X).evidence
    assert (seen.memory.written, seen.memory.read) == (0.5, [0.5])
    assert (seen.memory.loads, seen.memory.stores, seen.memory.unknown) == (20, 20, 0)
    assert seen.compute == {"aten::exp": (1, 40, 0)}


def test_masked_lanes_of_scratch_are_not_read(box):
    memory = call(box, "padded", X).evidence.memory
    assert (memory.uninitialised, memory.written, memory.read) == ({}, 1.0, [1.0])


def test_memory_that_nothing_had_written_is_told(box):
    """Reading it is told; whether the result depends on it is another question: here it does not."""
    results = [call(box, "careless", X, audit=fresh) for fresh in (FRESH, ZERO)]
    assert [answer.evidence.memory.uninitialised for answer in results] == [{"_copy": 24}] * 2
    assert torch.equal(results[0].value, results[1].value)


@pytest.mark.parametrize(("start", "read"), [("zeros", {}), ("empty", {"_add": 1})])
def test_sums_need_zeros(box, start, read):
    full, zero = (call(box, "added", X, start, audit=fresh) for fresh in (FRESH, ZERO))
    assert set(full.evidence.memory.uninitialised) == set(read)
    assert bool(full.value.isnan()) == (start == "empty")
    assert zero.value.item() == X.sum()


def test_products_are_counted_and_copies_count_as_read(box):
    """The transposed copy is read in place of the input; a cast at the end hands on what a kernel wrote."""
    a = torch.randn(16, 16)
    memory = call(box, "product", a, a.clone()).evidence.memory
    assert (memory.macs, memory.written, memory.read) == (16**3, 1.0, [1.0, 1.0])


def test_an_address_that_is_a_number(box):
    memory = call(box, "by_number", X).evidence.memory
    assert (memory.loads, memory.stores, memory.uninitialised) == (1, 1, {})


def test_memory_of_earlier_calls_counts_as_written(box):
    memory = call(box, "again", X, calls=2).evidence.memory
    assert (memory.uninitialised, memory.written, memory.data_loads) == ({}, 1.0, 40)


def test_results_of_operators_that_a_kernel_hands_on(box):
    x = torch.randn(100)
    assert call(box, "late", x).evidence.copied == "aten::exp"
    assert call(box, "late", x[:40]).evidence.copied == "", "so do few"
    assert call(box, "near", x).evidence.copied is None
    assert call(box, "late", torch.zeros(100)).evidence.copied == "", "equal elements say nothing"


@pytest.mark.parametrize("memory", [True, False])
def test_operators_that_the_interpreter_uses_are_nobodys(box, memory):
    """It computes Bessel functions of libdevice by PyTorch."""
    seen = call(box, "bessel", X / 10, audit={**FRESH, "memory": memory}).evidence
    assert (seen.compute, seen.kinds["compute"], seen.kinds["alloc"]) == ({}, 0, 1)
    assert (seen.memory is not None) == memory


def test_the_next_call_is_not_watched(box):
    child = box.child()
    assert child.load("relu.py", RELU, ["relu"], 60.0).ok
    watched, usual = (child.call([X], {}, 0, 60.0, audit=audit) for audit in (FRESH, None))
    child.kill()
    assert watched.evidence.memory.loads == 40
    assert usual.evidence is None
    assert torch.equal(watched.value, usual.value)
