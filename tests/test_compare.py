"""The comparison function, in both directions: what is right passes, what is wrong fails and is described."""

import math

import pytest
import torch

from pytest_kernelbenchx.dtypes import DTYPES
from pytest_kernelbenchx.judge.compare import agreement, allowed_error, check_form, compare, errors, scale_of
from pytest_kernelbenchx.judge.hints import HALF, TF32, find_hint
from pytest_kernelbenchx.judge.tolerance import DEFAULT, TABLE, Tolerance, jitter
from pytest_kernelbenchx.judge.verdicts import Verdict

FLOATS = ["f64", "f32", "f16", "bf16"]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small tensors: more threads only wait for each other when tests run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def normal(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def outliers(*shape, seed=0):
    """Standard normal data, one element in a thousand 50 times as large."""
    where = torch.rand(*shape, generator=torch.Generator().manual_seed(seed + 100)) < 1e-3
    return torch.where(where, 50.0, 1.0) * normal(*shape, seed=seed)


def one_by_one(a, b):
    """The product, summed in float32 in the order of the reduction axis."""
    total = torch.zeros(a.shape[0], b.shape[1], dtype=torch.float32)
    for k in range(a.shape[1]):
        total += a[:, k, None] * b[None, k]
    return total


def truncated(values, bits):
    """Float32 values with the last bits of the significand cut off; TF32 keeps 10 of 23."""
    return (values.view(torch.int32) & -(1 << bits)).view(torch.float32)


SPREADS = {
    "normal": normal(40, 50),
    "outliers": outliers(40, 50),
    "exp of outliers": torch.exp(outliers(40, 50)),
    "log-normal": torch.exp(6 * normal(40, 50)),
    "denormal in f32": 1e-41 * normal(40, 50),
    "denormal in f16": 1e-7 * normal(40, 50),
    "at the overflow of f16": 65504 + 40 * normal(40, 50),
    "at the overflow of bf16": 3.39e38 * (1 + 1e-3 * normal(40, 50)),
    "beyond the overflow": 1e39 * normal(40, 50),
    "zeros": torch.zeros(40, 50, dtype=torch.float64),
    "relu": normal(40, 50).relu(),
    "one spike": torch.nn.functional.one_hot(torch.arange(50)).double(),
    "infinities and NaN": torch.tensor([[1.0, math.inf, -math.inf, math.nan, 0.0, -0.0]], dtype=torch.float64),
    "scalar": torch.tensor(0.1, dtype=torch.float64),
    "empty": torch.zeros(0, 3, dtype=torch.float64),
}


@pytest.mark.parametrize("rows", [None, -1])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("spread", SPREADS)
def test_rounded_truth_passes(spread, dtype, rows):
    truth = SPREADS[spread]
    for tolerance in (DEFAULT, Tolerance(exact=True), Tolerance(table={dtype: (0.0, 0.0)})):
        assert compare(truth.to(DTYPES[dtype]), truth, tolerance=tolerance, rows=rows) is None
    assert compare(truth.to(DTYPES[dtype]), truth, eager=truth.to(DTYPES[dtype]), rows=rows) is None


@pytest.mark.parametrize("dtype", ["c64", "c128"])
def test_rounded_complex_truth_passes(dtype):
    truth = torch.fft.fft(outliers(8, 128))
    truth[0, 0] = complex(math.inf, math.nan)
    truth[0, 1] = 1e300
    got = truth.to(DTYPES[dtype])
    assert compare(got, truth) is None
    assert compare(got * (1 + 1e-3), truth) is not None
    turned = got.clone()
    turned[3] *= complex(math.cos(0.01), math.sin(0.01))
    found = compare(turned, truth)
    assert found is not None
    assert found.where == "only row 3"
    assert "j" in found.message("output")


def test_conjugates_and_lost_infinities_fail():
    truth = torch.fft.fft(normal(64))
    assert compare(truth.conj().resolve_conj(), truth) is not None
    assert compare(-truth, truth).count == 64
    assert compare(truth.abs().to(torch.complex64), truth).count > 60
    truth[3] = complex(0, math.inf)
    lost = truth.clone()
    lost[3] = 1
    assert compare(lost, truth).index == (3,)
    assert compare(truth.clone(), lost).index == (3,)


@pytest.mark.parametrize("make", [normal, outliers])
@pytest.mark.parametrize("k", [64, 257, 4096])
def test_order_of_float32_sums_passes(k, make):
    a, b = make(48, k, seed=1).float(), make(k, 40, seed=2).float()
    truth = a.double() @ b.double()
    assert compare(one_by_one(a, b), truth, eager=a @ b) is None
    assert compare(one_by_one(a, b), truth) is None


@pytest.mark.parametrize("eager", [True, False])
@pytest.mark.parametrize("make", [normal, outliers])
@pytest.mark.parametrize("k", [64, 257, 2048])
def test_tf32_fails_and_is_named(k, make, eager):
    a, b = make(64, k, seed=1).float(), make(k, 64, seed=2).float()
    got = truncated(a, 13) @ truncated(b, 13)
    found = compare(got, a.double() @ b.double(), eager=a @ b if eager else None)
    assert found is not None
    assert found.fraction > 0.5
    assert found.hint == TF32


@pytest.mark.parametrize(("dtype", "k"), [("f16", 512), ("bf16", 257)])
def test_sums_in_16_bits_fail_and_are_named(dtype, k):
    a, b = normal(32, k, seed=1).to(DTYPES[dtype]), normal(k, 32, seed=2).to(DTYPES[dtype])
    truth = a.double() @ b.double()
    total = torch.zeros(32, 32, dtype=DTYPES[dtype])
    for i in range(k):
        total += a[:, i, None] * b[None, i]
    eager = (a.float() @ b.float()).to(DTYPES[dtype])
    assert compare(eager, truth, eager=eager) is None
    found = compare(total, truth, eager=eager)
    assert found is not None
    assert found.hint == HALF


def stale(t):
    out = t.clone()
    out[5, 7] = t[5, 8]
    return out


def put(index, change):
    def wrong(t):
        out = t.clone()
        out[index] = change(out[index])
        return out

    return wrong


WRONG = {
    "zeros": torch.zeros_like,
    "ones": torch.ones_like,
    "a constant": lambda t: torch.full_like(t, t.mean().item()),
    "the row mean": lambda t: t.mean(-1, keepdim=True).expand(t.shape).contiguous(),
    "the column mean": lambda t: t.mean(0, keepdim=True).expand(t.shape).contiguous(),
    "negated": torch.neg,
    "absolute values": torch.abs,
    "shifted by one": lambda t: t.flatten().roll(1).reshape(t.shape),
    "shifted by one row": lambda t: t.roll(1, 0),
    "transposed": lambda t: t.mT.contiguous(),
    "reversed": lambda t: t.flip(-1),
    "a wrong factor": lambda t: t * 0.5,
    "an added constant": lambda t: t + 0.1,
    "noise of 5 %": lambda t: t * (1 + 0.05 * normal(*t.shape, seed=9)),
    "one wrong element": put((5, 7), lambda v: v + 0.2),
    "one stale element": stale,
    "one NaN": put((5, 7), lambda v: v * math.nan),
    "one infinity": put((5, 7), lambda v: v + math.inf),
    "NaN everywhere": lambda t: t * math.nan,
    "last element unwritten": put((-1, -1), torch.zeros_like),
    "last row unwritten": put(-1, torch.zeros_like),
    "last columns unwritten": put((slice(None), slice(48, None)), torch.zeros_like),
    "first block twice": lambda t: torch.cat([t[:32], t[:18]]),
    "two rows swapped": lambda t: t[[1, 0, *range(2, 50)]],
    "rows sorted": lambda t: t.sort(-1).values,
    "clamped": lambda t: t.clamp(-2, 2),
    "whole numbers": torch.round,
    "small values lost": lambda t: torch.where(t.abs() < 0.1, 0.0, t),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", WRONG)
def test_wrong_answers_fail(kind, dtype):
    for truth in (normal(50, 50), outliers(50, 50, seed=3)):
        eager = truth.to(DTYPES[dtype])
        got = WRONG[kind](truth).to(DTYPES[dtype])
        found = compare(got, truth, eager=eager)
        assert found is not None
        message = found.message("output")
        assert 2 <= message.count("\n") + 1 <= 4
        assert len(message) < 600


@pytest.mark.parametrize(
    ("kind", "where", "hint"),
    [
        ("zeros", "everything", "everything is 0"),
        ("NaN everywhere", "everything", "everything is NaN"),
        ("transposed", "", "transposed"),
        ("shifted by one", "", "shifted by one"),
        ("reversed", "", "reverse"),
        ("a wrong factor", "", "every element is 0.5 times"),
        ("one wrong element", "one element, at [5, 7]", ""),
        ("one NaN", "NaN where the truth has none, at [5, 7]", ""),
        ("last row unwritten", "only row 49", ""),
        ("last columns unwritten", "only the end of axis 1, from 48 on (the tail of a block?)", ""),
        ("two rows swapped", "within [0, 0] to [1, 49]", ""),
    ],
)
def test_place_and_hint(kind, where, hint):
    truth = normal(50, 50)
    found = compare(WRONG[kind](truth).float(), truth)
    assert where in found.where
    assert hint in found.hint
    assert bool(found.hint) == bool(hint)


def test_few_zeros_and_false_are_no_pattern():
    for got in (torch.zeros(2), torch.zeros(50, dtype=torch.bool)):
        truth = torch.arange(got.numel()) % 2 == 0
        assert find_hint(got, truth.to(got.dtype), truth != got.bool()) == ""


def test_tail_of_a_vector():
    truth = normal(1500)
    got = truth.float()
    got[1024:] = 0
    assert compare(got, truth).where == "only the last elements, from 1024 on (the tail of a block?)"


def test_outliers_do_not_hide_small_errors():
    """An output that spans 60 orders of magnitude: an error of 1e-3 at an element of size 1 is seen."""
    truth = torch.exp(outliers(50, 50))
    truth[3, 4] = math.exp(120)
    got = truth.clone()
    place = (truth - 1).abs().argmin()
    got.view(-1)[place] *= 1.001
    eager = (truth * (1 + 1e-7 * normal(50, 50, seed=5))).float()
    assert compare(truth.float(), truth, eager=eager) is None
    assert compare(got.float(), truth, eager=eager).count == 1


def test_error_of_eager_is_allowed_where_eager_makes_it():
    truth = torch.cat([normal(500), 1e6 * normal(500)])
    eager = torch.cat([truth[:500], truth[500:] + 1e3 * normal(500, seed=3)]).float()
    like_eager = torch.cat([truth[:500], truth[500:] + 2e3 * normal(500, seed=4).clamp(-1, 1)]).float()
    assert compare(like_eager, truth) is not None
    assert compare(like_eager, truth, eager=eager) is None
    assert compare(like_eager, truth, eager=eager, tolerance=Tolerance(factor=0.0)) is not None
    small = truth.clone()
    small[:500] += 1e-3
    assert compare(small.float(), truth, eager=eager).count > 490


def test_rows_have_scales_of_their_own():
    truth = normal(20, 64) * torch.logspace(-6, 6, 20, dtype=torch.float64)[:, None]
    got = truth.clone()
    got[0] += 1e-6 * 1e-3
    assert compare(got.float(), truth) is None
    assert compare(got.float(), truth, rows=-1).where == "only row 0"
    assert compare(got.float(), truth, tolerance=Tolerance(rows=1)).where == "only row 0"


def test_noise_allows_cancellation():
    """A sum whose terms cancel: no share of the truth or of its scale can be asked for."""
    values = (1 + normal(4096).abs()).float()
    values[-1] = 10 - values[:-1].double().sum().float()
    truth = values.double().sum()
    got = one_by_one(values[None], torch.ones(4096, 1))[0, 0]  # off by 1e-2
    assert compare(got, truth) is not None
    draws = [jitter(values.double(), torch.float32, torch.Generator().manual_seed(i)).sum() - truth for i in range(4)]
    noise = torch.stack(draws).square().mean(0).sqrt()
    assert compare(got, truth, noise=noise) is None
    assert compare(got + 0.1, truth, noise=noise) is not None


def test_noise_does_not_excuse_a_jump():
    """Rounding an integer down a little makes floor jump by 1; floor of an integer is certain all the same."""
    truth = torch.arange(1.0, 9, dtype=torch.float64)
    noise = torch.ones(8, dtype=torch.float64)
    assert compare((truth - 1).float(), truth, noise=noise).count == 8
    assert compare((truth - 1).float(), truth, noise=noise, tolerance=Tolerance(ties=1)) is None
    assert compare((truth - 2).float(), truth, noise=noise, tolerance=Tolerance(ties=1)).count == 8


def test_jitter_leaves_whole_numbers_and_zeros_alone():
    generator = torch.Generator().manual_seed(0)
    assert torch.equal(jitter(torch.arange(9), torch.int64, generator), torch.arange(9))
    moved = jitter(torch.tensor([0.0, 1.0], dtype=torch.float64), torch.float32, generator)
    assert moved[0] == 0
    assert 0 < abs(moved[1] - 1) < 1e-6


def test_overflow_near_the_threshold_goes_either_way():
    truth = torch.tensor([65519.0, 65521.0, 70000.0, -70000.0], dtype=torch.float64)
    assert compare(torch.tensor([math.inf, 65504, math.inf, -math.inf], dtype=torch.float16), truth) is None
    assert compare(torch.tensor([65504, math.inf, 65504, -math.inf], dtype=torch.float16), truth).count == 1
    assert compare(torch.tensor([65504, math.inf, -math.inf, -math.inf], dtype=torch.float16), truth).count == 1


@pytest.mark.parametrize("dtype", FLOATS)
def test_masks_of_nan_and_infinity_must_be_equal(dtype):
    truth = torch.tensor([1.0, math.inf, -math.inf, math.nan, 2.0], dtype=torch.float64)
    good = truth.to(DTYPES[dtype])
    nan, inf = math.nan, math.inf
    for place, value in [(0, nan), (1, -inf), (1, nan), (2, 0.0), (3, inf), (3, 0.0), (4, inf)]:
        got = good.clone()
        got[place] = value
        found = compare(got, truth, eager=good)
        assert (found.count, found.index) == (1, (place,))
        assert found.message("output")


@pytest.mark.parametrize("dtype", ["i64", "i32", "i16", "i8", "u8", "bool"])
def test_whole_numbers_are_exact(dtype):
    truth = torch.arange(100).reshape(10, 10) % (2 if dtype == "bool" else 100)
    truth = truth.bool() if dtype == "bool" else truth
    got = truth.to(DTYPES[dtype], copy=True)
    assert compare(got, truth) is None
    got[3, 4] = got[3, 3]
    found = compare(got, truth)
    assert (found.count, found.index, found.where) == (1, (3, 4), "one element, at [3, 4]")
    assert "expected" in found.message("mask")


def test_large_whole_numbers_are_exact():
    truth = torch.tensor([2**62, 2**62 + 1])
    assert compare(truth.clone(), truth) is None
    assert compare(truth - 1, truth).count == 2


def test_ties_need_a_declaration_and_noise():
    truth = torch.tensor([1, 2, 3])
    noise = torch.tensor([0.0, 0.5, 0.0])
    flipped, other = torch.tensor([1, 3, 3]), torch.tensor([1, 4, 3])
    assert compare(flipped, truth, noise=noise) is not None
    assert compare(flipped, truth, tolerance=Tolerance(ties=1)) is not None
    assert compare(flipped, truth, tolerance=Tolerance(ties=1), noise=noise) is None
    assert compare(other, truth, tolerance=Tolerance(ties=1), noise=noise) is not None


def test_exact_floats():
    truth = normal(30)
    assert compare(truth.float() * (1 + 2.0**-22), truth) is None
    assert compare(truth.float() * (1 + 2.0**-22), truth, tolerance=Tolerance(exact=True)) is not None


@pytest.mark.parametrize("dtype", FLOATS)
def test_each_number_of_the_tolerance_has_effect(dtype):
    truth = 1 + normal(64).abs()
    got = (truth * 1.1).to(DTYPES[dtype])
    assert compare(got, truth) is not None
    assert compare(got, truth, tolerance=Tolerance(table={dtype: (0.2, 0.0)})) is None
    assert compare(got, truth, tolerance=Tolerance(table={dtype: (0.0, 0.5)})) is None
    other = "f32" if dtype == "f64" else "f64"
    assert compare(got, truth, tolerance=Tolerance(table={other: (0.2, 0.5)})) is not None


def test_form():
    like = torch.zeros(2, 3)
    assert check_form(torch.ones(2, 3), like) is None
    for got, words in [
        (torch.ones(3, 2), "shape: got f32[3, 2], expected f32[2, 3]"),
        (torch.ones(2, 3).half(), "dtype: got f16[2, 3], expected f32[2, 3]"),
        (None, "type: got NoneType, expected f32[2, 3]"),
        ([1.0], "type: got list, expected f32[2, 3]"),
    ]:
        outcome = check_form(got, like, "values")
        assert outcome.verdict is Verdict.WRONG_OUTPUT
        assert outcome.reason == f"values has the wrong {words}"
    with pytest.raises(ValueError, match="cannot be compared"):
        compare(torch.ones(3, 2), torch.ones(2, 3))


def test_errors_of_vectors():
    truth = normal(100)
    assert errors(truth, truth) == pytest.approx({"cosine": 1, "relative_l1": 0, "relative_rmse": 0})
    assert errors(1.1 * truth, truth) == pytest.approx({"cosine": 1, "relative_l1": 0.1, "relative_rmse": 0.1})
    assert errors(-truth, truth) == pytest.approx({"cosine": -1, "relative_l1": 2, "relative_rmse": 2})
    assert errors(1e200 * truth, 1e200 * truth)["cosine"] == pytest.approx(1)
    zero = torch.zeros(5)
    assert errors(zero, zero) == {"cosine": 1.0, "relative_l1": 0.0, "relative_rmse": 0.0}
    assert errors(zero + 1, zero) == {"cosine": 0.0, "relative_l1": math.inf, "relative_rmse": math.inf}
    assert errors(zero, zero + 1) == {"cosine": 0.0, "relative_l1": 1.0, "relative_rmse": 1.0}


def test_scale_is_robust():
    assert scale_of(normal(100, 100).abs()) == pytest.approx(1, abs=0.02)
    assert scale_of(outliers(100, 100).abs()) == pytest.approx(1, abs=0.03)
    assert scale_of(torch.where(torch.arange(10000) % 10 == 0, normal(10000).abs(), 0.0)) == pytest.approx(1, abs=0.05)
    assert scale_of(torch.zeros(4)) == 0
    assert scale_of(torch.tensor([1e300, 1e300], dtype=torch.float64)) == pytest.approx(1e300)
    assert scale_of(torch.ones(3, 4, dtype=torch.float64), 1).shape == (3, 1)


def test_allowed_error_is_never_negative_or_nan():
    for truth in SPREADS.values():
        for dtype in FLOATS:
            allowed = allowed_error(truth, DTYPES[dtype], eager=truth.to(DTYPES[dtype]), noise=truth.abs())
            assert allowed.shape == truth.shape
            assert bool((allowed >= 0).all())


def test_agreement_shows_each_element():
    truth = torch.tensor([1.0, 2.0], dtype=torch.float64)
    right, allowed = agreement(torch.tensor([1.0, 3.0]), truth)
    assert right.tolist() == [True, False]
    assert allowed.tolist() == pytest.approx([3.2e-5, 3.2e-5], rel=0.1)


def test_declarations_are_read():
    assert Tolerance.of(None) is DEFAULT
    assert Tolerance.of({}) == DEFAULT
    read = Tolerance.of({"f32": (1e-3, 0), "factor": 8, "exact": False, "rows": -1, "ties": 1})
    assert read == Tolerance(table={"f32": (1e-3, 0.0)}, factor=8.0, rows=-1, ties=1.0)
    assert Tolerance.of(read) is read
    assert read.limits(torch.complex64) == (1e-3, 0.0, 8.0)
    assert read.limits(torch.int8) == (0.0, 0.0, 0.0)
    assert DEFAULT.limits(torch.bfloat16) == TABLE["bf16"]


@pytest.mark.parametrize(
    ("declared", "error", "words"),
    [
        ({"fp32": (1, 1)}, TypeError, "has no 'fp32'"),
        ({"f32": 1e-3}, TypeError, "a pair"),
        ({"f32": (1e-3, "x")}, TypeError, "a number"),
        ({"f32": (-1e-3, 0)}, ValueError, "no number from 0 up"),
        ({"factor": math.inf}, ValueError, "no number from 0 up"),
        ({"factor": True}, TypeError, "a number"),
        ({"exact": 1}, TypeError, "True or False"),
        ({"rows": 1.5}, TypeError, "axis"),
        (3, TypeError, "a dict"),
    ],
)
def test_wrong_declarations_are_refused(declared, error, words):
    with pytest.raises(error, match=words):
        Tolerance.of(declared)


def test_a_column_that_is_nearly_right_is_not_called_reversed():
    truth = normal(5, 1)
    got = truth.clone()
    got[1:3] += 1e-3
    assert "reverse" not in find_hint(got, truth.double(), got != truth)
    row = truth.view(1, 5)
    assert "reverse" in find_hint(row.flip(1), row.double(), torch.ones_like(row, dtype=torch.bool))


def test_where_pytorch_gives_0_for_next_to_nothing_0_for_something_is_wrong():
    """Most elements are what cancellation left: they are no measure of the others' errors."""
    truth = torch.tensor([3e-8] * 60 + [-0.76] * 40, dtype=torch.float64)
    eager = truth.float().where(truth < 0, 0.0)
    assert compare(eager, truth, eager=eager) is None
    wrong = compare(torch.zeros(100), truth, eager=eager)
    assert wrong is not None
    assert wrong.count == 40
