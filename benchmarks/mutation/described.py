"""Tensors from a description of how they are made: "f32[64,128]" and "clamp(N(0,1),-10,10) ~[-4.1, 4.1]"."""

import ast
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from pytest_kernelbenchx.dtypes import DTYPES

KIND = re.compile(r"(\w+)\[([\d,]*)\](?:@stride\(([\d, ]+)\))?")
BRACKETS = re.compile(r"\b(U|randint)\[([^\[\])]*)\)")  # half-open intervals
NAMES = {str(dtype).removeprefix("torch."): dtype for dtype in DTYPES.values()}


class Undetermined(Exception):
    """The description does not say what the value is."""


def arguments(case: dict[str, Any], generator: torch.Generator) -> dict[str, Any]:
    """The arguments of one described call."""
    domains = case["domain"]
    return {name: value(given, domains.get(name), case, generator) for name, given in case["args"].items()}


def value(given: Any, domain: Any, case: dict[str, Any], generator: torch.Generator) -> Any:
    """One argument: a tensor where it is described as one, an element type or a device where it names one."""
    if isinstance(given, list) and domain is not None:
        domains = domain if isinstance(domain, list) else [domain] * len(given)
        return [value(*pair, case, generator) for pair in zip(given, domains, strict=True)]
    if not isinstance(given, str):
        return given
    if given in NAMES:
        return NAMES[given]
    if given == "cuda":
        return torch.device("cpu")
    if given == "Generator":
        return generator
    if kind := KIND.fullmatch(given):
        return tensor(kind, domain, case, generator)
    return given


def tensor(kind: re.Match, domain: Any, case: dict[str, Any], generator: torch.Generator) -> Tensor:
    """A tensor of the described type, shape and strides."""
    dtype = DTYPES.get(kind[1])
    if dtype is None or not isinstance(domain, str):
        raise Undetermined(f"{kind[0]}: {domain}")
    shape = [int(n) for n in kind[2].split(",") if n]
    made = _made(domain, shape, case, generator).to(dtype)
    if kind[3]:
        made = torch.empty_strided(shape, [int(n) for n in kind[3].split(",")], dtype=dtype).copy_(made)
    return made


def _made(domain: str, shape: list[int], case: dict[str, Any], generator: torch.Generator) -> Tensor:
    text = re.sub(r"\s*(~\[.*|\(constant.*)$", "", domain)
    if text.startswith("literal"):
        numbers = torch.tensor(ast.literal_eval(text.removeprefix("literal").strip()))
        if numbers.numel() != torch.Size(shape).numel():
            raise Undetermined(domain)
        return numbers.reshape(shape)
    try:
        tree = ast.parse(BRACKETS.sub(r"\1(\2)", text), mode="eval").body
        found = _evaluate(tree, _makers(shape, case, generator))
    except (SyntaxError, KeyError, TypeError, RuntimeError) as error:
        raise Undetermined(domain) from error
    if not isinstance(found, Tensor) or list(found.shape) != shape:
        raise Undetermined(domain)
    return found


def _makers(shape: list[int], case: dict[str, Any], generator: torch.Generator) -> dict[str, Callable[..., Any]]:
    """What the names in a description stand for."""

    def normal(mean: float = 0.0, std: float = 1.0) -> Tensor:
        return mean + std * torch.randn(shape, generator=generator)

    def outliers() -> Tensor:
        far = torch.rand(shape, generator=generator) < case["outlier_prob"]
        return torch.where(far, normal() * case["outlier_scale"], normal())

    own = {
        "N": normal,
        "Nout": outliers,
        "U": lambda low, high: low + (high - low) * torch.rand(shape, generator=generator),
        "randint": lambda low, high: torch.randint(low, high, shape, generator=generator),
        "bernoulli": lambda p: torch.rand(shape, generator=generator) < p,
        "zeros": lambda: torch.zeros(shape),
        "empty": lambda: torch.zeros(shape),
        "empty_like": lambda: torch.zeros(shape),
        "ones": lambda: torch.ones(shape),
        "full": lambda number: torch.full(shape, number),
        "eye": lambda: torch.eye(*shape[-2:]),
        "linspace": lambda low, high: torch.linspace(low, high, torch.Size(shape).numel()).reshape(shape),
    }
    known = ("add", "sub", "mul", "div", "abs", "clamp", "sigmoid", "softmax", "log_softmax", "matmul", "transpose")
    return own | {name: getattr(torch, name) for name in known}


def _evaluate(node: ast.AST, makers: dict[str, Callable[..., Any]]) -> Any:
    """The value of an expression of names, calls, numbers, `.mT` and `.to`."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate(node.operand, makers)
    if isinstance(node, ast.Name):
        return makers[node.id]()
    if isinstance(node, ast.Attribute):
        inner = _evaluate(node.value, makers)
        return inner.mT if node.attr == "mT" else inner
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        named = {word.arg: _evaluate(word.value, makers) for word in node.keywords}
        return makers[node.func.id](*[_evaluate(one, makers) for one in node.args], **named)
    raise KeyError(ast.dump(node))
