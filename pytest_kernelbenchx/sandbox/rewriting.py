"""Kernel source as the interpreter runs it: Python constructs that mean something else inside a Triton kernel.

Triton's interpreter executes a kernel as plain Python, where `a and b` of two blocks is `b`, `max(x, 0)` picks one of
its arguments, an `assert` is checked (a GPU skips it without debugging), and the variable of a loop is a Python int.
The compiler turns them into `logical_and`, `maximum`, nothing, and an int32 scalar; here the source is rewritten to
call helpers that do the same. The rules are those of `triton/compiler/code_generator.py`.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import triton.language as tl
from triton.compiler.errors import UnsupportedLanguageConstruct
from triton.runtime import interpreter

PREFIX = "_kernelbenchx_"
CHAINS = hasattr(interpreter.ASTTransformer, "visit_Compare")  # since Triton 3.7 or so, `0 <= x < n` compiles
NAMED = ("_InterpreterComparison", "interpreter_semantic")  # what Triton's own rewriting refers to


def is_tensor(value: Any) -> bool:
    return isinstance(value, tl.core.tensor)


def truth(value: Any) -> Any:
    """A block or scalar as int1."""
    return value if value.type.scalar == tl.int1 or value.handle.data.size > 1 else value != 0


def boolean(method: str, *operands: Callable[[], Any]) -> Any:
    """`and` / `or`: constants decide at once, tensors are joined element by element."""
    tensors, value = [], None
    for operand in operands:
        value = operand()
        if is_tensor(value):
            tensors.append(value)
        elif bool(value) is (method == "logical_or"):
            return value
    if not tensors:
        return value
    return functools.reduce(lambda left, right: getattr(truth(left), method)(truth(right)), tensors)


def negation(value: Any) -> Any:
    return truth(value).__not__() if is_tensor(value) else not value


def assigned(value: Any) -> Any:
    """A number given to a variable becomes a scalar, also inside a tuple."""
    if type(value) is tuple:
        return tuple(assigned(item) for item in value)
    return interpreter.interpreter_semantic.to_tensor(value, False)


def extreme(builtin: Callable[..., Any], elementwise: str) -> Callable[..., Any]:
    def choose(*values: Any) -> Any:
        if not any(is_tensor(value) for value in values):
            return builtin(*values)
        return functools.reduce(getattr(tl, elementwise), values)

    return choose


def integer(value: Any) -> int:
    value = getattr(value, "value", value)
    return value if isinstance(value, int) else value.__index__()


def loop(first: Any, second: Any = None, step: Any = 1, **options: Any) -> Iterator[Any]:
    """`range` and `tl.range`: yields scalars of the bounds' type."""
    start, stop = (0, first) if second is None else (first, second)
    step = 1 if step is None else step
    bounds: list[Any] = [value for value in (start, stop, step) if is_tensor(value)]
    wide = any(value.dtype.primitive_bitwidth == 64 for value in bounds)
    dtype = tl.int64 if wide else tl.int32
    for value in range(integer(start), integer(stop), integer(step)):
        yield tl.core.tensor(interpreter.TensorHandle(np.array([value]), dtype), dtype)


def unrolled(first: Any, second: Any = None, step: Any = 1, **options: Any) -> range:
    """`tl.static_range`: yields Python ints."""
    start, stop = (0, first) if second is None else (first, second)
    return range(integer(start), integer(stop), integer(1 if step is None else step))


HELPERS: dict[str, Callable[..., Any]] = {
    "boolean": boolean,
    "negation": negation,
    "assigned": assigned,
    "range": loop,
    "min": extreme(min, "minimum"),
    "max": extreme(max, "maximum"),
}


def call(helper: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(func=ast.Name(id=PREFIX + helper, ctx=ast.Load()), args=list(arguments), keywords=[])


def thunk(body: ast.expr) -> ast.Lambda:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(args=nothing, body=body)


class Rewriter(interpreter.ASTTransformer):
    """Rewrites one kernel; `taken` are the global names that hide Python's own `min`, `max` and `range`."""

    def __init__(self, taken: dict[str, Any]) -> None:
        self.taken = taken

    def visit_Compare(self, node: ast.Compare) -> Any:
        if len(node.ops) > 1 and not CHAINS:
            raise UnsupportedLanguageConstruct(None, node, "simultaneous multiple comparison is not supported")
        return super().visit_Compare(node) if CHAINS else self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        method = ast.Constant("logical_and" if isinstance(node.op, ast.And) else "logical_or")
        return ast.copy_location(call("boolean", method, *map(thunk, node.values)), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return ast.copy_location(call("negation", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ("min", "max", "range") and name not in self.taken:
            node.func = ast.copy_location(ast.Name(id=PREFIX + name, ctx=ast.Load()), node.func)
        return node

    def visit_Assert(self, node: ast.Assert) -> Any:
        return ast.copy_location(ast.Expr(self.visit(node.test)), node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        if len(node.targets) > 1:
            raise UnsupportedLanguageConstruct(None, node, "simultaneous multiple assignment is not supported.")
        self.generic_visit(node)
        node.value = ast.copy_location(call("assigned", node.value), node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        read = ast.copy_location(ast.Name(id=node.target.id, ctx=ast.Load()), node.target)
        value = ast.copy_location(ast.BinOp(left=read, op=node.op, right=node.value), node)
        return self.visit(ast.copy_location(ast.Assign(targets=[node.target], value=value), node))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None or "constexpr" in ast.dump(node.annotation):
            return self.generic_visit(node)
        return self.visit(ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node))


def transform(self: Any, source: str) -> ast.Module:
    """Replaces `FunctionRewriter._transform_ast`; line numbers are those of the candidate's file."""
    tree = ast.fix_missing_locations(Rewriter(self.fn.__globals__).visit(ast.parse(source)))
    ast.increment_lineno(tree, self.def_file_lineno - 1)
    return tree


def execute(self: Any, tree: ast.Module) -> Any:
    """Replaces `FunctionRewriter._compile_and_exec`, which puts all of Triton's own names (`math`, `np`, `tl`, ...)
    among the candidate's globals and so hides an import that is missing.
    """
    namespace = self.fn.__globals__
    if self.fn.__closure__:
        namespace = {**namespace, **inspect.getclosurevars(self.fn).nonlocals}
    namespace.update({PREFIX + name: helper for name, helper in HELPERS.items()})
    namespace.update({name: getattr(interpreter, name) for name in NAMED if hasattr(interpreter, name)})
    local = dict(self.kwargs)
    exec(compile(tree, filename=self.filename, mode="exec"), namespace, local)
    return local[self.fn.__name__]


def install() -> None:
    interpreter.FunctionRewriter._transform_ast = transform
    interpreter.FunctionRewriter._compile_and_exec = execute
