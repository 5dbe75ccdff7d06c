"""What an operator asks of a node and of what stands around it. `prepare` gives every node of a tree its parent."""

import ast
from collections.abc import Iterator

REDUCTIONS = ("sum", "max", "min", "dot", "argmax", "argmin", "reduce", "cumsum", "associative_scan", "xor_sum", "sort")


def prepare(source: str) -> ast.Module:
    """The tree of a file; `node.parent` is the node that holds a node."""
    tree = ast.parse(source)
    tree.parent = None
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node
    return tree


def above(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes around a node, from the inside."""
    while (node := getattr(node, "parent", None)) is not None:
        yield node


def called(node: ast.AST | None) -> str:
    """The dotted name that a call calls (".to" for a method of some value), "" for other nodes."""
    parts, node = [], node.func if isinstance(node, ast.Call) else None
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id if isinstance(node, ast.Name) else "", *reversed(parts)]) if node is not None else ""


def keyword(node: ast.AST, name: str) -> ast.keyword | None:
    return next((word for word in node.keywords if word.arg == name), None) if isinstance(node, ast.Call) else None


def tl(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name("tl", ast.Load()), name, ast.Load())


def cast(value: ast.expr, *names: str) -> ast.expr:
    """value.to(tl.<name>), one after the other."""
    for name in names:
        value = ast.Call(ast.Attribute(value, "to", ast.Load()), [tl(name)], [])
    return value


def function(node: ast.AST) -> ast.FunctionDef | None:
    """The function that a node is in."""
    return next((outer for outer in above(node) if isinstance(outer, ast.FunctionDef)), None)


def in_kernel(node: ast.AST) -> bool:
    """Whether a node is in the body of a function under @triton.jit."""
    inside = function(node)
    return inside is not None and any("jit" in ast.unparse(decorator) for decorator in inside.decorator_list)


def in_loop(node: ast.AST) -> bool:
    return any(isinstance(outer, ast.For) for outer in above(node))


def in_launch(node: ast.AST) -> bool:
    """Whether a node is in a grid, or an argument of a kernel that is no tuning parameter."""
    path = [node, *above(node)]
    if any(isinstance(one, ast.keyword) and one.arg in ("num_warps", "num_stages") for one in path):
        return False
    return any(is_launch(one) for one in path)


def is_launch(node: ast.AST) -> bool:
    """kernel[grid](...)."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)


def matters(node: ast.AST) -> bool:
    """Whether arithmetic at a node does more than choose a tile or a number of warps."""
    return in_kernel(node) or in_launch(node)


def counts_blocks(node: ast.AST) -> bool:
    """Whether a cdiv is of a kernel, or of a function that launches one, and no part of choosing a tile."""
    if called(node) not in ("triton.cdiv", "tl.cdiv") or compared(node):
        return False
    return in_kernel(node) or any(is_launch(one) for one in ast.walk(function(node) or node))


def promoted(node: ast.AST) -> bool:
    """Whether a value is an operand beside another that is no constant, whose type then decides."""
    outer = node.parent
    if isinstance(outer, ast.BinOp):
        other = outer.right if outer.left is node.original else outer.left
        return not isinstance(other, ast.Constant)
    return isinstance(outer, ast.AugAssign)


def compared(node: ast.AST) -> bool:
    """Whether a value is compared and not used otherwise."""
    return any(isinstance(outer, ast.Compare) for outer in above(node))


def assigned(node: ast.AST) -> str:
    """The name that a value is given, "" where it has none."""
    outer = getattr(node, "parent", None)
    node = getattr(node, "original", node)
    single = isinstance(outer, ast.Assign) and outer.value is node and isinstance(outer.targets[0], ast.Name)
    return outer.targets[0].id if single else ""


def loads(inside: ast.FunctionDef) -> dict[str, ast.Call]:
    """Names of a kernel that are loaded, with the load."""
    return {assigned(node): node for node in ast.walk(inside) if called(node) == "tl.load" and assigned(node)}


def reduces(inside: ast.FunctionDef, first: int = 0) -> bool:
    """Whether a kernel may combine elements, by itself or by a function that it calls, from a line on."""
    names = [called(node) for node in ast.walk(inside) if isinstance(node, ast.Call) and node.lineno >= first]
    return any(name.removeprefix("tl.") in REDUCTIONS or ("." not in name and name not in BUILTINS) for name in names)


def uses(inside: ast.FunctionDef, name: str) -> list[ast.Name]:
    """Where a name is read."""
    names = [node for node in ast.walk(inside) if isinstance(node, ast.Name) and node.id == name]
    return [node for node in names if isinstance(node.ctx, ast.Load)]


def chosen_by(node: ast.AST, condition: str) -> bool:
    """Whether a node is inside a tl.where of this condition."""
    return any(called(outer) == "tl.where" and ast.unparse(outer.args[0]) == condition for outer in above(node))


BUILTINS = ("range", "float", "int", "min", "max")


def accumulators(inside: ast.FunctionDef) -> set[str]:
    """Names that start as zeros of float32."""
    return {
        assigned(node) for node in ast.walk(inside) if called(node) == "tl.zeros" and "float32" in ast.unparse(node)
    } - {""}


def hidden_by_mask(load: ast.Call) -> bool:
    """Whether it can be seen that what a load gives outside its mask is never used.

    So it is where nothing is reduced afterwards and stores have masks; where only tl.where uses it, on that condition;
    and in a product with what is loaded as 0 there.
    """
    inside, name, mask = function(load), assigned(load), keyword(load, "mask")
    if inside is None or mask is None:
        return False
    stores = [node for node in ast.walk(inside) if called(node) == "tl.store"]
    first = min([load.lineno, *(outer.lineno for outer in above(load) if isinstance(outer, ast.For))])
    if stores and all(keyword(store, "mask") for store in stores) and not reduces(inside, first):
        return True
    if name and all(chosen_by(use, ast.unparse(mask.value)) for use in uses(inside, name)):
        return True
    others = loads(inside)
    products = [node for node in ast.walk(inside) if called(node) == "tl.dot" and len(node.args) > 1]
    pairs = [{ast.unparse(node.args[0]), ast.unparse(node.args[1])} for node in products]
    partners = [one for pair in pairs if name in pair for one in pair - {name}]
    zeros = [one in others and zero(getattr(keyword(others[one], "other"), "value", None)) for one in partners]
    return bool(name) and bool(partners) and all(zeros)


def zero(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0
