"""Rules on what a source does to others, what it defines and what it remembers."""

import ast
from collections.abc import Iterator

from pytest_kernelbenchx.judge.policy.findings import Finding, Source, shown
from pytest_kernelbenchx.judge.policy.rules import DEFINED, rule_of

SETTERS = ("builtins.setattr", "builtins.delattr", "operator.setitem", "operator.delitem")
CLASS_SETTERS = ("__setattr__", "__delattr__", "__setitem__", "__delitem__", "__init_subclass__")
CHANGERS = ("update", "clear", "pop", "popitem", "setdefault", "append", "extend", "insert", "remove", "add")
LAZY_BASES = ("torch.Tensor", "torch._tensor.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter")
CACHES = ("functools.lru_cache", "functools.cache", "functools.cached_property")
LONG_TEXT, LONG_TABLE = 2000, 256


def structure(source: Source) -> Iterator[Finding]:
    """Findings on stores, classes, memory of earlier calls and literal data."""
    for node in source.nodes:
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            yield from _store(source, node)
        elif isinstance(node, ast.Call):
            yield from _call(source, node)
        elif isinstance(node, ast.ClassDef):
            yield from _class(source, node)
        elif isinstance(node, ast.FunctionDef):
            yield from _function(source, node)
        elif isinstance(node, (ast.List, ast.Tuple, ast.Dict, ast.Constant)):
            yield from _literal(node)
        if isinstance(node, ast.Subscript) and _has_address(node.slice):
            yield Finding.of(node, "memo", f"looks up {shown(node)} by a tensor's address")


def _store(source: Source, node: ast.Attribute | ast.Subscript) -> Iterator[Finding]:
    does = "deletes" if isinstance(node.ctx, ast.Del) else "assigns to"
    owner = source.is_foreign(node.value)
    if isinstance(node, ast.Attribute) and node.attr == "__class__":
        yield Finding.of(node, "lazy", f"{does} {shown(node)}")
    elif owner is None or _instance(source, node.value):
        return
    elif rule_of(owner) in ("setting", "environment") or owner.startswith("triton.knobs"):
        yield Finding.of(node, str(rule_of(owner)), f"{does} {shown(node)}")
    else:
        yield Finding.of(node, "patch", f"{does} {owner}.{node.attr}" if isinstance(node, ast.Attribute) else does)


def _instance(source: Source, node: ast.AST) -> bool:
    """Whether a foreign path is that of a call's result, as `partial(torch.add)` is."""
    return isinstance(node, ast.Call) and source.path(node.func) == "functools.partial"


def _call(source: Source, node: ast.Call) -> Iterator[Finding]:
    path = source.path(node.func)
    if path in SETTERS and node.args and (owner := source.is_foreign(node.args[0])):
        yield Finding.of(node, "patch", f"calls {shown(node.func)} on {owner}")
    elif isinstance(node.func, ast.Attribute):
        yield from _method(source, node, node.func)
    if path == "builtins.type" and len(node.args) == 3 and "Tensor" in shown(node.args[1]):
        yield Finding.of(node, "lazy", "makes a class of torch.Tensor")
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "setdefault") and _has_address(node):
        yield Finding.of(node, "memo", f"looks up {shown(node)} by a tensor's address")


def _method(source: Source, node: ast.Call, called: ast.Attribute) -> Iterator[Finding]:
    owner = source.is_foreign(called.value)
    if called.attr in CLASS_SETTERS:
        changed = next((path for path in (owner, *map(source.is_foreign, node.args[:1])) if path), None)
        if changed and changed not in ("builtins.object", "builtins.super"):
            yield Finding.of(node, "patch", f"calls {called.attr} on {changed}")
        return
    rule = rule_of(owner) if owner else None
    if called.attr in CHANGERS and rule in ("environment", "launcher", "setting"):
        yield Finding.of(node, rule, f"calls {shown(called)}")
    if called.attr == "fn" and not isinstance(called.value, ast.Name):
        return
    if called.attr == "fn" and any(id(bound) in source.kernels for bound in source.names.local(called.value)):
        yield Finding.of(node, "launcher", f"calls the Python function under {shown(called.value)}")


def _class(source: Source, node: ast.ClassDef) -> Iterator[Finding]:
    for base in node.bases:
        path = source.path(base)
        if path in LAZY_BASES:
            yield Finding.of(node, "lazy", f"class {node.name} is a subclass of {path}")
        elif path and path.rpartition(".")[2] in ("TorchDispatchMode", "TorchFunctionMode"):
            yield Finding.of(node, "patch", f"class {node.name} is a {path}")


def _function(source: Source, node: ast.FunctionDef) -> Iterator[Finding]:
    if rule := DEFINED.get(node.name):
        yield Finding.of(node, rule, f"defines {node.name}")
    counted = {
        name for inner in ast.walk(node) if isinstance(inner, (ast.Global, ast.Nonlocal)) for name in inner.names
    }
    for inner in ast.walk(node):
        if isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name) and inner.target.id in counted:
            yield Finding.of(inner, "counter", f"counts in {inner.target.id}")
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if source.path(called) in CACHES:
            yield Finding.of(node, "memo", f"remembers what {node.name} returned")
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
            if keyword.arg in ("repr", "launch_metadata", "do_bench", "pre_hook", "post_hook", "cache_results"):
                yield Finding.of(decorator, "launcher", f"passes {keyword.arg}= to {shown(called)}")


def _literal(node: ast.List | ast.Tuple | ast.Dict | ast.Constant) -> Iterator[Finding]:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, (str, bytes)) and len(node.value) > LONG_TEXT:
            yield Finding.of(node, "table", f"holds a text of {len(node.value)} characters")
    else:
        elements = node.values if isinstance(node, ast.Dict) else node.elts
        if len(elements) > LONG_TABLE:
            yield Finding.of(node, "table", f"holds a table of {len(elements)} entries")


def _has_address(node: ast.AST) -> bool:
    """Whether an expression asks a tensor where it lies; what is only aligned, `% 16`, does not tell."""
    aligned = {id(n) for part in ast.walk(node) if isinstance(part, ast.BinOp) for n in ast.walk(part)}
    found = (n for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr in ("data_ptr", "_version"))
    return any(id(n) not in aligned for n in found)
