"""Random outputs: any right generator passes, wrong rates, scales, masks and distributions do not."""

import math

import pytest
import torch
import torch.nn.functional as F

from pytest_kernelbenchx.judge import chance
from pytest_kernelbenchx.judge.chance import credible, pooled
from pytest_kernelbenchx.judge.randomized import Dropout, Fixed, Uniform, judge_dropout, judge_uniform
from pytest_kernelbenchx.judge.verdicts import Verdict

SHAPES = [(5,), (3, 7), (5000,), (64, 257), (4, 33, 65)]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small tensors: more threads only wait for each other when tests run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def rng(seed):
    return torch.Generator().manual_seed(seed)


def data(shape, seed=0):
    return torch.randn(shape, generator=rng(seed), dtype=torch.float64)


def masked(x, p, seed=1, scale=None):
    keep = torch.rand(x.shape, generator=rng(seed)) >= p
    return torch.where(keep, x * (1 / (1 - p) if scale is None else scale), 0.0)


def judged(got, x, p, **more):
    outcome = judge_dropout(got, x / (1 - p) if p < 1 else x, torch.zeros_like(x), p, **more)
    assert outcome.verdict in (Verdict.PASSED, Verdict.WRONG_VALUES)
    return outcome


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_right_dropout_passes(shape, p, dtype):
    x = data(shape)
    for seed in range(4):
        got, second = (masked(x, p, s, 0 if p == 1 else None) for s in (seed, seed + 50))
        outcome = judged(got.to(dtype), x, p, second=second.to(dtype))
        assert outcome.passed, outcome.reason


def test_small_kept_values_do_not_shift_the_share():
    generator = torch.Generator().manual_seed(1)
    kept = F.gelu(8 * torch.randn(400, 300, generator=generator, dtype=torch.float64))
    # One in seven is so small that 0 might be a kept one; kept ones that are not 0 are no dropped ones all the same.
    got = torch.where(torch.rand(400, 300, generator=generator) < 0.3, 0.0, kept).to(torch.float16)
    outcome = judge_dropout(got, kept, torch.zeros_like(kept), 0.3)
    assert outcome.passed, outcome.reason


def test_right_dropout_of_sparse_data_passes():
    """Where the kept value is 0 the mask cannot be seen."""
    x = data((40, 50)).relu()
    outcome = judged(masked(x, 0.5).float(), x, 0.5, second=masked(x, 0.5, 2).float())
    assert outcome.passed
    assert outcome.facts["judged"] == int((x > 0).sum())
    assert judged(torch.zeros(40, 50), 0 * x, 0.5).facts["judged"] == 0


X = data((64, 257), 3)
SLICES = masked(torch.ones(257, dtype=torch.float64), 0.3)
BLOCK = masked(torch.ones(64, dtype=torch.float64), 0.3)
TILE = masked(torch.ones(32, 64, dtype=torch.float64), 0.3, 7)
WRONG = {
    "not scaled": (masked(X, 0.3, scale=1.0), "1 / (1 - p)"),
    "scaled by 1 / p": (masked(X, 0.3, scale=1 / 0.3), "neither kept nor dropped"),
    "kept at rate p": (masked(X, 0.7, scale=1 / 0.7), "were dropped"),
    "rate 0.35": (masked(X, 0.35, scale=1 / 0.7), "were dropped"),
    "nothing dropped": (X / 0.7, "0 of"),
    "everything dropped": (0 * X, "were dropped (100 %)"),
    "no dropout at all": (X, "1 / (1 - p)"),
    "the same mask in every row": (X * SLICES, "all slices along axis 0"),
    "the same mask in every block": (
        X.flatten()[: 256 * 64] * BLOCK.repeat(256),
        "period of 64",
    ),
    "the same mask in every column": (X * SLICES[:64, None], "all slices along axis 1"),
    "tiles of 32 x 64": (X * TILE.repeat(2, 5)[:64, :257], "period of 32 along axis 0"),
    "tiles of 16 x 257": (X * TILE.repeat(1, 5)[:16, :257].repeat(4, 1), "period of 16 along axis 0"),
    "tiles of 64 x 128, in order": (X.flatten()[:16384] * TILE.flatten().repeat(8), "period of 2048"),
    "one wrong element": (masked(X, 0.3) + F.one_hot(torch.tensor(200), 257) * torch.eye(64)[:, :1], "1 of 16448"),
    "NaN for dropped": (masked(X, 0.3).masked_fill(masked(X, 0.3) == 0, math.nan), "neither kept nor dropped"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_dropout_fails(kind):
    got, words = WRONG[kind]
    x = X if got.shape == X.shape else X.flatten()[: got.numel()].reshape(got.shape)
    outcome = judged(got.float(), x, 0.3)
    assert outcome.verdict is Verdict.WRONG_VALUES
    assert words in outcome.reason
    assert len(outcome.reason) < 400


def test_another_seed_must_give_another_mask():
    got = masked(X, 0.3).float()
    assert judged(got, X, 0.3, second=masked(X, 0.3, 2).float()).passed
    assert "another seed" in judged(got, X, 0.3, second=got).reason
    few = X[0, :5]
    assert judged(masked(few, 0.3).float(), few, 0.3, second=masked(few, 0.3).float()).passed


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_without_a_choice_every_element_is_judged(p):
    right = torch.zeros(64, 257) if p else X.float()
    assert judged(right, X, p, second=right).passed
    assert "there is no choice" in judged(masked(X, 0.3).float(), X, p).reason


def test_declaration_reads_the_arguments():
    assert Dropout().rate({"p": 0.3, "training": True}) == 0.3
    assert Dropout().rate({"p": 0.3, "training": False}) == 0.0
    assert Dropout(p="dropout_p", training=None).rate({"dropout_p": 1}) == 1.0
    with pytest.raises(KeyError):
        Dropout(p="q").rate({"p": 0.3, "training": True})


@pytest.mark.parametrize("call", [F.dropout, torch.dropout, torch.nn.Dropout(0.25)])
def test_fixed_dropout_gives_both_ends(call):
    x = torch.ones(4)
    arguments = () if isinstance(call, torch.nn.Dropout) else (0.25, True)
    with Fixed(keep=True):
        assert torch.equal(torch.exp(call(x, *arguments)), torch.exp(x / 0.75))
    with Fixed(keep=False):
        assert torch.equal(call(x, *arguments), torch.zeros(4))


def test_fixed_dropout_leaves_evaluation_alone():
    with Fixed(keep=False):
        assert torch.equal(F.dropout(torch.ones(4), 0.5, training=False), torch.ones(4))
        assert torch.equal(F.dropout(torch.ones(4), p=0.0), torch.ones(4))
    with Fixed(keep=True):
        assert torch.equal(F.dropout(torch.ones(4), p=1.0), torch.zeros(4))
        assert torch.equal(F.dropout(torch.ones(4)), torch.full((4,), 2.0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 3), (5000,), (128, 256)])
def test_right_uniform_numbers_pass(shape, dtype):
    for seed in range(10):
        got, second = (torch.rand(shape, generator=rng(s), dtype=dtype) for s in (seed, seed + 100))
        outcome = judge_uniform(got, Uniform(), second=second)
        assert outcome.passed, outcome.reason
    got = torch.rand(shape, generator=rng(0)) * 3 - 1
    assert judge_uniform(got, Uniform(-1, 2)).passed


R = torch.rand(64, 128, generator=rng(0))
NOT_UNIFORM = {
    "zeros": (0 * R, "all slices along axis 0"),
    "a constant": (0 * R + 0.5, "all slices along axis 0"),
    "few numbers, all small": (R[0, :50] / 9, "not uniform"),
    "normal": (torch.randn(64, 128, generator=rng(0)), "outside"),
    "1 reached": (torch.where(R < 0.01, 1.0, R), "outside"),
    "NaN": (torch.where(R < 0.01, math.nan, R), "outside"),
    "half the range": (R / 2, "not uniform"),
    "squared": (R**2, "not uniform"),
    "8 bits": ((R * 8).floor() / 8, "not uniform"),
    "a ramp": (torch.arange(64 * 128).reshape(64, 128) / (64 * 128), "depend on each other"),
    "every number twice": (R.flatten()[:4096].repeat_interleave(2), "depend on each other"),
    "the same row": (R[:1].expand(64, 128).contiguous(), "all slices along axis 0"),
    "the same block": (R.flatten()[:1024].repeat(8), "period of 1024"),
    "blocks all but the same": ((torch.randperm(64, generator=rng(1)).repeat(64, 2) + R) / 64, " apart depend on"),
    "the tail unwritten": (torch.cat([R.flatten()[:6000], torch.zeros(2192)]), "not uniform"),
}


@pytest.mark.parametrize("kind", NOT_UNIFORM)
def test_wrong_uniform_numbers_fail(kind):
    got, words = NOT_UNIFORM[kind]
    outcome = judge_uniform(got, Uniform())
    assert outcome.verdict is Verdict.WRONG_VALUES
    assert words in outcome.reason


def test_another_seed_must_give_other_numbers():
    assert "another seed" in judge_uniform(R, Uniform(), second=R.clone()).reason
    assert judge_uniform(R, Uniform(), second=torch.rand(64, 128, generator=rng(1))).passed


PHILOX = (0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85)


def philox(seed, offset):
    """tl.rand(seed, offset): the first of the four words of Philox4x32-10, as a number in [0, 1)."""
    words, keys, low = [offset, *[torch.zeros_like(offset)] * 3], [seed & 0xFFFFFFFF, seed >> 32], 0xFFFFFFFF
    for _ in range(10):
        high = [(m * (w >> 16) + ((m * (w & 0xFFFF)) >> 16)) >> 16 for m, w in zip(PHILOX, words[::2], strict=False)]
        rest = [
            (m * (w & 0xFFFF) + (((m * (w >> 16)) & 0xFFFF) << 16)) & low
            for m, w in zip(PHILOX, words[::2], strict=False)
        ]
        words = [high[1] ^ words[1] ^ keys[0], rest[1], high[0] ^ words[3] ^ keys[1], rest[0]]
        keys = [(key + step) & low for key, step in zip(keys, PHILOX[2:], strict=True)]
    signed = torch.where(words[0] >= 2**31, words[0] - 2**32, words[0])
    return torch.where(signed < 0, -signed - 1, signed).double() * 4.6566127342e-10


def by_offset(shape, seed):
    """One seed, and the offset of every element in row-major order."""
    return philox(seed, torch.arange(math.prod(shape)).reshape(shape))


def by_row(shape, seed):
    """A seed for every row, and the offset within it."""
    rows, length = math.prod(shape[:-1]), shape[-1]
    return torch.stack([philox(seed + 977 * row, torch.arange(length)) for row in range(rows)]).reshape(shape)


def by_torch(shape, seed):
    return torch.rand(shape, generator=rng(seed), dtype=torch.float64)


def one_tile(shape, seed):
    """Offsets within a tile of 32 x 32: what forgets the program's number."""
    tile = philox(seed, torch.arange(1024).reshape(32, 32))
    return tile.repeat([*([1] * (len(shape) - 2)), -(-shape[-2] // 32), -(-shape[-1] // 32)])[
        ..., : shape[-2], : shape[-1]
    ].expand(shape)


def test_philox_is_that_of_triton():
    """A known answer of Random123: philox4x32-10 of counter 0 and key 0."""
    first = philox(0, torch.zeros(1, dtype=torch.int64))
    assert float(first) == pytest.approx(0x6627E8D5 * 4.6566127342e-10, rel=1e-12)


@pytest.mark.parametrize("numbers", [by_offset, by_row, by_torch])
@pytest.mark.parametrize("shape", [(64, 257), (2, 3, 128, 64), (5000,)])
@pytest.mark.parametrize("p", [0.1, 0.5])
def test_honest_generators_pass(numbers, shape, p):
    x = data(shape)
    first, second = (torch.where(numbers(shape, seed) >= p, x / (1 - p), 0.0).float() for seed in (11, 1_000_014))
    outcome = judged(first, x, p, second=second)
    assert outcome.passed, outcome.reason
    assert judge_uniform(numbers(shape, 3), Uniform(), second=numbers(shape, 4)).passed


@pytest.mark.parametrize("shape", [(64, 256), (70, 257), (3, 96, 128)])
def test_tiles_that_repeat_fail(shape):
    x = data(shape)
    first, second = (torch.where(one_tile(shape, seed) >= 0.3, x / 0.7, 0.0).float() for seed in (11, 1_000_014))
    assert (
        "period of 32 along axis" in judged(first, x, 0.3, second=second).reason
        or "slices" in judged(first, x, 0.3).reason
    )
    assert "repeat" in judge_uniform(one_tile(shape, 3), Uniform()).reason


def test_rates_that_are_off_by_little_fail_over_all_cases():
    def masks(off, cases=40):
        found = []
        for case in range(cases):
            p, x = (0.5, 0.1, 0.3)[case % 3], data((37, 41), case)
            keep = torch.rand(x.shape, generator=rng(case)) >= p + off
            outcome = judged(torch.where(keep, x / (1 - p), 0.0).float(), x, p)
            assert outcome.passed  # one case alone does not tell
            found.append(outcome.facts["mask"])
        return found

    assert pooled(masks(0.0)) == ""
    assert "in all cases together" in pooled(masks(0.02)) or "with p = " in pooled(masks(0.02))
    assert "were dropped, not" in pooled(masks(-0.02))
    assert pooled([]) == ""
    of_one = [{**mask, "dropped": mask["dropped"] + (30 if mask["p"] == 0.1 else 0)} for mask in masks(0.0)]
    assert "with p = 0.1 together" in pooled(of_one)


def test_both_calls_are_counted():
    first, second = masked(X, 0.3).float(), masked(X, 0.3, 2).float()
    outcome = judged(first, X, 0.3, second=second)
    assert outcome.facts["mask"]["judged"] == pytest.approx(2 * X.numel(), abs=4)  # some values are all but 0
    assert outcome.facts["mask"]["dropped"] == pytest.approx(int((first == 0).sum() + (second == 0).sum()), abs=4)


def test_a_right_candidate_fails_once_in_a_million_times(monkeypatch):
    """No case asks for more tests than the risk of each was divided by."""
    asked = []
    for name in ("certain", "credible"):
        function = getattr(chance, name)
        counted = lambda *given, function=function: (asked.append(1), function(*given))[1]  # noqa: E731
        monkeypatch.setattr(chance, name, counted)
        monkeypatch.setattr(f"pytest_kernelbenchx.judge.randomized.{name}", counted)
    x = data((8, 8, 64, 64))
    assert judged(masked(x, 0.3).float(), x, 0.3, second=masked(x, 0.3, 2).float()).passed
    assert 30 < len(asked) <= chance.TESTS
    assert chance.RISK * (chance.TESTS * chance.CASES) <= 1.000001 * chance.FAMILY
    assert chance.FAMILY <= 1e-6


def test_credible_counts():
    assert credible(0, 0, 0.5)
    assert credible(0, 20, 0.5)
    assert not credible(0, 40, 0.5)
    assert credible(5_000, 10_000, 0.5)
    assert credible(5_200, 10_000, 0.5)
    assert not credible(5_400, 10_000, 0.5)
    assert not credible(4_600, 10_000, 0.5)
