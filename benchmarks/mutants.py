"""Has stage two teeth? Make faulty kernels out of good ones, judge them, and list those that pass.

    python benchmarks/mutants.py make --per-kernel 3 --seed 0 mutants.jsonl [KERNEL.py ...]   default: candidates/expert
    pytest --kbx-candidates=mutants.jsonl -n 2 --kbx-results=records.jsonl
    python benchmarks/mutants.py report mutants.jsonl records.jsonl --equivalent benchmarks/mutants.json

A mutant is a kernel file with one change to its syntax tree, of one of the `OPERATORS`: what people and models get
wrong. A survivor is a mutant that passes both stages; EQUIVALENT says of some, by the hash of their source, why they
are no faults (`{"3f2a...": "the mask is always true here"}`). The exit status is 1 if fewer than 98 % of the others are
rejected.
"""

import argparse
import ast
import copy
import hashlib
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXPERTS = ROOT / "candidates" / "expert"
WANTED = 0.98

Change = Callable[[ast.AST], ast.AST | None]


def called(node: ast.AST) -> str:
    """The dotted name that a call calls, "" for other nodes."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def keyword(node: ast.AST, name: str) -> ast.keyword | None:
    return next((word for word in node.keywords if word.arg == name), None) if isinstance(node, ast.Call) else None


def drop_mask(node: ast.AST) -> ast.AST | None:
    if called(node) not in ("tl.load", "tl.store") or not keyword(node, "mask"):
        return None
    node.keywords = [word for word in node.keywords if word.arg not in ("mask", "other")]
    return node


def drop_one_condition(node: ast.AST) -> ast.AST | None:
    """Of a mask over two axes one half remains."""
    return node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd) else None


def loosen_bound(node: ast.AST) -> ast.AST | None:
    """i < n becomes i <= n."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.Lt, ast.GtE)):
        return None
    node.ops[0] = ast.LtE() if isinstance(node.ops[0], ast.Lt) else ast.Gt()
    return node


def wrong_other(node: ast.AST) -> ast.AST | None:
    """What masked elements count as: 1 for 0, 0 for anything else."""
    other = keyword(node, "other") if called(node) == "tl.load" else None
    if other is None:
        return None
    zero = isinstance(other.value, ast.Constant) and other.value.value == 0
    other.value = ast.Constant(1.0 if zero else 0.0)
    return node


def wrong_axis(node: ast.AST) -> ast.AST | None:
    axis = keyword(node, "axis")
    if axis is None or not isinstance(axis.value, ast.Constant) or axis.value.value not in (0, 1):
        return None
    axis.value = ast.Constant(1 - axis.value.value)
    return node


def floor_for_cdiv(node: ast.AST) -> ast.AST | None:
    """The last, partial block is not launched, or not looped over."""
    if called(node) not in ("triton.cdiv", "tl.cdiv"):
        return None
    quotient = ast.BinOp(node.args[0], ast.FloorDiv(), node.args[1])
    at_least_one = ast.Call(ast.Name("max", ast.Load()), [quotient, ast.Constant(1)], [])
    return at_least_one if called(node).startswith("triton") else quotient


def short_loop(node: ast.AST) -> ast.AST | None:
    """A loop over blocks that ends one step early."""
    if called(node) != "range" or len(node.args) != 3:
        return None
    node.args[1] = ast.BinOp(node.args[1], ast.Sub(), node.args[2])
    return node


def drop_eps(node: ast.AST) -> ast.AST | None:
    is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)
    return node.left if is_sum and isinstance(node.right, ast.Name) and node.right.id.startswith("eps") else None


def half_accumulator(node: ast.AST) -> ast.AST | None:
    """Sums kept in 16 bits."""
    if called(node) not in ("tl.zeros", "tl.full"):
        return None
    for place, value in enumerate(node.args):
        if ast.unparse(value) == "tl.float32":
            node.args[place] = ast.Attribute(ast.Name("tl", ast.Load()), "float16", ast.Load())
            return node
    dtype = keyword(node, "dtype")
    if dtype is None or ast.unparse(dtype.value) != "tl.float32":
        return None
    dtype.value = ast.Attribute(ast.Name("tl", ast.Load()), "float16", ast.Load())
    return node


def half_precision(node: ast.AST) -> ast.AST | None:
    """Arithmetic in 16 bits where it is to be in 32."""
    if not called(node).endswith(".to") or not node.args or ast.unparse(node.args[0]) != "tl.float32":
        return None
    half = ast.Attribute(ast.Name("tl", ast.Load()), "float16", ast.Load())
    return ast.Call(ast.Attribute(ast.Call(node.func, [half], []), "to", ast.Load()), node.args, [])


def swap_operands(node: ast.AST) -> ast.AST | None:
    """a - b for b - a, a / b for b / a."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Sub, ast.Div)):
        return None
    node.left, node.right = node.right, node.left
    return node


def other_operation(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Mult)):
        return None
    node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    return node


def drop_factor(node: ast.AST) -> ast.AST | None:
    """A scale, or a stride, that is left out."""
    return node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else None


def drop_term(node: ast.AST) -> ast.AST | None:
    """A bias, or an offset, that is left out."""
    return node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) else None


def other_reduction(node: ast.AST) -> ast.AST | None:
    names = {"tl.max": "min", "tl.min": "max", "tl.maximum": "minimum", "tl.minimum": "maximum"}
    if called(node) not in names:
        return None
    node.func = ast.Attribute(ast.Name("tl", ast.Load()), names[called(node)], ast.Load())
    return node


def wrong_identity(node: ast.AST) -> ast.AST | None:
    """A maximum that starts at 0 in place of -inf."""
    return ast.Constant(0.0) if ast.unparse(node).replace("'", '"') in ('-float("inf")', 'float("-inf")') else None


def swap_branches(node: ast.AST) -> ast.AST | None:
    if called(node) != "tl.where":
        return None
    node.args[1], node.args[2] = node.args[2], node.args[1]
    return node


def drop_contiguous(node: ast.AST) -> ast.AST | None:
    """Strided inputs taken for contiguous ones."""
    return node.func.value if called(node).endswith(".contiguous") else None


def off_by_one(node: ast.AST) -> ast.AST | None:
    """tl.arange(0, B) + 1."""
    return ast.BinOp(node, ast.Add(), ast.Constant(1)) if called(node) == "tl.arange" else None


def ignore_condition(node: ast.AST) -> ast.AST | None:
    """An option without effect: `if causal:` is never so."""
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Name):
        return None
    node.test = ast.Constant(False)
    return node


def constant_of(node: ast.AST) -> ast.AST | None:
    """A coefficient that is off by 1 %."""
    number = isinstance(node, ast.Constant) and type(node.value) is float and abs(node.value) not in (0.0, 1.0)
    return ast.Constant(node.value * 1.01) if number else None


OPERATORS: dict[str, Change] = {
    change.__name__: change
    for change in (
        drop_mask,
        drop_one_condition,
        loosen_bound,
        wrong_other,
        wrong_axis,
        floor_for_cdiv,
        short_loop,
        drop_eps,
        half_accumulator,
        half_precision,
        swap_operands,
        other_operation,
        drop_factor,
        drop_term,
        other_reduction,
        wrong_identity,
        swap_branches,
        drop_contiguous,
        off_by_one,
        ignore_condition,
        constant_of,
    )
}


def detached(node: ast.AST) -> ast.AST:
    """A copy that an operator may change: lists and keywords of its own, the rest shared."""
    made = copy.copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            setattr(made, name, [copy.copy(item) if isinstance(item, ast.keyword) else item for item in value])
    return made


class Mutator(ast.NodeTransformer):
    """Applies an operator at one of the places where it applies; `places` counts them."""

    def __init__(self, change: Change, place: int | None):
        self.change, self.place, self.places, self.line = change, place, 0, 0

    def generic_visit(self, node: ast.AST) -> ast.AST:
        changed = self.change(detached(node)) if isinstance(node, (ast.expr, ast.If)) else None
        if changed is not None:
            self.places += 1
            if self.places - 1 == self.place:
                self.line = node.lineno
                return ast.copy_location(changed, node)
        return super().generic_visit(node)


def places(source: str) -> dict[str, int]:
    """At how many places each operator applies."""
    found = {}
    for name, change in OPERATORS.items():
        counter = Mutator(change, None)
        counter.visit(ast.parse(source))
        found[name] = counter.places
    return found


def mutant(source: str, operator: str, place: int) -> tuple[int, str]:
    """`(line, source)` of one mutant."""
    mutator = Mutator(OPERATORS[operator], place)
    tree = ast.fix_missing_locations(mutator.visit(ast.parse(source)))
    return mutator.line, ast.unparse(tree)


def chosen(source: str, count: int, rng: random.Random) -> list[tuple[str, int, str]]:
    """`(operator, line, source)` of some mutants, of different operators first."""
    queues = [[(name, place) for place in rng.sample(range(n), n)] for name, n in places(source).items() if n]
    rng.shuffle(queues)
    turns = [queue[turn] for turn in range(max(map(len, queues), default=0)) for queue in queues if turn < len(queue)]
    original, made = ast.unparse(ast.parse(source)), []
    for name, place in turns:
        if len(made) == count:
            break
        line, text = mutant(source, name, place)
        made += [(name, line, text)] if text != original else []
    return made


def make(options: argparse.Namespace) -> int:
    files = sorted(options.kernels or EXPERTS.rglob("*.py"))
    rng = random.Random(options.seed)
    written = Counter()
    with options.mutants.open("w") as out:
        for file in files:
            for number, (operator, line, source) in enumerate(chosen(file.read_text(), options.per_kernel, rng)):
                row = {"task": file.stem, "method": "mutant", "sample": number, "code": source}
                row |= {"operator": operator, "line": line, "id": identity(source)}
                out.write(json.dumps(row) + "\n")
                written[operator] += 1
    print(f"{written.total()} mutants of {len(files)} kernels:", dict(written.most_common()))
    return 0


def identity(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def report(options: argparse.Namespace) -> int:
    rows = [json.loads(line) for line in options.mutants.read_text().splitlines()]
    records = [json.loads(line) for line in options.records.read_text().splitlines()]
    equivalent = json.loads(options.equivalent.read_text()) if options.equivalent else {}
    last: dict[tuple[str, int], dict] = {}
    for record in records:
        if record["stage"] in ("compiles", "correct") and record["verdict"] != "SKIPPED":
            last[record["task"], record["sample"]] = record
    outcomes: dict[str, Counter] = defaultdict(Counter)
    survivors = []
    for row in rows:
        record = last.get((row["task"], row["sample"]))
        verdict = record["verdict"] if record else "missing"
        if verdict == "PASSED":
            verdict = "equivalent" if row["id"] in equivalent else "survived"
            survivors += [row] if verdict == "survived" else []
        elif verdict not in ("NOT_JUDGED", "INFRA_ERROR", "missing"):
            verdict = "rejected"
        outcomes[row["operator"]][verdict] += 1
    total = sum(outcomes.values(), Counter())
    columns = ("rejected", "survived", "equivalent", "NOT_JUDGED", "INFRA_ERROR", "missing")
    print("| operator | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1))
    for name, counts in [*sorted(outcomes.items()), ("all", total)]:
        print(f"| {name} | " + " | ".join(str(counts[column]) for column in columns) + " |")
    share = total["rejected"] / max(1, total["rejected"] + total["survived"])
    print(f"\n{share:.1%} of the mutants that are not equivalent were rejected; wanted {WANTED:.0%}.\n")
    for row in survivors:
        print(f"survived: {row['task']} {row['operator']} at line {row['line']} ({row['id']})")
    return int(share < WANTED)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    maker = commands.add_parser("make", help="write mutants as JSONL candidates")
    maker.add_argument("mutants", type=Path)
    maker.add_argument("kernels", type=Path, nargs="*")
    maker.add_argument("--per-kernel", type=int, default=3)
    maker.add_argument("--seed", type=int, default=0)
    maker.set_defaults(run=make)
    reporter = commands.add_parser("report", help="what became of them")
    reporter.add_argument("mutants", type=Path)
    reporter.add_argument("records", type=Path)
    reporter.add_argument("--equivalent", type=Path)
    reporter.set_defaults(run=report)
    options = parser.parse_args()
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
