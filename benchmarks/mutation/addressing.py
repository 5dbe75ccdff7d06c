"""Operators on what is read and written: masks, bounds, axes, strides, blocks, loops, and where the result goes."""

import ast

from mutation.reading import above, called, cast, counts_blocks, function, hidden_by_mask, in_kernel, keyword, zero


def drop_mask(node: ast.AST) -> ast.AST | None:
    if called(node) not in ("tl.load", "tl.store") or not keyword(node, "mask"):
        return None
    node.keywords = [word for word in node.keywords if word.arg not in ("mask", "other")]
    return node


def drop_one_condition(node: ast.AST) -> ast.AST | None:
    """Of a mask over two axes the first half remains."""
    return node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd) else None


def drop_first_condition(node: ast.AST) -> ast.AST | None:
    """Of a mask over two axes the second half remains."""
    return node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd) else None


def loosen_bound(node: ast.AST) -> ast.AST | None:
    """i < n becomes i <= n; not between values and 0.0, where both sides of a formula mostly meet."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.Lt, ast.GtE)) or not in_kernel(node):
        return None
    if isinstance(node.comparators[0], ast.Constant) and type(node.comparators[0].value) is float:
        return None
    node.ops[0] = ast.LtE() if isinstance(node.ops[0], ast.Lt) else ast.Gt()
    return node


def wrong_other(node: ast.AST) -> ast.AST | None:
    """What masked elements count as: 1 for 0, 0 for anything else."""
    other = keyword(node, "other") if called(node) == "tl.load" else None
    if other is None or hidden_by_mask(node):
        return None
    other.value = ast.Constant(1.0 if zero(other.value) else 0.0)
    return node


def wrong_axis(node: ast.AST) -> ast.AST | None:
    axis = keyword(node, "axis")
    if axis is None or not isinstance(axis.value, ast.Constant) or axis.value.value not in (0, 1):
        return None
    axis.value = ast.Constant(1 - axis.value.value)
    return node


def wrong_broadcast(node: ast.AST) -> ast.AST | None:
    """x[:, None] becomes x[None, :]."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple) or len(node.slice.elts) != 2:
        return None
    node.slice = ast.Tuple(node.slice.elts[::-1], ast.Load())
    return node


def swap_strides(node: ast.AST) -> ast.AST | None:
    """*x.stride() is passed backwards; i * x_m + k * x_k becomes i * x_k + k * x_m."""
    if isinstance(node, ast.Starred) and called(node.value).endswith(".stride") and not node.value.args:
        return ast.Starred(ast.parse(f"{ast.unparse(node.value)}[::-1]", mode="eval").body, ast.Load())
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return None
    first = node.left.right if isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Add) else node.left
    factors = [term.right for term in (first, node.right) if isinstance(term, ast.BinOp) and is_product(term)]
    if len(factors) != 2 or not all(isinstance(factor, ast.Name) for factor in factors):
        return None
    changed = ast.BinOp(first.left, ast.Mult(), factors[1])
    left = changed if first is node.left else ast.BinOp(node.left.left, ast.Add(), changed)
    return ast.BinOp(left, ast.Add(), ast.BinOp(node.right.left, ast.Mult(), factors[0]))


def is_product(node: ast.BinOp) -> bool:
    return isinstance(node.op, ast.Mult)


def floor_for_cdiv(node: ast.AST) -> ast.AST | None:
    """The last, partial block is not launched, or not looped over."""
    if not counts_blocks(node):
        return None
    return at_least_one(node, ast.BinOp(node.args[0], ast.FloorDiv(), node.args[1]))


def short_cdiv(node: ast.AST) -> ast.AST | None:
    """cdiv(n - 1, B): right but where one element lies past a block."""
    if not counts_blocks(node):
        return None
    node.args[0] = ast.BinOp(node.args[0], ast.Sub(), ast.Constant(1))
    return at_least_one(node, node)


def at_least_one(node: ast.AST, quotient: ast.expr) -> ast.expr:
    """A number of programs is at least 1, so that what fails is the result and not the launch."""
    host = called(node).startswith("triton") and not in_kernel(node)
    return ast.Call(ast.Name("max", ast.Load()), [quotient, ast.Constant(1)], []) if host else quotient


def short_loop(node: ast.AST) -> ast.AST | None:
    """A loop that ends one step early."""
    loops = isinstance(node.parent, ast.For) and in_kernel(node)
    if called(node) not in ("range", "tl.range", "tl.static_range") or not loops:
        return None
    last = 0 if len(node.args) == 1 else 1
    step = node.args[2] if len(node.args) == 3 else ast.Constant(1)
    node.args[last] = ast.BinOp(node.args[last], ast.Sub(), step)
    return node


def late_loop(node: ast.AST) -> ast.AST | None:
    """A loop over blocks that begins with the second."""
    if called(node) != "range" or len(node.args) != 3 or not in_kernel(node):
        return None
    node.args[0] = ast.BinOp(node.args[0], ast.Add(), node.args[2])
    return node


def off_by_one(node: ast.AST) -> ast.AST | None:
    """tl.arange(0, B) + 1."""
    return ast.BinOp(node, ast.Add(), ast.Constant(1)) if called(node) == "tl.arange" else None


def narrow_offsets(node: ast.AST) -> ast.AST | None:
    """Offsets in 16 bits. They stand for those in 32, which overflow from 2 ** 31 elements on, more than a case has."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add) or not in_kernel(node):
        return None
    access = called(node.parent) in ("tl.load", "tl.store") and node.parent.args[0] is node.original
    pointer = isinstance(node.left, ast.Name) and node.left.id.endswith("_ptr")
    return ast.BinOp(node.left, ast.Add(), cast(node.right, "int16")) if access and pointer else None


def drop_contiguous(node: ast.AST) -> ast.AST | None:
    """Strided inputs taken for contiguous ones."""
    return node.func.value if called(node).endswith(".contiguous") else None


def stale_out(node: ast.AST) -> ast.AST | None:
    """The result is returned, but `out`, or the input that is to be changed in place, is not written."""
    names = {"out", "out_tensor", "inplace"}
    if called(node).endswith(".copy_") and function(node) and not in_kernel(node):
        return node.args[0]
    if not isinstance(node, ast.IfExp) or not names & {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}:
        return None
    return node.body if "is None" in ast.unparse(node.test) else node.orelse


def unmasked_sum(node: ast.AST) -> ast.AST | None:
    """tl.where(inside, x, 0.0) becomes x."""
    is_zero = called(node) == "tl.where" and zero(node.args[2])
    return node.args[1] if is_zero and any(called(outer) == "tl.sum" for outer in above(node)) else None


ADDRESSING = (
    drop_mask,
    drop_one_condition,
    drop_first_condition,
    loosen_bound,
    wrong_other,
    wrong_axis,
    wrong_broadcast,
    swap_strides,
    floor_for_cdiv,
    short_cdiv,
    short_loop,
    late_loop,
    off_by_one,
    narrow_offsets,
    drop_contiguous,
    stale_out,
    unmasked_sum,
)
