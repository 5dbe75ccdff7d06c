"""What the rules find in a source: a place, the rule that it breaks, and what stands there."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_kernelbenchx.judge.policy.names import Names
from pytest_kernelbenchx.judge.policy.rules import RULES, Level

JIT = ("triton.jit", "triton.runtime.jit.jit", "triton.runtime.jit", "triton.experimental.gluon.jit")
FOREIGN = ("torch", "triton", "numpy", "builtins", "sys", "os", "time", "inspect", "importlib", "types", "gc", "random")


@dataclass(frozen=True)
class Finding:
    """A place that a rule has something to say about.

    Attributes:
        line: where, from 1. rule: a key of `rules.RULES`. what: what stands there. why: what the rule is for.
    """

    line: int
    rule: str
    what: str
    why: str

    @classmethod
    def of(cls, node: ast.AST, rule: str, what: str, why: str = "") -> "Finding":
        return cls(getattr(node, "lineno", 1), rule, what, why or RULES[rule].why)

    @property
    def level(self) -> Level:
        return RULES[self.rule].level


class Source:
    """A parsed candidate: its tree, what its names stand for, which functions Triton compiles."""

    def __init__(self, tree: ast.Module):
        self.tree, self.names = tree, Names(tree)
        self.nodes = list(ast.walk(tree))
        self.kernels = {id(node): node for node in self.nodes if self.is_kernel(node)}
        classes = (node for node in self.nodes if isinstance(node, ast.ClassDef))
        self.own_methods = {f.name for c in classes for f in c.body if isinstance(f, ast.FunctionDef)}
        self.inside = {id(node) for kernel in self.kernels.values() for node in ast.walk(kernel)}

    def path(self, node: ast.AST) -> str | None:
        return self.names.path(node)

    def is_kernel(self, node: ast.AST) -> bool:
        """Whether a function is under @triton.jit, whatever else decorates it."""
        if not isinstance(node, ast.FunctionDef):
            return False
        return any(self.compiles(decorator) for decorator in node.decorator_list)

    def compiles(self, decorator: ast.AST) -> bool:
        """Whether an expression is triton.jit, with or without arguments."""
        path = self.path(decorator.func if isinstance(decorator, ast.Call) else decorator)
        return path in JIT

    def is_foreign(self, node: ast.AST) -> str | None:
        """The path of an expression that belongs to a module outside the file; None if it does not."""
        path = self.path(node)
        return path if path and (path.split(".")[0] in FOREIGN or "." not in path) else None

    def calls(self, node: ast.AST | None = None) -> Iterator[ast.Call]:
        """The calls in a node, or in all of the source."""
        return (found for found in (self.nodes if node is None else ast.walk(node)) if isinstance(found, ast.Call))


def shown(node: ast.AST, limit: int = 60) -> str:
    """An expression as Python writes it, on one line."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= limit else f"{text[:limit]}..."
