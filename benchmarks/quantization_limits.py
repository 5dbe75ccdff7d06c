"""Derive the limits of the six quantization tasks: the tables in `docs/quantization.md`.

    python benchmarks/quantization_limits.py --write     writes the document
    python benchmarks/quantization_limits.py --check     says whether it is up to date; numbers may differ a little

Honest and broken ways to quantize (`quantization_schemes.py`) are applied to the tasks' own cases, and the judge is
asked. One core, about a minute; with `--seeds=N --cases=N` more cases are judged, and what an honest scheme fails
is printed.
"""

import argparse
import math
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import torch
from quantization_schemes import broken, drawn, honest, per_tensor_of, verdict
from torch import Tensor

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge.mismatch import errors
from pytest_kernelbenchx.judge.operands import LEAST
from pytest_kernelbenchx.judge.oracle import Expectation, expect
from pytest_kernelbenchx.judge.quantized import W4A16, W8A8
from pytest_kernelbenchx.loading import load_task
from pytest_kernelbenchx.task import Task

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "quantization.md"
NAMES = ("matmul_w8a8", "bmm_w8a8", "conv2d_w8a8", "layernorm_w8a8", "attention_w8a8", "linear_w4a16")
QUICK = 15  # drawn cases of a candidate at --kbx-effort=quick
SHAPES: dict[str, tuple[dict, ...]] = {
    "matmul_w8a8": ({"M": 33, "K": 64, "N": 48}, {"M": 128, "K": 257, "N": 64}, {"M": 16, "K": 2048, "N": 64}),
    "bmm_w8a8": ({"B": 3, "M": 32, "K": 64, "N": 48}, {"B": 2, "M": 17, "K": 257, "N": 65}),
    "conv2d_w8a8": (
        {"N": 2, "C": 8, "F": 16, "OH": 16, "OW": 16, "KH": 3, "KW": 3},
        {"N": 1, "C": 64, "F": 33, "OH": 14, "OW": 13, "KH": 3, "KW": 3},
    ),
    "layernorm_w8a8": ({"B": [32], "N": 64}, {"B": [16], "N": 1025}),
    "attention_w8a8": ({"B": 2, "S": 64, "D": 32}, {"B": 1, "S": 257, "D": 64}),
    "linear_w4a16": ({"M": 32, "K": 64, "N": 48}, {"M": 33, "K": 257, "N": 65}, {"M": 8, "K": 2048, "N": 64}),
}
FLAT = {"G": 1, "SY": 1, "SX": 1, "DY": 1, "DX": 1, "TY": 2, "TX": 2, "RY": 0, "RX": 0, "SAME": 0}
KINDS = (W8A8, W4A16)
Results = Callable[[Task, Expectation], dict[str, Tensor]]


def task_of(name: str) -> Task:
    return load_task(ROOT / "tasks" / "quantization" / f"{name}.py")


def table_cases(name: str) -> Iterator[tuple[str, Case]]:
    """The cases of the table of errors, and what to call their shapes."""
    for axes in SHAPES[name]:
        shown = ", ".join(f"{key} {value[0] if isinstance(value, list) else value}" for key, value in axes.items())
        more: dict = {"options": {"padding": 1}} if name == "conv2d_w8a8" else {}
        if name == "layernorm_w8a8":
            more = {"options": {"normalized_shape": [axes["N"]]}, "present": ("weight",)}
            axes = {**axes, "S": [axes["N"]]}
        axes = {**FLAT, **axes} if name == "conv2d_w8a8" else axes
        dtype = "f16" if name == "linear_w4a16" else "f32"
        for fill in ("standard", "outlier"):
            yield shown, Case(axes=axes, dtype=dtype, fill=fill, **more)


def error_rows(name: str, results: Results) -> Iterator[str]:
    """For every scheme, fill and shape: cosine, relative L1, relative RMSE, and that over the noise of the case."""
    task = task_of(name)
    for shape, case in table_cases(name):
        expected = expect(task, case)
        truth, noise = expected.truth[0], expected.noise[0]
        for scheme, got in results(task, expected).items():
            found = errors(got, truth)
            share = math.sqrt(float((got.double() - truth).square().mean() / noise.square().mean()))
            outcome = verdict(task, case, expected, got).verdict.name
            mark = "" if outcome == "PASSED" else f" {outcome}"
            yield (
                f"| {name} | {shape} | {case.fill} | {scheme} | {found['cosine']:.4f} | {found['relative_l1']:.2g} "
                f"| {found['relative_rmse']:.2g} | {share:.2f}{mark} |"
            )


def judged(name: str, results: Results, count: int = QUICK, seed: int = 0) -> dict[str, list[tuple[Case, str]]]:
    """By scheme, the verdicts on the task's examples and on drawn cases."""
    task, found = task_of(name), defaultdict(list)
    for case in drawn(task, count, seed):
        expected = expect(task, case)
        for scheme, got in results(task, expected).items():
            found[scheme].append((case, verdict(task, case, expected, got).verdict.name))
    return found


def broken_rows() -> Iterator[str]:
    """For every broken scheme and task: on how many of the cases it fails, of those where it can be applied."""
    columns = {name: judged(name, broken) for name in NAMES}
    for scheme in dict.fromkeys(scheme for column in columns.values() for scheme in column):
        cells = []
        for name in NAMES:
            verdicts = [outcome for _, outcome in columns[name].get(scheme, [])]
            failed = sum(outcome != "PASSED" for outcome in verdicts)
            cells.append(f"{failed}/{len(verdicts)}" if verdicts else "")
        yield f"| {scheme} | " + " | ".join(cells) + " |"


def document() -> str:
    """The document, its tables made anew; what stands around them is kept."""
    text = DOCUMENT.read_text()
    for name, rows in tables().items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        text = before + begin + "\n".join(rows) + "\n" + end + rest.partition(end)[2]
    return text


def tables() -> dict[str, list[str]]:
    head = ["| task | shape | fill | scheme | cosine | relative L1 | relative RMSE | over noise |", "|" + "---|" * 8]
    found = {"limits": limit_rows()}
    for label, results in (("honest", honest), ("per tensor", per_tensor_of)):
        found[label] = [*head, *(row for name in NAMES for row in error_rows(name, results))]
    top = ["| scheme | " + " | ".join(NAMES) + " |", "|" + "---|" * (1 + len(NAMES))]
    return {**found, "broken": [*top, *broken_rows()]}


def limit_rows() -> list[str]:
    """What the judge holds results to, of each kind."""
    rows = {
        "error, over noise, at most": [spec.factor for spec in KINDS],
        "the same in a tile of 256 elements, at most": [spec.factor + 10 / 16 for spec in KINDS],
        "error, over noise, at least (standard values)": [spec.least for spec in KINDS],
        "gain, at most (and six standard deviations)": [spec.gain for spec in KINDS],
        "trace of an operand, over that of rounding it, at least": [LEAST] * len(KINDS),
        "without noise: relative L1 and RMSE on standard values, at most": [spec.limits[1] for spec in KINDS],
        "without noise: relative RMSE on standard values, at least": [spec.floor for spec in KINDS],
    }
    head = ["| limit | " + " | ".join(spec.name for spec in KINDS) + " |", "|" + "---|" * (1 + len(KINDS))]
    return [*head, *(f"| {label} | " + " | ".join(f"{v:g}" for v in values) + " |" for label, values in rows.items())]


def agree(a: str, b: str) -> bool:
    """Whether two texts say the same: numbers up to 10 %, counts up to 4 and as long as none stays none.

    Another version of Hypothesis draws other cases.
    """
    number, count = r"\d+\.\d+(?:e-?\d+)?", r"\b\d+/\d+\b"
    if re.sub(count, "#", re.sub(number, "#", a)) != re.sub(count, "#", re.sub(number, "#", b)):
        return False
    numbers = zip(re.findall(number, a), re.findall(number, b), strict=True)
    counts = zip(re.findall(count, a), re.findall(count, b), strict=True)
    near = all(math.isclose(float(x), float(y), rel_tol=0.1, abs_tol=0.011) for x, y in numbers)
    return near and all(_near(x, y) for x, y in counts)


def _near(a: str, b: str) -> bool:
    (some, all_a), (others, all_b) = (map(int, text.split("/")) for text in (a, b))
    return abs(all_a - all_b) <= 4 and abs(some - others) <= 4 and (some == 0) == (others == 0)


def more(names: Iterable[str], cases: int, seeds: int) -> int:
    """Print what honest schemes fail on so many cases of every task, and how many were judged."""
    bad = 0
    for name in names:
        total = 0
        for seed in range(seeds):
            for scheme, verdicts in judged(name, honest, cases, 1000 * seed).items():
                failed = [(case, outcome) for case, outcome in verdicts if outcome != "PASSED"]
                total, bad = total + len(verdicts), bad + len(failed)
                for case, outcome in failed:
                    print(f"{name}, {scheme}: {outcome} on {case.to_json()}")
        print(f"{name}: {total} honest results judged")
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write docs/quantization.md")
    parser.add_argument("--check", action="store_true", help="fail if docs/quantization.md is not what this makes")
    parser.add_argument("--cases", type=int, default=0, help="judge honest schemes on so many drawn cases")
    parser.add_argument("--task", action="append", choices=NAMES, help="of this task alone")
    parser.add_argument("--seeds", type=int, default=1, help="of so many seeds")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.cases:
        return min(more(options.task or NAMES, options.cases, options.seeds), 1)
    made = document()
    if options.write:
        DOCUMENT.write_text(made)
    elif options.check and not agree(made, DOCUMENT.read_text()):
        print("docs/quantization.md is out of date: python benchmarks/quantization_limits.py --write")
        return 1
    elif not options.check:
        print(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
