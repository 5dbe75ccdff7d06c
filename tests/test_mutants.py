"""benchmarks/mutants.py: every operator makes the fault that it is named for, and none where it would be no fault."""

import ast
import hashlib
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from mutants import identity, mutants, outcomes  # noqa: E402
from mutation.applying import OPERATORS, RARE, chosen, mutant, places, without_effect  # noqa: E402

KERNEL = """
@triton.jit
def product(a_ptr, b_ptr, c_ptr, y_ptr, M, N, K, a_m, a_k, eps, BIAS: tl.constexpr, BM: tl.constexpr):
    m = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    k = tl.arange(0, BM)
    total = tl.zeros((BM, BM), tl.float32)
    for start in range(0, K, BM):
        a = tl.load(a_ptr + m[:, None] * a_m + k[None, :] * a_k, mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        total += a.to(tl.float32)
    low = tl.load(c_ptr + k, mask=k < K, other=-float("inf"))
    top = tl.max(low, axis=0)
    rounded = tl.floor(total * 0.25 + 0.5)
    if BIAS:
        rounded *= tl.load(b_ptr + k)[None, :]
    kept = tl.where(k < K, low, 0.0)
    y = (rounded - top) / tl.sqrt(tl.sum(tl.where(k < K, low, 0.0), axis=0) + eps) + kept
    tl.store(y_ptr + m, y, mask=m < M)


def launch(x, bias=None, out=None):
    x = x.contiguous()
    y = torch.empty_like(x) if out is None else out
    product[(triton.cdiv(x.numel(), 64),)](x, y, *x.stride(), float(bias_eps), bias is not None, num_warps=2 * 4)
    return y
"""
FAULTS = {
    "drop_mask": ("tl.store(y_ptr + m, y, mask=m < M)", "tl.store(y_ptr + m, y)"),
    "drop_one_condition": ("mask=(m < M)[:, None] & (k < K)[None, :]", "mask=(m < M)[:, None]"),
    "drop_first_condition": ("mask=(m < M)[:, None] & (k < K)[None, :]", "mask=(k < K)[None, :]"),
    "loosen_bound": ("y, mask=m < M", "y, mask=m <= M"),
    "wrong_other": ("other=-float('inf')", "other=0.0"),
    "wrong_axis": ("tl.max(low, axis=0)", "tl.max(low, axis=1)"),
    "wrong_broadcast": ("tl.load(b_ptr + k)[None, :]", "tl.load(b_ptr + k)[:, None]"),
    "swap_strides": ("m[:, None] * a_m + k[None, :] * a_k", "m[:, None] * a_k + k[None, :] * a_m"),
    "floor_for_cdiv": ("triton.cdiv(x.numel(), 64)", "max(x.numel() // 64, 1)"),
    "short_cdiv": ("triton.cdiv(x.numel(), 64)", "max(triton.cdiv(x.numel() - 1, 64), 1)"),
    "short_loop": ("range(0, K, BM)", "range(0, K - BM, BM)"),
    "late_loop": ("range(0, K, BM)", "range(0 + BM, K, BM)"),
    "off_by_one": ("k = tl.arange(0, BM)", "k = tl.arange(0, BM) + 1"),
    "narrow_offsets": ("tl.store(y_ptr + m", "tl.store(y_ptr + m.to(tl.int16)"),
    "drop_contiguous": ("x = x.contiguous()", "x = x"),
    "stale_out": ("torch.empty_like(x) if out is None else out", "torch.empty_like(x)"),
    "unmasked_sum": ("tl.sum(tl.where(k < K, low, 0.0), axis=0)", "tl.sum(low, axis=0)"),
    "drop_eps": ("axis=0) + eps)", "axis=0))"),
    "half_accumulator": (
        "total += a.to(tl.float32)",
        "total = (total + a.to(tl.float32)).to(tl.float16).to(tl.float32)",
    ),
    "half_precision": ("a.to(tl.float32)", "a.to(tl.float16).to(tl.float32)"),
    "wrong_rounding": ("tl.floor(total * 0.25 + 0.5)", "tl.floor(total * 0.25)"),
    "swap_operands": ("(rounded - top)", "(top - rounded)"),
    "other_operation": ("total * 0.25 + 0.5", "total * 0.25 - 0.5"),
    "drop_factor": ("total * 0.25 + 0.5", "total + 0.5"),
    "drop_term": ("total * 0.25 + 0.5", "total * 0.25"),
    "drop_update": ("rounded *= tl.load(b_ptr + k)[None, :]", "pass"),
    "other_reduction": ("tl.max(low, axis=0)", "tl.min(low, axis=0)"),
    "wrong_identity": ("other=-float('inf')", "other=0.0"),
    "nonzero_start": ("tl.zeros((BM, BM), tl.float32)", "tl.full((BM, BM), 1, tl.float32)"),
    "swap_branches": ("kept = tl.where(k < K, low, 0.0)", "kept = tl.where(k < K, 0.0, low)"),
    "ignore_condition": ("if BIAS:", "if False:"),
    "constant_of": ("total * 0.25", "total * 0.2525"),
}
CASTS = """
@triton.jit
def widen(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(y_ptr + i, x * 2.0 + tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32), mask=i < n)
"""


def changed(source, operator):
    """The mutants of an operator, as they are written."""
    return [mutant(source, operator, place).source for place in range(places(source)[operator])]


@pytest.mark.parametrize("operator", FAULTS)
def test_an_operator_makes_its_fault(operator):
    before, after = FAULTS[operator]
    original = "\n".join(mutant(KERNEL, "drop_contiguous", 0).source.splitlines())
    original = original.replace("x = x\n", "x = x.contiguous()\n")
    assert before in original
    assert original.replace(before, after) in changed(KERNEL, operator)


def test_a_cast_that_matters_is_left_out_and_one_beside_a_float32_is_not():
    assert changed(CASTS, "missing_cast") == [mutant(CASTS, "missing_cast", 0).source]
    assert "x = tl.load(x_ptr + i, mask=i < n, other=0.0)\n" in mutant(CASTS, "missing_cast", 0).source


def test_every_operator_is_tried_here():
    assert {*FAULTS, "missing_cast"} == set(OPERATORS)
    assert set(RARE) <= set(OPERATORS)


def test_a_mutant_never_equals_its_parent_or_another():
    made = chosen(KERNEL, 1000, random.Random(0))
    sources = [one.source for one in made]
    assert len(sources) > 50
    assert len(set(sources)) == len(sources)
    assert ast.unparse(ast.parse(KERNEL)) not in sources
    assert len({one.operator for one in made[:20]}) == 20


@pytest.mark.parametrize(
    ("source", "operator"),
    [
        (CASTS, "wrong_other"),  # nothing is reduced, and the store has a mask
        (CASTS, "half_accumulator"),
        (KERNEL.replace("tl.floor(total", "tl.floor(2.0 < total"), "constant_of"),
        (KERNEL.replace("triton.cdiv(x.numel(), 64)", "triton.cdiv(x.numel(), 64) < 8"), "short_cdiv"),
    ],
)
def test_no_mutant_where_it_would_be_no_fault(source, operator):
    assert changed(source, operator) == []


def test_the_other_of_a_product_with_zeros_stays():
    source = KERNEL.replace("total += a.to(tl.float32)", "total = tl.dot(a, b, total)").replace(
        "        a = tl.load", "        b = tl.load(b_ptr + k, mask=k < K, other=0.0)\n        a = tl.load"
    )
    assert all("other=1.0" not in text for text in changed(source, "wrong_other"))


def test_arithmetic_that_chooses_a_number_of_warps_stays():
    assert all("num_warps=2 * 4" in text for name in OPERATORS for text in changed(KERNEL, name))


def test_of_one_type_some_operators_change_nothing():
    assert without_effect(("f16",)) == ("half_precision",)
    assert without_effect(("f32",)) == ("missing_cast",)
    assert without_effect(("f32", "f16")) == ()


def test_the_same_seed_gives_the_same_mutants(tmp_path):
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text(KERNEL)
    second.write_text(CASTS)
    made = mutants([first, second], 3, 1, None)
    assert made == mutants([first, second], 3, 1, None)
    assert made != mutants([first, second], 3, 2, None)
    assert [row for row in made if row[0] == second] == mutants([second], 3, 1, None)
    limited = mutants([first, second], 3, 1, 3)
    assert [(file.stem, number) for file, number, _ in limited] == [("first", 0), ("first", 1), ("second", 0)]


def test_the_file_can_be_judged_and_reported(tmp_path):
    kernel, file, records = tmp_path / "cube.py", tmp_path / "mutants.jsonl", tmp_path / "records.jsonl"
    kernel.write_text(KERNEL)
    program = [sys.executable, str(BENCHMARKS / "mutants.py")]
    made = subprocess.run([*program, "make", file, kernel], capture_output=True, text=True, check=True)
    assert made.stdout.startswith("3 mutants of 1 kernels:")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(row["task"], row["sample"], row["id"]) for row in rows] == [
        ("cube", number, identity(row["code"])) for number, row in enumerate(rows)
    ]
    verdicts = ("WRONG_VALUES", "PASSED", "NOT_JUDGED")
    records.write_text("".join(json.dumps(record(*pair)) + "\n" for pair in zip(rows, verdicts, strict=True)))
    page = tmp_path / "page.md"
    page.write_text("Before\n<!-- figures -->\nold\n<!-- end of figures -->\nafter\n")
    told = subprocess.run([*program, "report", file, records, "--into", page], capture_output=True, text=True)
    assert told.returncode == 1
    assert "| all | 1 | 1 | 0 | 1 | 0 | 0 |" in told.stdout
    assert "50.0% of the mutants that are not equivalent were rejected" in told.stdout
    assert f"`{rows[1]['id']}` | **a gap** |" in told.stdout
    text = page.read_text()
    assert told.stdout in text
    assert text.startswith("Before\n")
    assert text.endswith("<!-- end of figures -->\nafter\n")
    assert "old" not in text


def record(row, verdict):
    digest = hashlib.sha256(row["code"].encode()).hexdigest()
    return {"stage": "correct", "verdict": verdict, "sha256": digest, "task": row["task"]}


def test_equivalent_mutants_are_no_survivors():
    rows = [{"id": "a", "code": "x", "task": "t"}, {"id": "b", "code": "y", "task": "t"}]
    passed = [record(row, "PASSED") for row in rows]
    assert [outcome for _, outcome, _ in outcomes(rows, passed, {"b": "why"})] == ["survived", "equivalent"]
    assert [outcome for _, outcome, _ in outcomes(rows, [], {})] == ["missing", "missing"]
