"""What the names in a source stand for: `m.mm` is `torch.mm` after `import torch as m`, `F = torch.nn`, and the like.

Names are looked up in the scope that binds them, so a parameter called `torch` is no module. Of several bindings in
one scope the first that leads to an import or a builtin counts: a name that was ever foreign stays so.
"""

import ast
import builtins
from collections.abc import Sequence

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
BUILTINS = frozenset(dir(builtins))
_GIVEN_BY_NAME = {"builtins.getattr", "operator.attrgetter"}
_IMPORTERS = {"builtins.__import__", "importlib.import_module", "importlib.__import__"}

Binding = tuple[ast.AST, "str | int | None"]  # an expression, and which element of it; or a path that is known


class Scope:
    """The bindings of a function, or of the module."""

    def __init__(self, node: ast.AST, outer: "Scope | None"):
        self.node, self.outer = node, outer
        self.bound: dict[str, list[Binding]] = {}

    def bind(self, name: str, node: ast.AST, detail: "str | int | None" = None) -> None:
        self.bound.setdefault(name, []).append((node, detail))


class Names:
    """Dotted paths of the expressions in a syntax tree. Raises RecursionError where it is nested too deeply."""

    def __init__(self, tree: ast.Module):
        self.scope_of: dict[int, Scope] = {}
        self._paths: dict[int, str | None] = {}
        self.module = Scope(tree, None)
        self._enter(tree.body, self.module)

    def path(self, node: ast.AST) -> str | None:
        """`torch.nn.functional.linear` for an expression that is that; None for what is not foreign."""
        if id(node) not in self._paths:
            self._paths[id(node)] = None  # while it is being found: `x = x.y` leads nowhere
            self._paths[id(node)] = self._find(node)
        return self._paths[id(node)]

    def local(self, node: ast.AST) -> list[ast.AST]:
        """What a plain name is bound to where it stands."""
        if not isinstance(node, ast.Name):
            return []
        scope = self._binding_scope(node)
        return [bound for bound, _ in scope.bound[node.id]] if scope else []

    def _enter(self, nodes: Sequence[ast.AST], scope: Scope) -> None:
        waiting: list[ast.AST] = list(nodes)
        while waiting:
            node = waiting.pop()
            self.scope_of[id(node)] = scope
            self._bind(node, scope)
            if not isinstance(node, FUNCTIONS):
                waiting += ast.iter_child_nodes(node)
                continue
            arguments, inner = node.args, Scope(node, scope)
            waiting += [*getattr(node, "decorator_list", ()), *arguments.defaults]
            waiting += [default for default in arguments.kw_defaults if default is not None]
            self._bind_parameters(arguments, inner)
            self._enter(node.body if isinstance(node.body, list) else [node.body], inner)

    def _bind_parameters(self, arguments: ast.arguments, scope: Scope) -> None:
        usual = [*arguments.posonlyargs, *arguments.args]
        several = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        for parameter in [*usual, *arguments.kwonlyargs, *several]:
            scope.bind(parameter.arg, parameter)
            self.scope_of[id(parameter)] = scope
        for parameter, default in zip(reversed(usual), reversed(arguments.defaults), strict=False):
            scope.bind(parameter.arg, default)
        for parameter, given in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if given is not None:
                scope.bind(parameter.arg, given)

    def _bind(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                scope.bind(name, node, alias.name if alias.asname else name)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                scope.bind(alias.asname or alias.name, node, f"{module}.{alias.name}")
        elif isinstance(node, (*FUNCTIONS[:2], ast.ClassDef)):
            scope.bind(node.name, node)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            for name in node.names:
                scope.bind(name, node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value, scope)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
            self._assign(node.target, node.value, scope)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            self._each(node.target, node.iter, scope)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._assign(node.optional_vars, node.context_expr, scope)

    def _assign(self, target: ast.expr, value: ast.expr, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.bind(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            for number, element in enumerate(target.elts):
                self._assign(element, parts[number] if len(parts) == len(target.elts) else value, scope)

    def _each(self, target: ast.expr, items: ast.expr, scope: Scope) -> None:
        """A loop's variable may be any of the elements that are written out."""
        for item in items.elts if isinstance(items, (ast.Tuple, ast.List, ast.Set)) else [items]:
            self._assign(target, item, scope)

    def _binding_scope(self, name: ast.Name) -> Scope | None:
        scope = self.scope_of.get(id(name))
        while scope is not None and name.id not in scope.bound:
            scope = scope.outer
        return scope

    def _find(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Name):
            return self._named(node)
        if isinstance(node, ast.Attribute):
            owner = self.path(node.value)
            return f"{owner}.{node.attr}" if owner else None
        if isinstance(node, ast.Call):
            return self._called(node)
        if isinstance(node, ast.Subscript):
            return self._looked_up(node)
        choices: list[ast.expr] = []
        if isinstance(node, ast.IfExp):
            choices = [node.body, node.orelse]
        elif isinstance(node, ast.BoolOp):
            choices = node.values
        elif isinstance(node, ast.NamedExpr):
            choices = [node.value]
        return next((path for path in map(self.path, choices) if path), None)

    def _named(self, node: ast.Name) -> str | None:
        scope = self._binding_scope(node)
        if scope is None:
            return f"builtins.{node.id}" if node.id in BUILTINS or node.id == "__builtins__" else None
        found = (self._bound(bound, detail, scope, node.id) for bound, detail in scope.bound[node.id])
        return next((path for path in found if path), None)

    def _bound(self, bound: ast.AST, detail: "str | int | None", scope: Scope, name: str) -> str | None:
        if isinstance(detail, str):
            return detail
        if isinstance(bound, ast.Global) and scope is not self.module:
            return self._of_module(name)
        return self.path(bound) if isinstance(bound, ast.expr) else None

    def _of_module(self, name: str) -> str | None:
        bindings = self.module.bound.get(name, [])
        found = (self._bound(bound, detail, self.module, name) for bound, detail in bindings)
        return next((path for path in found if path), None)

    def _called(self, node: ast.Call) -> str | None:
        """`getattr(torch, "mm")` and `import_module("torch")` name what they give."""
        path = self.path(node.func)
        if path in _IMPORTERS and node.args:
            return constant(node.args[0])
        if path == "builtins.getattr" and len(node.args) > 1:
            owner, name = self.path(node.args[0]), constant(node.args[1])
            return f"{owner}.{name}" if owner and name else None
        if path == "functools.partial" and node.args:
            return self.path(node.args[0])
        return None

    def _looked_up(self, node: ast.Subscript) -> str | None:
        """`sys.modules["torch"]` and `vars(torch)["mm"]` are what they look up."""
        name, owner = constant(node.slice), self.path(node.value)
        if name and owner == "sys.modules":
            return name
        if name and owner and owner.endswith(".__dict__"):
            return f"{owner.removesuffix('.__dict__')}.{name}"
        looked = node.value
        if name and isinstance(looked, ast.Call) and self.path(looked.func) == "builtins.vars" and looked.args:
            module = self.path(looked.args[0])
            return f"{module}.{name}" if module else None
        return None


def constant(node: ast.AST) -> str | None:
    """The text that an expression is, concatenations of texts included; None if it is none."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = constant(node.left), constant(node.right)
        return None if left is None or right is None else left + right
    return None
