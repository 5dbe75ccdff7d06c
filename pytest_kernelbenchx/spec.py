"""The notation for tensors in a task: element type, then named axes, as in `f32[M, K]`.

f32[M, K]         a float32 matrix; M and K are drawn for every case
T[M, K]           the element type is drawn from the task's `dtypes`
T[*S]             any number of axes, drawn together under the name S
T[*S~]            a shape that broadcasts to S
T[N, C // G, 3]   axes may be computed (+ - * //) from drawn ones, or be constants
T[N] | None       the tensor may be left out
T[*S] | number    a Python number may stand in its place
list[T[M, N_i]]   a list of tensors; axes that end in _i have a value per element
T[...]            (outputs) the shape is whatever the reference gives
"""

import ast
import functools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_kernelbenchx.dtypes import DTYPES

Axes = Mapping[str, Any]  # axis -> length, or a list of lengths for *S and for N_i

_FORM = "dtype[AXIS, ...], optionally inside list[...] or followed by '| None' or '| number'"
_OPERATORS = {ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__, ast.FloorDiv: int.__floordiv__}


@dataclass(frozen=True)
class TensorSpec:
    """One tensor of a signature, or a list of them.

    `axes` holds one item per axis as written: a name, `*S`, `*S~`, an expression, or `...`.
    """

    text: str
    dtype: str  # a name of DTYPES, or "T"
    axes: tuple[str, ...]
    optional: bool = False
    number: bool = False
    many: bool = False

    @classmethod
    def parse(cls, text: str) -> "TensorSpec":
        """Read the notation of the module's docstring; ValueError says what is wrong with `text`."""
        body, *alternatives = [part.strip() for part in text.split("|")]
        if unknown := sorted(set(alternatives) - {"None", "number"}):
            raise ValueError(f"tensor {text!r}: after '|' stands {unknown[0]!r}, wanted None or number")
        many = re.fullmatch(r"list\[(.*\])\]", body)
        match = re.fullmatch(r"(\w+)\[(.*)\]", many[1] if many else body)
        if not match:
            raise ValueError(f"tensor {text!r} is not of the form {_FORM}")
        if match[1] != "T" and match[1] not in DTYPES:
            raise ValueError(f"tensor {text!r}: element type {match[1]!r} is none of T, {', '.join(DTYPES)}")
        axes = tuple(axis.strip() for axis in match[2].split(",") if axis.strip())
        spec = cls(text, match[1], axes, "None" in alternatives, "number" in alternatives, many is not None)
        for axis in axes:
            spec._check(axis)
        return spec

    def _check(self, axis: str) -> None:
        if axis in ("...", "?") or re.fullmatch(r"\*[A-Z]\w*~?", axis):
            return
        try:
            names = names_of(axis)
        except (SyntaxError, ValueError) as error:
            wanted = "a name, a number or an expression of them"
            raise ValueError(f"tensor {self.text!r}: axis {axis!r} is not {wanted} ({error})") from None
        for name in names:
            if not name[0].isupper():
                raise ValueError(f"tensor {self.text!r}: axis {name!r} must begin with a capital letter")

    def names(self) -> Iterator[str]:
        """The drawn axes that the tensor's shape needs, in order."""
        for axis in self.axes:
            if axis.startswith("*"):
                yield axis.strip("*~")
            elif axis not in ("...", "?"):
                yield from names_of(axis)

    @property
    def known(self) -> bool:
        """Whether the shape follows from the axes."""
        return not {"...", "?"} & set(self.axes)

    def shape(self, axes: Axes, name: str = "", element: int | None = None) -> list[int]:
        """Lengths of the tensor's axes.

        Args:
            axes: lengths by axis name; `S~name`, if there, is the shape of the tensor `name`, which broadcasts to S.
            name: the tensor's own name, for `*S~`.
            element: which tensor of a list, for axes that end in `_i`.
        """
        here = dict(axes)
        if element is not None:
            here.update({key: value[element] for key, value in axes.items() if key.endswith("_i")})
        shape: list[int] = []
        for axis in self.axes:
            if axis.endswith("~"):
                group = axis.strip("*~")
                shape += here.get(f"{group}~{name}", here[group])
            elif axis.startswith("*"):
                shape += here[axis[1:]]
            else:
                shape.append(evaluate(axis, here))
        return shape

    def elements(self, axes: Axes, name: str = "") -> int:
        """How many elements the tensor (all tensors of a list) holds."""
        if not self.many:
            return math.prod(self.shape(axes, name))
        return sum(math.prod(self.shape(axes, name, i)) for i in range(self.count(axes)))

    def count(self, axes: Axes) -> int:
        """Number of tensors in a list."""
        return max((len(axes[name]) for name in self.names() if name.endswith("_i")), default=1)

    def dtype_name(self, drawn: str) -> str:
        """Short name of the element type when T is `drawn`."""
        return drawn if self.dtype == "T" else self.dtype


@functools.cache
def names_of(expression: str) -> tuple[str, ...]:
    """The axis names in an expression such as `C // G`; ValueError for anything but names, integers and + - * //."""
    tree = ast.parse(expression, mode="eval")
    for node in ast.walk(tree):
        allowed = (ast.Expression, ast.BinOp, ast.Name, ast.Load, *_OPERATORS)
        if not isinstance(node, allowed) and not (isinstance(node, ast.Constant) and type(node.value) is int):
            raise ValueError(f"{type(node).__name__} is not allowed")
    return tuple(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def evaluate(expression: str, values: Mapping[str, Any]) -> int:
    """The value of an axis expression; KeyError names an axis that has no value."""

    def visit(node: Any) -> int:
        if isinstance(node, ast.BinOp):
            return _OPERATORS[type(node.op)](visit(node.left), visit(node.right))
        return values[node.id] if isinstance(node, ast.Name) else node.value

    if expression.isidentifier():
        return values[expression]
    return visit(_parsed(expression))


@functools.cache
def _parsed(expression: str) -> Any:
    return ast.parse(expression, mode="eval").body
