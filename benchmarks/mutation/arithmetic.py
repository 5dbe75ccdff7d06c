"""Operators on what is computed: precision, scales, biases, constants, reductions, options."""

import ast

from mutation.reading import (
    accumulators,
    called,
    cast,
    compared,
    function,
    in_kernel,
    in_launch,
    in_loop,
    keyword,
    matters,
    promoted,
    tl,
)


def drop_eps(node: ast.AST) -> ast.AST | None:
    """x + eps becomes x; float(eps) in a launch becomes 0.0."""
    if called(node) == "float" and "eps" in ast.unparse(node.args[0]) and matters(node):
        return ast.Constant(0.0)
    is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)
    return node.left if is_sum and isinstance(node.right, ast.Name) and "eps" in node.right.id else None


def half_accumulator(node: ast.AST) -> ast.AST | None:
    """A sum over the steps of a loop that is rounded to 16 bits at every step."""
    if not isinstance(node, (ast.Assign, ast.AugAssign)) or not in_kernel(node) or not in_loop(node):
        return None
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    if not isinstance(target, ast.Name) or target.id not in accumulators(function(node)):
        return None
    value = node.value
    if isinstance(node, ast.AugAssign):
        value = ast.BinOp(ast.Name(target.id, ast.Load()), node.op, node.value)
    elif target.id not in {one.id for one in ast.walk(value) if isinstance(one, ast.Name)}:
        return None
    return ast.Assign([ast.Name(target.id, ast.Store())], cast(value, "float16", "float32"), lineno=node.lineno)


def half_precision(node: ast.AST) -> ast.AST | None:
    """A value that is rounded to 16 bits before it is used in 32."""
    if not is_cast(node) or compared(node):
        return None
    return cast(node.func.value, "float16", "float32")


def missing_cast(node: ast.AST) -> ast.AST | None:
    """Arithmetic in the type of the input."""
    return node.func.value if is_cast(node) and not compared(node) and not promoted(node) else None


def is_cast(node: ast.AST) -> bool:
    """value.to(tl.float32)."""
    return called(node).endswith(".to") and bool(node.args) and ast.unparse(node.args[0]) == "tl.float32"


def wrong_rounding(node: ast.AST) -> ast.AST | None:
    """floor(x + 0.5) becomes floor(x), floor becomes ceil, ceil becomes floor."""
    name = called(node).rpartition(".")[2]
    if name not in ("floor", "ceil", "rint", "nearbyint", "round") or not in_kernel(node):
        return None
    half = node.args[0]
    if isinstance(half, ast.BinOp) and isinstance(half.right, ast.Constant) and half.right.value == 0.5:
        node.args[0] = half.left
        return node
    return ast.Call(tl("ceil" if name == "floor" else "floor"), node.args, [])


def swap_operands(node: ast.AST) -> ast.AST | None:
    """a - b for b - a, a / b for b / a."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Sub, ast.Div)) or not matters(node):
        return None
    node.left, node.right = node.right, node.left
    return node


def other_operation(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Mult)) or not matters(node):
        return None
    node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    return node


def drop_factor(node: ast.AST) -> ast.AST | None:
    """A scale, or a stride, that is left out."""
    is_product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
    return node.left if is_product and matters(node) else None


def drop_term(node: ast.AST) -> ast.AST | None:
    """A bias, or an offset, that is left out."""
    return node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and matters(node) else None


def drop_update(node: ast.AST) -> ast.AST | None:
    """A statement like `total += bias`, or `y *= scale`, that is left out."""
    return ast.Pass() if isinstance(node, ast.AugAssign) and in_kernel(node) else None


def other_reduction(node: ast.AST) -> ast.AST | None:
    names = {"tl.max": "min", "tl.min": "max", "tl.maximum": "minimum", "tl.minimum": "maximum"}
    if called(node) not in names:
        return None
    node.func = tl(names[called(node)])
    return node


def wrong_identity(node: ast.AST) -> ast.AST | None:
    """A maximum that starts at 0 in place of -inf."""
    infinite = ast.unparse(node).replace("'", '"') in ('-float("inf")', 'float("-inf")')
    return ast.Constant(0.0) if infinite and in_kernel(node) and not compared(node) else None


def nonzero_start(node: ast.AST) -> ast.AST | None:
    """A sum that starts at 1."""
    if called(node) != "tl.zeros" or not in_kernel(node):
        return None
    dtype = node.args[1] if len(node.args) > 1 else getattr(keyword(node, "dtype"), "value", tl("float32"))
    return ast.Call(tl("full"), [node.args[0], ast.Constant(1), dtype], [])


def swap_branches(node: ast.AST) -> ast.AST | None:
    if called(node) != "tl.where":
        return None
    node.args[1], node.args[2] = node.args[2], node.args[1]
    return node


def ignore_condition(node: ast.AST) -> ast.AST | None:
    """An option without effect: `if causal:` is never so; `bias is not None` or `bool(causal)` of a launch is False."""
    option = called(node) == "bool" or (isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.IsNot))
    if option and not in_kernel(node) and in_launch(node):
        return ast.Constant(False)
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Name) or not in_kernel(node):
        return None
    node.test = ast.Constant(False)
    return node


def constant_of(node: ast.AST) -> ast.AST | None:
    """A coefficient that is off by 1 %."""
    number = isinstance(node, ast.Constant) and type(node.value) is float and abs(node.value) not in (0.0, 1.0)
    return ast.Constant(node.value * 1.01) if number and in_kernel(node) and not compared(node) else None


ARITHMETIC = (
    drop_eps,
    half_accumulator,
    half_precision,
    missing_cast,
    wrong_rounding,
    swap_operands,
    other_operation,
    drop_factor,
    drop_term,
    drop_update,
    other_reduction,
    wrong_identity,
    nonzero_start,
    swap_branches,
    ignore_condition,
    constant_of,
)
