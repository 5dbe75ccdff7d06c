"""Kernel source as the interpreter runs it: Python constructs that mean something else inside a Triton kernel.

Triton's interpreter executes a kernel as plain Python, where `a and b` of two blocks is `b`, `max(x, 0)` picks one of
its arguments, an `assert` is checked (a GPU skips it without debugging), and the variable of a loop is a Python int.
The compiler turns them into `logical_and`, `maximum`, nothing, and an int32 scalar; here the source is rewritten to
call the functions of `constructs`, which do the same. What the compiler refuses in a loop (a variable that changes its
type, `return`, `break`, `continue`) or in a branch (a variable that changes its type) is refused when it is reached;
variables that a loop's body assigns first are gone when it ends.
"""

from __future__ import annotations

import ast
import inspect
from typing import Any

from triton.compiler.errors import UnsupportedLanguageConstruct
from triton.runtime import interpreter

from .constructs import HELPERS
from .refusals import foreign, names_of, unsupported_node

PREFIX = "_kernelbenchx_"
LOCALS = ast.Call(func=ast.Name(id="locals", ctx=ast.Load()), args=[], keywords=[])
CHAINS = hasattr(interpreter.ASTTransformer, "visit_Compare")  # since Triton 3.7 or so, `0 <= x < n` compiles
NAMED = ("_InterpreterComparison", "interpreter_semantic")  # what Triton's own rewriting refers to


def call(helper: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(func=ast.Name(id=PREFIX + helper, ctx=ast.Load()), args=list(arguments), keywords=[])


def thunk(body: ast.expr) -> ast.Lambda:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(args=nothing, body=body)


def called(node: ast.expr) -> str:
    """`range` for a call of `range` or `tl.range`, and so on."""
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", ""))


def stored(body: list[ast.stmt]) -> list[str]:
    """Names that a body assigns."""
    nodes = (node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name))
    return sorted({node.id for node in nodes if isinstance(node.ctx, ast.Store)})


class Rewriter(interpreter.ASTTransformer):
    """Rewrites one kernel; `taken` are the global names that hide Python's own `min`, `max` and `range`."""

    def __init__(self, taken: dict[str, Any]) -> None:
        self.taken = taken
        self.loops = 0
        self.local: set[str] = set()

    def visit(self, node: ast.AST) -> Any:
        message = unsupported_node(node)
        if message is None:
            return super().visit(node)
        refusal = call("refuse", ast.Constant(message))
        return ast.copy_location(ast.Expr(refusal) if isinstance(node, ast.stmt) else refusal, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """The kernel itself; its decorators and its signature are Python's."""
        self.local = names_of(node)
        node.body = [made for statement in node.body for made in self._statements(statement)]
        return node

    def _statements(self, statement: ast.stmt) -> list[ast.stmt]:
        if isinstance(statement, ast.FunctionDef):
            message = ast.Constant("nested function definition is not supported.")
            return [ast.copy_location(ast.Expr(call("refuse", message)), statement)]
        made = self.visit(statement)
        return made if isinstance(made, list) else [made]

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id in self.local or not isinstance(node.ctx, ast.Load) or node.id not in self.taken:
            return node
        message = foreign(node.id, self.taken)
        return node if message is None else ast.copy_location(call("refuse", ast.Constant(message)), node)

    def visit_For(self, node: ast.For) -> Any:
        return self.loop(node, check=called(node.iter) == "range")

    def visit_While(self, node: ast.While) -> Any:
        return self.loop(node, check=True)

    def loop(self, node: ast.For | ast.While, check: bool) -> Any:
        names = stored(node.body)
        self.loops += 1
        self.generic_visit(node)
        self.loops -= 1
        if not check or not names:
            return node
        now = call("live", ast.Tuple(elts=[ast.Constant(name) for name in names], ctx=ast.Load()), LOCALS)
        remember, before = self.remembered(node, "before", now)
        node.body.append(ast.copy_location(ast.Expr(call("carried", before, now)), node))
        for variable in names:
            gone = ast.Delete(targets=[ast.Name(id=variable, ctx=ast.Del())])
            test = call("own", ast.Constant(variable), before, LOCALS)
            node.body.append(ast.copy_location(ast.If(test=test, body=[gone], orelse=[]), node))
        return [remember, node]

    def remembered(self, node: ast.stmt, what: str, value: ast.expr) -> tuple[ast.stmt, ast.Name]:
        """A statement that keeps a value before `node`, and the name that it is kept under."""
        name = PREFIX + f"{what}_{node.lineno}_{node.col_offset}"
        keep = ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value)
        return ast.copy_location(keep, node), ast.Name(id=name, ctx=ast.Load())

    def visit_If(self, node: ast.If) -> Any:
        names = stored([*node.body, *node.orelse])
        self.generic_visit(node)
        if not names:
            return node
        now = call("live", ast.Tuple(elts=[ast.Constant(name) for name in names], ctx=ast.Load()), LOCALS)
        remember, before = self.remembered(node, "before", now)
        condition, test = self.remembered(node, "test", node.test)
        node.test = test
        for body, block in ((node.body, "then"), (node.orelse, "else")):
            body.append(ast.copy_location(ast.Expr(call("branched", test, before, now, ast.Constant(block))), node))
        return [remember, condition, node]

    def visit_Return(self, node: ast.Return) -> Any:
        self.generic_visit(node)
        if not self.loops:
            return node
        message = "Cannot have `return` statements inside `while` or `for` statements in triton."
        return ast.copy_location(ast.Expr(call("refuse", ast.Constant(message))), node)

    def visit_Break(self, node: ast.Break) -> Any:
        return ast.copy_location(ast.Expr(call("refuse", ast.Constant("unsupported AST node type: Break"))), node)

    def visit_Continue(self, node: ast.Continue) -> Any:
        return ast.copy_location(ast.Expr(call("refuse", ast.Constant("unsupported AST node type: Continue"))), node)

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
