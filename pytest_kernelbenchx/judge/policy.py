"""Stage one's look at the source: what a candidate may not do, found in its syntax tree.

Text in comments, strings and docstrings never matches. A finding quotes the line and says what the rule is for.
"""

import ast
import re
from dataclasses import dataclass

from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict

MODULES = {
    **dict.fromkeys(("ctypes", "cffi", "mmap"), "native code can forge times and results"),
    **dict.fromkeys(("gc", "inspect", "_testcapi"), "a kernel has no business in the judge's objects and frames"),
    **dict.fromkeys(
        ("subprocess", "multiprocessing", "socket", "asyncio"), "a candidate runs in its own process alone"
    ),
    **dict.fromkeys(("threading", "_thread", "concurrent"), "work must be done when the call returns"),
    **dict.fromkeys(("pytest", "_pytest", "hypothesis", "xdist", "pytest_benchmark"), "the judge is out of bounds"),
    "pytest_kernelbenchx": "the judge is out of bounds",
}
CALLS = {
    "exec": "code must stand in the file",
    "eval": "code must stand in the file",
    "__import__": "imports must be plain",
}
PATCHED = ("torch", "triton", "builtins", "sys", "os", "time")

GROUPS = {
    "quantize": {
        "quantize_per_tensor", "quantize_per_channel", "fake_quantize_per_tensor_affine", "dequantize", "_int_mm",
        "_scaled_mm", "_weight_int4pack_mm", "_weight_int8pack_mm", "quantize_per_tensor_dynamic",
    },
    "matmul": {
        "matmul", "mm", "bmm", "addmm", "baddbmm", "einsum", "linear", "tensordot", "mv", "inner", "chain_matmul",
        "bilinear",
    },
    "conv": {"conv1d", "conv2d", "conv3d", "conv_transpose2d", "convolution", "unfold"},
    "attention": {"scaled_dot_product_attention", "softmax", "multi_head_attention_forward"},
}  # fmt: skip
GROUP_REASONS = {
    "quantize": "PyTorch's quantization operators would do the task",
    "matmul": "PyTorch's full-precision products would do the task",
    "conv": "PyTorch's convolutions would do the task",
    "attention": "PyTorch's attention would do the task",
}
TOO_DEEP = Outcome(Verdict.SYNTAX, "the file does not parse: its expressions are nested too deeply for Python")


@dataclass(frozen=True)
class Finding:
    """A place that breaks a rule."""

    line: int
    what: str
    why: str


def parse(source: str) -> ast.Module | Outcome:
    """The syntax tree, or the SYNTAX outcome with the place."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        place = f"line {line}: " if line else ""
        text = _lines(source)[line - 1].strip()[:120] if line and line <= len(_lines(source)) else ""
        return Outcome(Verdict.SYNTAX, f"the file does not parse: {place}{getattr(error, 'msg', error)}", text)
    except (RecursionError, MemoryError):
        return TOO_DEEP


def examine(tree: ast.Module, source: str, forbid: tuple[str, ...] = ()) -> Outcome | None:
    """FORBIDDEN with every finding, or None; SYNTAX for a tree too deep to look at."""
    try:
        kernels = _kernel_nodes(tree)
        findings = [found for node in ast.walk(tree) for found in _check(node, forbid, id(node) in kernels)]
    except RecursionError:
        return TOO_DEEP
    if not findings:
        return None
    lines = _lines(source)
    quoted = [f"line {f.line}: {lines[f.line - 1].strip()[:100]}\n    {f.what}: {f.why}" for f in findings[:8]]
    return Outcome(
        Verdict.FORBIDDEN, f"line {findings[0].line}: {findings[0].what}: {findings[0].why}", "\n".join(quoted)
    )


def _lines(source: str) -> list[str]:
    """Lines as Python counts them: a form feed does not end one."""
    return re.split(r"\r\n|\r|\n", source)


def asks_for_gpu(tree: ast.Module) -> int | None:
    """The first line on which a candidate looks for a GPU, and may go another way where there is none."""
    lines = [
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr in ("cuda", "is_cuda", "device_count"))
        or (isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.split(":")[0] == "cuda")
    ]
    return min(lines, default=None)


def _check(node: ast.AST, forbid: tuple[str, ...], in_kernel: bool) -> list[Finding]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        roots = [name.split(".")[0] for name in names]
        return [Finding(node.lineno, f"imports {root}", MODULES[root]) for root in roots if root in MODULES]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
        return [Finding(node.lineno, f"calls {node.func.id}", CALLS[node.func.id])]
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        root = ast.unparse(node).split(".")[0]
        if root in PATCHED:
            return [
                Finding(node.lineno, f"assigns to {ast.unparse(node)}", "a candidate may not change foreign modules")
            ]
    return [] if in_kernel else _forbidden(node, forbid)


def _forbidden(node: ast.AST, forbid: tuple[str, ...]) -> list[Finding]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and "matmul" in forbid:
        return [Finding(node.lineno, "uses @", GROUP_REASONS["matmul"])]
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return []
    groups = [group for group in forbid if node.func.attr in GROUPS[group]]
    return [Finding(node.lineno, f"calls {ast.unparse(node.func)}", GROUP_REASONS[group]) for group in groups]


def _kernel_nodes(tree: ast.Module) -> set[int]:
    """Nodes inside functions that Triton compiles: `tl.softmax` there is no PyTorch operator."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    kernels = [f for f in functions if any("jit" in ast.unparse(decorator) for decorator in f.decorator_list)]
    return {id(node) for kernel in kernels for node in ast.walk(kernel)}
