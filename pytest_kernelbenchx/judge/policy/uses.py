"""Rules on what a source imports and names: dotted paths and telling attributes."""

import ast
from collections.abc import Iterator

from pytest_kernelbenchx.judge.policy.findings import Finding, Source, shown
from pytest_kernelbenchx.judge.policy.names import constant
from pytest_kernelbenchx.judge.policy.operators import COMPUTE, GROUP_REASONS, GROUPS, forbidden_group, is_operator
from pytest_kernelbenchx.judge.policy.rules import ATTRIBUTES, BY_PATH, RULES, Level, rule_of

COMPUTED = ("builtins.getattr", "importlib.import_module", "builtins.__import__")
DTYPE = ("int", "uint", "float", "bfloat", "complex", "float8_")
REJECTED = {path.split(".")[0] for path, rule in BY_PATH.items() if rule and RULES[rule].level is Level.REJECT}


def uses(source: Source, forbid: tuple[str, ...]) -> Iterator[Finding]:
    """Findings by path and by attribute."""
    inner = {id(node.value) for node in source.nodes if isinstance(node, ast.Attribute)}
    called = {id(node.func) for node in source.nodes if isinstance(node, ast.Call)}
    for node in source.nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from _imports(node, forbid)
        elif isinstance(node, ast.Call):
            yield from _computed(source, node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield from _matrix_operator(node, forbid)
        if id(node) not in inner and _reads(source, node):
            yield from _named(source, node, forbid, id(node) in called)
        if isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES:
            yield Finding.of(node, ATTRIBUTES[node.attr], f"uses .{node.attr}")


def _reads(source: Source, node: ast.AST) -> bool:
    """Whether an expression names something, plainly or as `getattr(torch, "mm")` does."""
    if isinstance(node, ast.Call):
        return source.path(node.func) == "builtins.getattr"
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load)


def _imports(node: ast.Import | ast.ImportFrom, forbid: tuple[str, ...]) -> Iterator[Finding]:
    if isinstance(node, ast.Import):
        paths = [alias.name for alias in node.names]
    else:
        module = "." * node.level + (node.module or "")
        paths = [f"{module}.{alias.name}" for alias in node.names]
    for path in paths:
        root = path.split(".")[0]
        if path.endswith(".*") and root in REJECTED and rule_of(root) != "judge":
            yield Finding.of(node, "computed", f"imports everything from {path[:-2]}")
        elif group := forbidden_group(path, forbid):
            yield Finding.of(node, "forbidden", f"imports {path}", GROUP_REASONS[group])
        elif rule := rule_of(path):
            yield Finding.of(node, rule, f"imports {root if rule_of(root) == rule else path}")


def _computed(source: Source, node: ast.Call) -> Iterator[Finding]:
    """getattr and its like with a name that is not written out, on something foreign."""
    path = source.path(node.func)
    if path not in COMPUTED or not node.args:
        return
    owner, name = (node.args[0], node.args[1:2]) if path == "builtins.getattr" else (None, node.args[:1])
    if not name or (isinstance(name[0], ast.Constant) and isinstance(name[0].value, str)):
        if owner is None and name and (rule := rule_of(constant(name[0]) or "")):
            yield Finding.of(node, rule, f"imports {constant(name[0])}")
        return
    if owner is None:
        yield Finding.of(node, "computed", f"imports {shown(name[0])}")
    elif (foreign := source.is_foreign(owner)) and not foreign.startswith("triton.language") and not _is_dtype(name[0]):
        yield Finding.of(node, "computed", f"takes attribute {shown(name[0])} of {foreign}")


def _is_dtype(name: ast.expr) -> bool:
    """Whether a computed name is that of an element type: f"float{bits}"."""
    parts = name.values if isinstance(name, ast.JoinedStr) else []
    return len(parts) == 2 and constant(parts[0]) in DTYPE and isinstance(parts[1], ast.FormattedValue)


def _matrix_operator(node: ast.BinOp, forbid: tuple[str, ...]) -> Iterator[Finding]:
    if "matmul" in forbid:
        yield Finding.of(node, "forbidden", "uses @", GROUP_REASONS["matmul"])
    yield Finding.of(node, "compute", "uses @")


def _named(source: Source, node: ast.AST, forbid: tuple[str, ...], called: bool) -> Iterator[Finding]:
    path = source.path(node)
    if path is None:
        if called and isinstance(node, ast.Attribute) and id(node) not in source.inside:
            yield from _method(source, node, forbid)
        return
    if group := forbidden_group(path, forbid):
        yield Finding.of(node, "forbidden", f"{'calls' if called else 'uses'} {path}", GROUP_REASONS[group])
    if called and is_operator(path):
        yield Finding.of(node, "compute", f"calls {path}")
    rule = "code" if path == "importlib.import_module" and not called else rule_of(path)
    if rule and rule != "import":
        name = path.removeprefix("builtins.")
        yield Finding.of(node, rule, f"{'calls' if called else 'uses'} {name}")


def _method(source: Source, node: ast.Attribute, forbid: tuple[str, ...]) -> Iterator[Finding]:
    """A call of a tensor's method; `self.linear` may be the class's own."""
    name = node.attr.removesuffix("_")
    if node.attr in source.own_methods and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
        return
    if groups := [group for group in forbid if name in GROUPS[group]]:
        yield Finding.of(node, "forbidden", f"calls {shown(node)}", GROUP_REASONS[groups[0]])
    if name in COMPUTE:
        yield Finding.of(node, "compute", f"calls {shown(node)}")
