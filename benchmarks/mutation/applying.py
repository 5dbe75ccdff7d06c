"""Apply operators to a kernel file: where they can, one of the places, a choice of mutants."""

import ast
import copy
import random
from collections.abc import Callable
from dataclasses import dataclass

from mutation.addressing import ADDRESSING
from mutation.arithmetic import ARITHMETIC
from mutation.reading import prepare

Change = Callable[[ast.AST], ast.AST | None]
OPERATORS: dict[str, Change] = {change.__name__: change for change in (*ADDRESSING, *ARITHMETIC)}
RARE = (
    "drop_eps",
    "half_accumulator",
    "half_precision",
    "ignore_condition",
    "other_reduction",
    "stale_out",
    "swap_strides",
    "unmasked_sum",
    "wrong_axis",
    "wrong_identity",
    "wrong_other",
    "wrong_rounding",
)
"""Operators with few places; they are chosen more often where they apply."""
WEIGHT = 5.0


@dataclass(frozen=True)
class Mutant:
    """A changed file: by which operator, at which line of the original."""

    operator: str
    line: int
    source: str


class Mutator(ast.NodeTransformer):
    """Applies an operator at one of the places where it applies; `places` counts them."""

    def __init__(self, change: Change, place: int | None):
        self.change, self.place, self.places, self.line = change, place, 0, 0

    def generic_visit(self, node: ast.AST) -> ast.AST:
        possible = isinstance(node, (ast.expr, ast.If, ast.Assign, ast.AugAssign))
        changed = self.change(detached(node)) if possible else None
        if changed is not None:
            self.places += 1
            if self.places - 1 == self.place:
                self.line = node.lineno
                return ast.copy_location(changed, node)
        return super().generic_visit(node)


def detached(node: ast.AST) -> ast.AST:
    """A copy that an operator may change: lists and keywords of its own, the rest shared; `original` is the node."""
    made = copy.copy(node)
    made.original = node
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            setattr(made, name, [copy.copy(item) if isinstance(item, ast.keyword) else item for item in value])
    return made


def places(source: str) -> dict[str, int]:
    """At how many places each operator applies."""
    found = {}
    for name, change in OPERATORS.items():
        counter = Mutator(change, None)
        counter.visit(prepare(source))
        found[name] = counter.places
    return found


def mutant(source: str, operator: str, place: int) -> Mutant:
    """One mutant."""
    mutator = Mutator(OPERATORS[operator], place)
    tree = ast.fix_missing_locations(mutator.visit(prepare(source)))
    return Mutant(operator, mutator.line, ast.unparse(tree))


def chosen(source: str, count: int, rng: random.Random, without: tuple[str, ...] = ()) -> list[Mutant]:
    """Up to `count` mutants, all different, of different operators first; none by an operator of `without`."""
    counts = {name: n for name, n in places(source).items() if n and name not in without}
    turn = {name: rng.random() ** (1 / (WEIGHT if name in RARE else 1.0)) for name in counts}
    queues = {name: rng.sample(range(counts[name]), counts[name]) for name in sorted(turn, key=turn.get, reverse=True)}
    seen, made = {ast.unparse(ast.parse(source))}, []
    while queues and len(made) < count:
        for name in list(queues):
            if len(made) == count:
                break
            found = mutant(source, name, queues[name].pop())
            if found.source not in seen:
                made.append(found)
                seen.add(found.source)
            if not queues[name]:
                del queues[name]
    return made


def without_effect(dtypes: tuple[str, ...]) -> tuple[str, ...]:
    """Operators that mostly change nothing for a task of these element types."""
    if set(dtypes) == {"f16"}:
        return ("half_precision",)  # what is loaded has 16 bits
    return ("missing_cast",) if dtypes and set(dtypes) <= {"f32", "f64", "c64", "i64", "i32"} else ()
