"""What the compiler refuses to find in a kernel's source, whatever its arguments: foreign globals and foreign syntax.

The rules are those of `triton/compiler/code_generator.py`: a global must be a constexpr or something of Triton's (its
`global_lookup`), and a node without a `visit_` method there does not compile.
"""

from __future__ import annotations

import ast
from types import ModuleType
from typing import Any

import triton.language as tl
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction

SYNTAX = (
    *(ast.Try, ast.Raise, ast.Delete, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.ClassDef),
    *(ast.AsyncFor, ast.AsyncWith, ast.Match),
)
OWN = ("triton.", __package__ or "")  # the interpreter puts functions of its own in place of triton.language's
EXPRESSIONS = (ast.Lambda, ast.Dict, ast.DictComp, ast.Set, ast.SetComp, ast.GeneratorExp, ast.Yield, ast.Await)


def foreign(name: str, namespace: dict[str, Any]) -> str | None:
    """Why a kernel may not read the global `name`, if it may not."""
    value = namespace[name]
    annotation = str(namespace.get("__annotations__", {}).get(name, ""))
    if _is_known(value) or "constexpr" in annotation:
        return None
    return (
        f"Cannot access global variable {name} from within @jit'ed function. Triton kernels can only access global "
        f"variables that are instantiated as constexpr (`{name} = tl.constexpr(...)`), and functions under @triton.jit."
    )


def _is_known(value: Any) -> bool:
    if isinstance(value, (ModuleType, JITFunction, InterpretedFunction, tl.constexpr, tl.dtype)):
        return True
    if getattr(value, "__triton_builtin__", False) or getattr(value, "__triton_aggregate__", False):
        return True
    named_tuple = isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")
    return named_tuple or str(getattr(value, "__module__", "")).startswith(OWN)


def names_of(function: ast.FunctionDef) -> set[str]:
    """Parameters and everything that the function's body assigns."""
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {parameter.arg for parameter in parameters if parameter is not None}


def unsupported_node(node: ast.AST) -> str | None:
    """The compiler's words for a node that it does not know."""
    return f"unsupported AST node type: {type(node).__name__}" if isinstance(node, (*SYNTAX, *EXPRESSIONS)) else None
