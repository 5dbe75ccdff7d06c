"""What a call may do with memory that is not its own: a result lies in memory of its own, where PyTorch's does."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict

SUBCLASS = "tensor subclass "  # how a child names what pretends to be a tensor, see `sandbox.protocol.obstacle`


def shared(outputs: Iterable[Any], arguments: Iterable[Any]) -> frozenset[int]:
    """Numbers of the output tensors that share memory with an input."""
    inputs = {t.untyped_storage().data_ptr() for t in arguments if isinstance(t, Tensor) and t.numel()}
    made = [leaf.untyped_storage().data_ptr() for leaf in outputs if isinstance(leaf, Tensor)]
    return frozenset(number for number, address in enumerate(made) if address in inputs)


def judge_aliases(aliases: Mapping[int, int], allowed: frozenset[int]) -> Outcome | None:
    """WRONG_OUTPUT where an output is an input, or part of one, and PyTorch's is a new tensor.

    Args:
        aliases: by number of an output tensor, that of an input with which it shares memory.
        allowed: numbers of the outputs that may.
    """
    wrong = [number for number in aliases if number not in allowed]
    if not wrong:
        return None
    name = "output" if not wrong[0] else f"output {wrong[0]}"
    reason = f"{name} lies in the memory of an input, wanted a new tensor: the caller may change either one"
    return Outcome(Verdict.WRONG_OUTPUT, reason)


def judge_same(aliases: Mapping[int, int], wanted: Iterable[int], what: str) -> Outcome | None:
    """WRONG_OUTPUT where PyTorch returns the very tensor that it was given, and the call another one.

    Args:
        aliases: by number of an output tensor, that of an input with which it shares memory.
        wanted: numbers of the outputs that are such.
        what: what the tensor was given as.
    """
    wrong = [number for number in wanted if number not in aliases]
    if not wrong:
        return None
    name = "output" if not wrong[0] else f"output {wrong[0]}"
    return Outcome(Verdict.WRONG_OUTPUT, f"{name} is a new tensor, wanted the one that was given as {what}: return it")


def judge_plain(type_name: str, name: str) -> Outcome | None:
    """LAZY_OUTPUT for a tensor of a class of the candidate's own, which may compute when it is looked at."""
    if not type_name.startswith(SUBCLASS):
        return None
    found = type_name.removeprefix(SUBCLASS)
    reason = f"{name} is a {found}, a subclass of torch.Tensor that may compute when it is looked at; wanted exactly "
    return Outcome(Verdict.LAZY_OUTPUT, f"{reason}{torch.Tensor.__module__}.Tensor")
