"""The judge of quantized results alone: limits, tiles, the floor, the gain, and traces of exact operands."""

import importlib
import math
import sys

import pytest
import torch

from conftest import ROOT
from pytest_kernelbenchx.judge.operands import beyond_columns, exact_operand
from pytest_kernelbenchx.judge.quantized import W4A16, W8A8, judge_quantized
from pytest_kernelbenchx.judge.tiles import measure
from pytest_kernelbenchx.judge.verdicts import Verdict

sys.path.insert(0, str(ROOT / "benchmarks"))
schemes = importlib.import_module("quantization_schemes")
levels = schemes.levels
SPECS = {"w8a8": W8A8, "w4a16": W4A16}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small tensors: more threads only wait for each other when tests run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def draw(shape, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def outcome(got, truth, spec=W8A8, reduction=256, standard=True, **more):
    return judge_quantized(got.float(), truth, spec=spec, reduction=reduction, standard=standard, **more)


def verdict(got, truth, *args, **more):
    return outcome(got, truth, *args, **more).verdict


def product(m, k, n, batch=1, bits=8, **how):
    """An honest product and the truth."""
    a, b = draw((batch, m, k), 1), draw((batch, k, n), 2)
    return levels(a, bits, **how) @ levels(b.mT, bits, **how).mT, a @ b


def noise_of(a, b, spec=W8A8):
    moved = []
    for seed in range(8):
        rng = torch.Generator().manual_seed(seed)
        moved.append((spec.dither(a, -1, rng) @ spec.dither(b, -2, rng) - a @ b).square())
    return torch.stack(moved).mean(0).sqrt()


@pytest.fixture
def honest():
    """[2, 64, 48], K = 256."""
    return product(64, 256, 48, batch=2)


WRONG = [torch.zeros_like, torch.ones_like, torch.neg, lambda t: t.roll(1), lambda t: t * 1.05]


@pytest.mark.parametrize("spoil", WRONG)
def test_wrong_results_fail_without_the_noise_of_the_case_too(honest, spoil):
    got, truth = honest
    assert verdict(got, truth) is Verdict.PASSED
    assert verdict(spoil(got), truth) is Verdict.WRONG_VALUES


@pytest.mark.parametrize("where", [(1, slice(48, 64), slice(32, 48)), (0, slice(0, 16), slice(0, 16)), (1, 63, 47)])
def test_one_corrupt_corner_fails(honest, where):
    got, truth = honest
    got = got.clone()
    got[where] -= 40  # the output's root mean square is 16
    found = outcome(got, truth)
    assert found.verdict is Verdict.WRONG_VALUES
    first = [where[0], *(16 * ((axis if isinstance(axis, int) else axis.start) // 16) for axis in where[1:])]
    assert f"the error in the tile at {first}" in found.reason


def test_one_corrupt_tile_of_a_large_output_is_seen_by_the_tile_alone():
    got, truth = product(512, 64, 512)
    got[0, 16:32, 16:32] = 0
    facts = measure(got, truth)
    assert facts["cosine"] > 0.999
    assert facts["relative_rmse"] < 0.04
    assert facts["worst_tile"] > 0.8
    assert "the tile at [0, 16, 16]" in outcome(got, truth, reduction=64, standard=False).reason


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_nan_and_infinity_fail(honest, value):
    got, truth = honest
    got = got.clone()
    got[0, 0, 0] = value
    assert verdict(got, truth) is Verdict.WRONG_VALUES
    truth = truth.clone()
    truth[0, 0, 0] = value
    assert verdict(got, truth) is Verdict.PASSED


def test_floor_holds_on_long_sums_and_standard_values_alone(honest):
    _, truth = honest
    noise = truth.abs() * 0.01
    for more in ({}, {"noise": noise}):
        assert verdict(truth, truth, **more) is Verdict.NOT_QUANTIZED
        assert verdict(truth, truth, W4A16, **more) is Verdict.NOT_QUANTIZED
        assert verdict(truth, truth, reduction=15, **more) is Verdict.PASSED
        assert verdict(truth, truth, standard=False, **more) is Verdict.PASSED
    assert verdict(truth[0, :5, :5], truth[0, :5, :5]) is Verdict.PASSED


@pytest.mark.parametrize("share", [0.3, 0.4])
def test_floor_follows_the_noise_of_the_case(share):
    truth = draw((64, 64))
    noise = torch.full_like(truth, 0.01)
    got = truth + share * 0.01 * draw((64, 64), 2)
    expected = Verdict.PASSED if share > W8A8.least else Verdict.NOT_QUANTIZED
    assert verdict(got, truth, noise=noise) is expected
    assert verdict(got, truth, noise=noise, float8=True) is Verdict.PASSED
    assert verdict(truth, truth, noise=noise, float8=True) is Verdict.NOT_QUANTIZED


@pytest.mark.parametrize("bits", [8, 4])
def test_truncation_makes_a_gain(bits):
    spec = W8A8 if bits == 8 else W4A16
    a, b = draw((64, 256)), draw((256, 48), 2)
    for standard in (True, False):
        got = levels(a, bits, rounding=torch.trunc) @ levels(b.mT, bits, rounding=torch.trunc).mT
        found = outcome(got, a @ b, spec, standard=standard, noise=2 * noise_of(a, b, spec))
        assert found.verdict is (Verdict.WRONG_VALUES if standard else Verdict.PASSED)
        if standard:
            assert "% too small throughout" in found.reason
    got = levels(a, bits) @ levels(b.mT, bits).mT
    assert verdict(got, a @ b, spec, noise=noise_of(a, b, spec)) is Verdict.PASSED
    larger = got * (1.015 if bits == 8 else 1.12)
    assert "too large throughout" in outcome(larger, a @ b, spec, noise=noise_of(a, b, spec)).reason


@pytest.mark.parametrize(("m", "k", "n"), [(33, 64, 48), (64, 257, 31), (1, 5, 1), (2, 1, 3)])
def test_noise_of_the_case_sharpens_the_limits(m, k, n):
    a, b = draw((m, k)), draw((k, n), 2)
    noise = noise_of(a, b)
    for how in ({}, {"asymmetric": True}, {"group": 32}):
        got = levels(a, 8, **how) @ levels(b.mT, 8, **how).mT
        found = outcome(got, a @ b, reduction=k, noise=noise)
        assert found.passed, f"{how}: {found.reason}"
    if m > 2:
        got = levels(a, 6) @ levels(b.mT, 6).mT
        assert verdict(got, a @ b, reduction=k, standard=False, noise=noise) is Verdict.WRONG_VALUES
    assert verdict(torch.zeros(m, n), a @ b, reduction=k, noise=noise) is Verdict.WRONG_VALUES


@pytest.mark.parametrize(("share", "expected"), [(0.49, Verdict.WRONG_VALUES), (0.51, Verdict.PASSED)])
def test_a_case_whose_noise_hides_the_truth_says_nothing(share, expected):
    truth = draw((8, 8))
    noise = torch.full_like(truth, share * float(truth.square().mean().sqrt()))
    assert verdict(truth * 0, truth, standard=False, noise=noise) is expected
    assert verdict(truth * 9, truth, standard=False, noise=noise) is Verdict.WRONG_VALUES


@pytest.mark.parametrize("spec", SPECS)
def test_zeros_and_single_elements(spec):
    zero = torch.zeros(3, 4, dtype=torch.float64)
    assert verdict(zero, zero, SPECS[spec]) is Verdict.PASSED
    assert verdict(zero + 1e-3, zero, SPECS[spec]) is Verdict.WRONG_VALUES
    one = torch.tensor([[-16129.0]], dtype=torch.float64)
    assert verdict(one, one, SPECS[spec]) is Verdict.PASSED
    assert verdict(0 * one, one, SPECS[spec]) is Verdict.WRONG_VALUES
    assert verdict(zero[:0], zero[:0], SPECS[spec]) is Verdict.PASSED
    column = torch.tensor([[5.0, 0.0, 5.0], [5.0, 0.0, -5.0]], dtype=torch.float64)
    assert verdict(column, column, SPECS[spec]) is Verdict.PASSED
    assert verdict(torch.tensor(2.0), torch.tensor(2.0, dtype=torch.float64), SPECS[spec]) is Verdict.PASSED


def test_small_outputs_get_wider_limits():
    """A few sums of five products can all be small."""
    for m, n, seed in [(2, 3, seed) for seed in range(20)] + [(1, 1, seed) for seed in range(20)]:
        a, b = draw((m, 5), seed), draw((5, n), seed + 100)
        got = levels(a, 8) @ levels(b.mT, 8).mT
        assert verdict(got, a @ b, reduction=5) is Verdict.PASSED
        assert verdict(0 * got, a @ b, reduction=5) is Verdict.WRONG_VALUES
        assert verdict(-got, a @ b, reduction=5) is Verdict.WRONG_VALUES


def test_dither_has_the_error_of_rounding():
    x = draw((64, 256))
    for group in (0, 32):
        moved = W8A8.dither(x, 1, torch.Generator().manual_seed(0), group) - x
        rounded = levels(x, 8, group=group) - x
        assert float(moved.std() / rounded.std()) == pytest.approx(1, abs=0.03)
    moved = W8A8.dither(x.mT, 0, torch.Generator().manual_seed(0)).mT - x
    assert float(moved.std() / (levels(x, 8) - x).std()) == pytest.approx(1, abs=0.03)
    assert W8A8.dither(x, None, torch.Generator()).shape == x.shape
    assert W8A8.dither(x[:, :50], 1, torch.Generator(), group=32).shape == (64, 50)
    images = x.view(4, 16, 4, 64) * torch.tensor([1.0, 10.0, 100.0, 1000.0]).view(4, 1, 1, 1)
    steps = images.abs().amax((1, 2, 3)) / 127
    moved = W8A8.dither(images, (1, 2, 3), torch.Generator().manual_seed(0)) - images
    assert moved.abs().amax((1, 2, 3)) / steps == pytest.approx([12**-0.5] * 4, rel=0.01)
    assert W8A8.dither(x[:0], 1, torch.Generator()).shape == (0, 256)
    assert torch.equal(W8A8.dither(0 * x, 1, torch.Generator()), 0 * x)


def test_dither_of_float8_has_the_error_of_float8():
    x = draw((64, 256))
    moved = W8A8.dither(x, None, torch.Generator().manual_seed(0), float8=True) - x
    rounded = schemes.float8(x, 8) - x
    assert 1 < float(moved.std() / rounded.std()) < 1.6  # spacings are x / 8 at most, x / 16 at least


def test_what_no_columns_explain():
    matrix, other = draw((2, 40, 8)), draw((2, 8, 30), 2)
    left = beyond_columns(matrix @ other, matrix)
    assert float(left.abs().max()) < 1e-12
    error = draw((2, 40, 30), 3)
    left = beyond_columns(error, matrix)
    assert float(left.square().mean()) == pytest.approx(32 / 40, rel=0.1)
    assert float((matrix.mT @ left).abs().max()) < 1e-12
    assert not beyond_columns(draw((8, 30)), draw((8, 8))).numel()
    assert not beyond_columns(draw((12, 30)), draw((12, 8))).numel()


class Product:
    """What `exact_operand` asks of a task."""

    scales = {"a": -1, "b": -2}  # noqa: RUF012
    quantized = W8A8
    traces = {  # noqa: RUF012
        "a": lambda error, a: beyond_columns(error, a),
        "b": lambda error, b: beyond_columns(error.mT, b.mT),
    }


@pytest.mark.parametrize(("m", "k", "n", "seen"), [(97, 33, 31, "a"), (31, 33, 97, "b"), (31, 64, 33, "")])
def test_an_exact_operand_leaves_a_trace_where_its_columns_are_few(m, k, n, seen):
    a, b = draw((m, k)), draw((k, n), 2)

    def found(left, right):
        return exact_operand(Product, {"a": a, "b": b}, lambda given: given["a"] @ given["b"], a @ b, left @ right)

    for how in ({}, {"group": 32}, {"asymmetric": True}):
        quantized = levels(a, 8, **how), levels(b.mT, 8, **how).mT
        assert found(*quantized) == ""
        assert found(a, quantized[1]) == ("a" if seen == "a" else "")
        assert found(a.bfloat16().double(), quantized[1]) == ("a" if seen == "a" else "")
        assert found(quantized[0], b) == ("b" if seen == "b" else "")


def test_a_trace_in_which_the_others_leak_says_nothing():
    class Leaking(Product):
        traces = {"a": lambda error: error}  # noqa: RUF012

    a, b = draw((97, 33)), draw((33, 31), 2)
    run = lambda given: given["a"] @ given["b"]  # noqa: E731
    assert exact_operand(Leaking, {"a": a, "b": b}, run, a @ b, a @ b) == ""
    assert exact_operand(Leaking, {"a": a, "b": None}, lambda given: given["a"] @ b, a @ b, a @ b) == "a"
