"""Quantized results: honest schemes pass, broken ones and unquantized results do not."""

import importlib.util
import math
from pathlib import Path

import pytest
import torch

from pytest_kernelbenchx.judge.quantized import W4A16, W8A8, judge_quantized, measure
from pytest_kernelbenchx.judge.verdicts import Verdict

path = Path(__file__).parents[1] / "benchmarks" / "quantization_limits.py"
spec = importlib.util.spec_from_file_location("quantization_limits", path)
assert spec is not None
assert spec.loader is not None
limits = importlib.util.module_from_spec(spec)
spec.loader.exec_module(limits)

FINE = [name for name in limits.HONEST if "tensor" not in name and "truncated" not in name]
SPECS = {"w8a8": W8A8, "w4a16": W4A16}
W8 = [name for name in limits.OPERATIONS if not name.startswith("w4a16")]
W4 = [name for name in limits.OPERATIONS if name.startswith("w4a16")]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small tensors: more threads only wait for each other when tests run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def verdict(got, truth, spec=W8A8, reduction=256, standard=True, **more):
    return judge_quantized(got.float(), truth, spec=spec, reduction=reduction, standard=standard, **more).verdict


@pytest.mark.parametrize("operation", limits.OPERATIONS)
def test_honest_schemes_pass(operation):
    spec = W4A16 if operation in W4 else W8A8
    for scheme in FINE:
        for fill in limits.FILLS:
            got, truth = limits.OPERATIONS[operation](limits.HONEST[scheme], fill)
            outcome = judge_quantized(got.float(), truth, spec=spec, reduction=64, standard=fill == "standard")
            assert outcome.passed, f"{scheme}, {fill}: {outcome.reason}"
    got, truth = limits.OPERATIONS[operation](limits.HONEST["per tensor"], "standard")
    assert verdict(got, truth, spec) is Verdict.PASSED


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("kind", limits.BROKEN)
def test_broken_schemes_fail(kind, bits):
    got, truth = limits.broken(kind, bits)
    spec = W8A8 if bits == 8 else W4A16
    outcome = judge_quantized(got.float(), truth, spec=spec, reduction=256, standard=True)
    exact = kind in ("full precision", "bfloat16", "tf32-like (10 bits)")
    harmless = ["scale 1/128 in one place"]  # 0.8 % is less than the rounding
    if bits == 8:
        harmless += ["truncated", "floor instead of rounding", "nibbles biased by one"]
    expected = Verdict.NOT_QUANTIZED if exact else Verdict.PASSED if kind in harmless else Verdict.WRONG_VALUES
    assert outcome.verdict is expected, outcome


def noise_of_operation(operation, fill):
    """What scales per row cost, by rounding to either neighbour of a level at random."""
    squares = []
    for i in range(8):
        generator = torch.Generator().manual_seed(i)

        def dither(x, generator=generator):
            return x + torch.rand(x.shape, generator=generator, dtype=torch.float64) - 0.5

        got, truth = limits.OPERATIONS[operation.replace(" P8", "")]({"rounding": dither}, fill)
        squares.append((got - truth).square())
    return torch.stack(squares).mean(0).sqrt()


@pytest.mark.parametrize("fill", limits.FILLS)
@pytest.mark.parametrize("operation", limits.OPERATIONS)
def test_honest_schemes_pass_the_limits_from_noise(operation, fill):
    spec = W4A16 if operation in W4 else W8A8
    noise = noise_of_operation(operation, fill)
    for scheme in [*FINE, "per tensor"] if fill == "standard" else FINE:
        got, truth = limits.OPERATIONS[operation](limits.HONEST[scheme], fill)
        outcome = judge_quantized(got.float(), truth, spec=spec, reduction=64, standard=fill == "standard", noise=noise)
        assert outcome.passed, f"{scheme}: {outcome.reason}"
    if operation.startswith(("matmul", "bmm", "conv2d", "attention")) and fill == "standard":
        got, truth = limits.OPERATIONS[operation](limits.HONEST["per row, truncated"], fill)
        assert verdict(got, truth, spec, noise=noise) is Verdict.WRONG_VALUES


def noise_of(a, b, spec):
    draws = []
    for i in range(8):
        generator = torch.Generator().manual_seed(i)
        left = spec.dither(a, -1, generator) if spec is W8A8 else a
        draws.append((left @ spec.dither(b, -2, generator) - a @ b).square())
    return torch.stack(draws).mean(0).sqrt()


@pytest.mark.parametrize("fill", limits.FILLS)
@pytest.mark.parametrize(("m", "k", "n"), [(33, 64, 48), (64, 257, 31), (1, 5, 1), (2, 1, 3)])
def test_noise_of_the_case_sharpens_the_limits(fill, m, k, n):
    a, b = limits.draw((m, k), fill, 1), limits.draw((k, n), fill, 2)
    noise = noise_of(a, b, W8A8)
    for scheme in FINE:
        how = limits.HONEST[scheme]
        got = limits.quantize(a, **{"dim": -1, **how}) @ limits.quantize(b, **{"dim": -2, **how})
        outcome = judge_quantized(got.float(), a @ b, spec=W8A8, reduction=k, standard=False, noise=noise)
        assert outcome.passed, f"{scheme}: {outcome.reason}"
    if m > 2 and fill == "standard":  # among outliers most values round to 0, whichever way
        got = limits.quantize(a, -1, rounding=torch.trunc) @ limits.quantize(b, -2, rounding=torch.trunc)
        assert verdict(got, a @ b, reduction=k, standard=False, noise=noise) is Verdict.WRONG_VALUES
    if m > 2:
        got = limits.quantize(a, -1, bits=6) @ limits.quantize(b, -2, bits=6)
        assert verdict(got, a @ b, reduction=k, standard=False, noise=noise) is Verdict.WRONG_VALUES
    assert verdict(torch.zeros(m, n), a @ b, reduction=k, noise=noise) is Verdict.WRONG_VALUES


@pytest.fixture
def product():
    """An honest product and the truth, [2, 64, 48], K = 256."""
    return limits.matmul({}, "standard", 64, 256, 48, batch=2)


@pytest.mark.parametrize(
    "spoil", [torch.zeros_like, torch.ones_like, torch.neg, lambda t: t.roll(1), lambda t: t * 1.05]
)
@pytest.mark.parametrize("spec", [W8A8])
def test_wrong_results_fail(product, spoil, spec):
    got, truth = product
    assert verdict(got, truth, spec) is Verdict.PASSED
    assert verdict(spoil(got), truth, spec) is Verdict.WRONG_VALUES


@pytest.mark.parametrize("where", [(1, slice(48, 64), slice(32, 48)), (0, slice(0, 16), slice(0, 16)), (1, 63, 47)])
def test_one_corrupt_corner_fails(product, where):
    got, truth = product
    got = got.clone()
    got[where] -= 40  # the output's root mean square is 16
    outcome = judge_quantized(got.float(), truth, spec=W8A8, reduction=256, standard=True)
    assert outcome.verdict is Verdict.WRONG_VALUES
    first = [where[0], *(16 * ((axis if isinstance(axis, int) else axis.start) // 16) for axis in where[1:])]
    assert f"the error in the tile at {first}" in outcome.reason


def test_one_corrupt_tile_of_a_large_output_is_seen_by_the_tile_alone():
    got, truth = limits.matmul({}, "standard", 512, 64, 512)
    got[0, 16:32, 16:32] = 0
    facts = measure(got, truth)
    assert facts["cosine"] > 0.999
    assert facts["relative_rmse"] < 0.04
    assert facts["worst_tile"] > 0.8
    outcome = judge_quantized(got.float(), truth, spec=W8A8, reduction=64, standard=False)
    assert "the tile at [0, 16, 16]" in outcome.reason


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_nan_and_infinity_fail(product, value):
    got, truth = product
    got = got.clone()
    got[0, 0, 0] = value
    assert verdict(got, truth) is Verdict.WRONG_VALUES
    truth = truth.clone()
    truth[0, 0, 0] = value
    assert verdict(got, truth) is Verdict.PASSED


def test_floor_holds_on_long_reductions_and_standard_data_alone(product):
    _, truth = product
    assert verdict(truth, truth) is Verdict.NOT_QUANTIZED
    assert verdict(truth, truth, W4A16) is Verdict.NOT_QUANTIZED
    assert verdict(truth, truth, reduction=63) is Verdict.PASSED
    assert verdict(truth, truth, standard=False) is Verdict.PASSED
    assert verdict(truth[0, :5, :5], truth[0, :5, :5]) is Verdict.PASSED


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
        a, b = limits.draw((m, 5), "standard", seed), limits.draw((5, n), "standard", seed + 100)
        got = limits.quantize(a, -1) @ limits.quantize(b, -2)
        assert verdict(got, a @ b, reduction=5) is Verdict.PASSED
        assert verdict(0 * got, a @ b, reduction=5) is Verdict.WRONG_VALUES
        assert verdict(-got, a @ b, reduction=5) is Verdict.WRONG_VALUES


def test_dither_has_the_error_of_rounding():
    x = limits.draw((64, 256), "standard", 1)
    moved = W8A8.dither(x, 1, torch.Generator().manual_seed(0)) - x
    rounded = limits.quantize(x, 1) - x
    assert float(moved.std() / rounded.std()) == pytest.approx(1, abs=0.03)
    assert W8A8.dither(x, None, torch.Generator()).shape == x.shape
    images = x.view(4, 16, 4, 64) * torch.tensor([1.0, 10.0, 100.0, 1000.0]).view(4, 1, 1, 1)
    steps = images.abs().amax((1, 2, 3)) / 127
    moved = W8A8.dither(images, (1, 2, 3), torch.Generator().manual_seed(0)) - images
    assert moved.abs().amax((1, 2, 3)) / steps == pytest.approx([0.5] * 4, rel=0.01)
    assert W8A8.dither(x[:0], 1, torch.Generator()).shape == (0, 256)
    assert torch.equal(W8A8.dither(0 * x, 1, torch.Generator()), 0 * x)
