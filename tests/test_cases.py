"""Cases: the same case gives the same bytes everywhere, travels as JSON, and reaches the shapes that break kernels."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from hypothesis import HealthCheck, given, settings

from conftest import TASKS
from pytest_kernelbenchx import Shapes, dims, dims_or_none, fills, some_dims, some_dims_or_none, task
from pytest_kernelbenchx.cases import Case, build, from_example, laid_out, split_call
from pytest_kernelbenchx.drawing import Budget, cases, kinds
from pytest_kernelbenchx.loading import load_task

QUIET = settings(
    max_examples=300, database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@task(
    inputs={"input": "T[*S]", "other": "T[*S~] | number", "bias": "T[N] | None", "index": "i64[N]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    options={"alpha": [1, 2.5, float("inf")], "dtype": [None, torch.float64], "dims": [(0,), (0, 1)]},
    fill={"index": fills.indices("N")},
    sizes={"small": {"S": [64], "N": 4}},
    examples=[
        {"input": [[1.0, -2.0]], "other": 3.0},
        {"input": [1.0], "other": [2.0], "bias": [5.0, 6.0], "index": [1, 0], "alpha": 2.5},
        {"S": (3, 4), "bias": True, "N": 7, "fill": "outlier", "seed": 5, "dtype": "f16"},
    ],
)
def blend(input, other, bias=None, index=None, alpha=1, dtype=None, dims=(0,), out=None):
    return input + alpha * other


def drawn(of, budget=None):
    found = []

    @QUIET
    @given(case=cases(of, budget))
    def collect(case):
        found.append(case)

    collect()
    return found


@pytest.fixture(scope="module")
def blended():
    return drawn(blend)


def test_json_round_trip(blended):
    for case in blended:
        assert Case.from_json(case.to_json()) == case


@pytest.mark.parametrize("text", ["", "[]", "3", '{"axis": 1}', '{"axes": {"M": 1}', "null"])
def test_what_is_no_case_is_told(text):
    with pytest.raises(ValueError, match="no case"):
        Case.from_json(text)


def test_every_kind_of_argument_is_drawn(blended):
    assert {case.dtype for case in blended} == {"f32", "f16", "bf16"}
    assert {case.fill for case in blended} == {"standard", "outlier", "edge"}
    assert {case.options.get("alpha") for case in blended} == {None, 2.5, float("inf")}
    assert {"bias" in case.present for case in blended} == {True, False}
    assert {"other" in case.numbers for case in blended} == {True, False}
    assert {case.out for case in blended} == {True, False}
    assert {layout for case in blended for layout in case.layouts.values()} == {"transposed", "strided", "offset"}
    assert {len(case.axes["S"]) for case in blended} == {0, 1, 2, 3, 4}
    assert any(0 in case.axes["S"] for case in blended)
    assert any(case.axes.get("S~other") not in (None, case.axes["S"]) for case in blended)


def test_lengths_that_break_kernels(blended):
    longest = {case.axes["S"][0] for case in blended if len(case.axes["S"]) == 1}
    assert any(n > 1024 and n % 1024 for n in longest)
    axis = {case.axes["N"] for case in blended}
    assert axis & {1, 2, 3, 5, 7, 13, 17}
    assert axis & {15, 31, 63, 127, 255}
    assert axis & {17, 33, 65, 129, 257}


def test_budget_is_kept():
    @task(
        inputs={"a": "f32[M, K]", "b": "f32[K, N]"},
        output="f32[M, N]",
        sizes={"s": {"M": 1, "K": 1, "N": 1}},
        flops=lambda M, N, K: 2 * M * N * K,
    )
    def product(a, b):
        return a @ b

    found = drawn(product, Budget(elements=4096, flops=100_000))
    for case in found:
        m, n, k = (case.axes[name] for name in "MNK")
        assert max(m * k, k * n, m * n) <= 4096
        assert 2 * m * n * k <= 100_000
    for name in "MNK":
        assert max(case.axes[name] for case in found) > 128


def test_where_rejects():
    @task(
        inputs={"x": "f32[M]"},
        output="f32[M]",
        sizes={"s": {"M": 1}},
        options={"k": [1, 2, 3, 4]},
        where=lambda M, k: k <= M,
    )
    def head(x, k):
        return x[:k]

    assert all(case.options["k"] <= case.axes["M"] for case in drawn(head))


def test_axes_that_depend_on_others_are_drawn_after_them():
    @task(
        inputs={"input": "f32[*I]", "grid": "f32[*O, D]"},
        output="f32[...]",
        axes={
            "I": Shapes(2, 3),
            "O": lambda I: Shapes(len(I), len(I), longest=5),  # noqa: E741
            "D": lambda I: [len(I)],  # noqa: E741
        },
        sizes={"small": {"I": [4, 4], "O": [4, 4], "D": 2}},
    )
    def sample(input, grid):
        return input

    found = drawn(sample)
    assert {len(case.axes["I"]) for case in found} == {2, 3}
    assert all(len(case.axes["O"]) == len(case.axes["I"]) == case.axes["D"] for case in found)


def test_example_with_literals():
    case = from_example(blend, 1)
    arguments = build(blend, case)
    assert arguments["bias"].tolist() == [5.0, 6.0]
    assert case.axes["S"] == [1]
    assert case.axes["N"] == 2
    assert arguments["index"].tolist() == [1, 0]
    assert case.options == {"alpha": 2.5}
    assert build(blend, from_example(blend, 0))["other"] == 3.0
    assert from_example(blend, 0).axes["S"] == [1, 2]


def test_example_with_axes():
    arguments = build(blend, from_example(blend, 2))
    assert arguments["input"].shape == (3, 4)
    assert arguments["input"].dtype is torch.float16
    assert arguments["bias"].shape == (7,)
    assert arguments["input"].abs().max() > 20 or arguments["other"].abs().max() > 20


def test_example_with_another_element_type():
    """A literal tensor keeps its type; what is built is a copy."""
    given = torch.tensor([[1, 2, 3]])
    mixed = replace(blend, examples=({"input": given, "other": [0.5], "S": [1, 3]}, {"input": given, "other": 1.0}))
    arguments = build(mixed, from_example(mixed, 0))
    assert arguments["input"].dtype is torch.int64
    assert arguments["other"].dtype is torch.float32
    assert arguments["input"].data_ptr() != given.data_ptr()
    assert from_example(mixed, 1).axes["S"] == [1, 3]


def test_required_arguments_go_by_position():
    arguments = build(blend, from_example(blend, 1))
    positional, named = split_call(blend, arguments)
    assert len(positional) == 2
    assert list(named) == ["bias", "index", "alpha"]


def test_leaving_an_argument_out_does_not_change_the_others():
    with_bias = Case(axes={"S": [5], "N": 3}, present=("bias",), seed=9)
    without = Case(axes={"S": [5], "N": 3}, seed=9)
    assert torch.equal(build(blend, with_bias)["input"], build(blend, without)["input"])


def test_same_case_same_bytes_in_another_process(blended):
    chosen = [case for case in blended if case.axes["S"]][:40]
    script = (
        "import sys, json, hashlib; sys.path[:0] = json.loads(sys.argv[1])\n"
        "from test_cases import blend, digest; from pytest_kernelbenchx.cases import Case\n"
        "print(json.dumps([digest(Case.from_json(line)) for line in sys.stdin]))"
    )
    told = subprocess.run(
        [sys.executable, "-c", script, json.dumps(sys.path)],
        input="\n".join(case.to_json() for case in chosen),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(told.stdout) == [digest(case) for case in chosen]


def digest(case):
    import hashlib

    held = hashlib.sha256()
    for value in build(blend, case).values():
        text = repr((value.double().tolist(), value.stride())) if isinstance(value, torch.Tensor) else repr(value)
        held.update(text.encode())
    return held.hexdigest()


def test_dimensions_of_a_shape():
    assert list(dims([5, 7])) == [-2, -1, 0, 1]
    assert dims_or_none([5]) == [None, -1, 0]
    assert some_dims([5, 7]) == [-2, -1, 0, 1, (0,), (1,), (0, 1), [-2, -1], [-1], [-2]]
    assert some_dims_or_none([5]) == [None, -1, 0, (0,), [-1]]


@pytest.mark.parametrize("layout", ["transposed", "strided", "offset", "expanded"])
def test_layouts_keep_the_numbers(layout):
    values = torch.arange(12.0).view(3, 4)
    moved = laid_out(values, layout)
    assert moved.shape == values.shape
    if layout == "expanded":
        assert moved.stride(0) == 0
        assert torch.equal(moved[2], values[0])
    else:
        assert torch.equal(moved, values)
        assert not moved.is_contiguous() or moved.storage_offset() == 1


@pytest.mark.parametrize("shape", [[1], [7], [1000], [64, 64]])
def test_every_tensor_of_an_outlier_case_has_an_outlier(shape):
    for seed in range(20):
        rng = torch.Generator().manual_seed(seed)
        plain = torch.randn(shape, generator=torch.Generator().manual_seed(1))
        changed = fills.with_outliers(plain, rng)
        ratio = changed / plain
        assert ((ratio - 1).abs() < 1e-6).sum() + ((ratio - 50).abs() < 1e-4).sum() == plain.numel()
        assert ((ratio - 50).abs() < 1e-4).any()


def test_share_of_outliers_is_a_thousandth():
    values = torch.ones(1_000_000)
    changed = fills.with_outliers(values, torch.Generator().manual_seed(0))
    assert 800 <= int((changed == 50).sum()) <= 1200


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16])
def test_outliers_among_integers_are_beyond_narrower_arithmetic(dtype):
    rng = torch.Generator().manual_seed(0)
    values = fills.default(rng, [50], dtype, "outlier")
    narrow = {torch.int64: torch.float64, torch.int32: torch.float32, torch.int16: torch.float16}[dtype]
    assert (values.abs() >= fills.LARGE[dtype]).any()
    first = torch.tensor(fills.LARGE[dtype], dtype=dtype)
    assert first.to(narrow).to(dtype) != first
    assert fills.default(rng, [50], dtype, "standard").abs().max() <= 100


def test_one_of_several_fills_is_drawn_for_every_tensor():
    mixed = fills.one_of(fills.uniform(1, 2), fills.uniform(5, 6))
    whole = set()
    for seed in range(20):
        context = {"rng": torch.Generator().manual_seed(seed), "shape": [50], "kind": "standard", "N": 3}
        whole |= {tuple(fills.call(mixed, context).floor().unique().tolist())}
    assert whole == {(1.0,), (5.0,)}


def test_ready_fills():
    context = {
        "rng": torch.Generator().manual_seed(0),
        "shape": [8, 8],
        "dtype": torch.float32,
        "kind": "standard",
        "N": 3,
    }
    assert torch.linalg.eigvalsh(fills.call(fills.positive_definite, context)).min() > 0
    assert fills.call(fills.indices("N"), context).max() < 3
    assert fills.call(fills.along_dim, {**context, "S": [90, 2, 80], "dim": -2}).unique().tolist() == [0, 1]
    assert fills.call(fills.uniform(-2, -1), context).max() < -1
    assert torch.allclose(fills.call(fills.probabilities(), context).sum(-1), torch.ones(8, dtype=torch.float64))
    assert torch.linalg.cond(fills.call(fills.well_conditioned, context)).max() < 100
    assert fills.call(fills.positive(0.5), context).min() >= 0.5
    assert [end.item() for end in fills.call(fills.normal(low=-0.5, high=0.25), context).aminmax()] == [-0.5, 0.25]
    assert 0 < fills.call(fills.squashed, context).min() < 0.2
    assert fills.call(fills.squashed, {**context, "shape": [4000], "kind": "outlier"}).max() > 1 - 1e-9
    for_gelu = fills.call(fills.for_gelu, {**context, "shape": [1000]})
    assert for_gelu.min() >= -2 < 2 < for_gelu.max()
    with pytest.raises(TypeError, match="a fill asks for Q; there are"):
        fills.call(lambda Q: Q, context)


def test_weights_of_a_layer():
    context = {"rng": torch.Generator().manual_seed(0), "shape": [16, 1024]}
    assert fills.call(fills.fan_in, {**context, "kind": "standard"}).std() == pytest.approx(1 / 32, rel=0.05)
    assert fills.call(fills.fan_in, {**context, "kind": "outlier"}).abs().max() > 1


def test_classes_are_in_range_or_ignored():
    context = {"rng": torch.Generator().manual_seed(0), "shape": [40, 50], "C": 7}
    chosen = fills.call(fills.classes, {**context, "ignore_index": -100})
    assert chosen[0, 0] == 6
    assert set(chosen.unique().tolist()) == {-100, *range(7)}
    assert 0.1 < (chosen == -100).float().mean() < 0.15
    assert fills.call(fills.classes, {**context, "shape": [], "ignore_index": -1}) == 6


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.bool])
def test_every_bit_is_drawn(dtype):
    words = fills.call(fills.bits, {"rng": torch.Generator().manual_seed(0), "shape": [2000], "dtype": dtype})
    width = 1 if dtype is torch.bool else 8 * dtype.itemsize
    for bit in range(width):
        assert 0.4 < (words.to(dtype).to(torch.int64) >> bit & 1).double().mean() < 0.6


EDGES = {
    "zeros": lambda t: not t.any() and 0 < int(torch.signbit(t).sum()) < t.numel(),
    "constant": lambda t: torch.equal(t, t[:, :1].expand_as(t)) and t[0, 0] != t[1, 0],
    "one value": lambda t: bool((t == t[0, 0]).all()),
    "negative": lambda t: bool((t < 0).all()),
    "ties": lambda t: len(t.unique()) < 12,
    "sorted": lambda t: torch.equal(t.view(-1), t.view(-1).sort().values),
    "small": lambda t: t.abs().max() < 0.01,
    "large": lambda t: t.std() > 500,
}


@pytest.mark.parametrize("name", EDGES)
def test_patterns_of_edges(name, monkeypatch):
    monkeypatch.setattr(fills, "PATTERNS", {name: fills.PATTERNS[name]})
    found = fills.edge(torch.Generator().manual_seed(0), [16, 32], torch.float32)
    assert EDGES[name](found)
    for dtype in (torch.int64, torch.uint8, torch.bool, torch.float16, torch.complex64):
        for shape in ([], [0], [3, 0], [5]):
            made = fills.edge(torch.Generator().manual_seed(0), shape, dtype).to(dtype)
            assert list(made.shape) == shape
            assert made.is_complex() or bool(made.isfinite().all())


def test_large_bfloat16_is_beyond_float16(monkeypatch):
    """Its range is what it has that float16 has not: a kernel that passes through float16 overflows."""
    monkeypatch.setattr(fills, "PATTERNS", {"large": fills.PATTERNS["large"]})
    made = fills.edge(torch.Generator().manual_seed(0), [16, 32], torch.bfloat16).to(torch.bfloat16)
    assert int(made.to(torch.float16).isinf().sum()) > 256
    assert bool(made.float().square().isfinite().all())


def test_low_values_have_no_exponential():
    made = fills.NAMED["low"](rng=torch.Generator().manual_seed(0), shape=[5, 7]).to(torch.float32)
    assert made.shape == (5, 7)
    assert made.std() > 0.5
    assert not made.exp().any()


def test_every_pattern_is_drawn_and_declared_fills_have_none():
    made = [fills.edge(torch.Generator().manual_seed(seed), [16, 32], torch.float32) for seed in range(100)]
    assert all(any(check(values) for values in made) for check in EDGES.values())
    assert ("f32", "edge") in kinds(load_task(TASKS / "activation" / "relu.py"))
    for name in ("math/reciprocal.py", "quantization/matmul_w8a8.py"):
        assert not [kind for kind in kinds(load_task(TASKS / name)) if "edge" in kind]
