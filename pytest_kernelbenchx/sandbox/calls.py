"""The call that is timed, and what its tensors tell."""

from collections.abc import Callable
from typing import Any

import torch


def prepared(function: Callable[..., Any], task: Any, arguments: dict[str, Any]) -> Callable[[], Any]:
    """The call that is timed: of the function, or of an optimizer's `step()` after its construction."""
    from pytest_kernelbenchx.cases import split_call

    positional, named = split_call(task, arguments)
    if task.mode != "optimizer":
        return lambda: function(*positional, **named)
    parameters = [torch.nn.Parameter(tensor) for tensor in positional[0]]
    optimizer = function(parameters, *positional[1:], **named)
    for parameter, gradient in zip(parameters, arguments["grads"][0], strict=True):
        parameter.grad = gradient

    def step() -> list[torch.Tensor]:
        optimizer.step()
        return [parameter.detach() for parameter in parameters]

    return step


def tensors(value: Any) -> list[torch.Tensor]:
    """The tensors in nested lists and tuples, in order."""
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors(item)]
    return [value] if isinstance(value, torch.Tensor) else []


def size_of(value: Any) -> int:
    """Bytes of the elements of all tensors in a value."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors(value))


def copies(value: Any) -> list[torch.Tensor]:
    return [tensor.clone() for tensor in tensors(value)]


def equal(before: list[torch.Tensor], value: Any) -> bool:
    return all(torch.equal(one, other) for one, other in zip(before, tensors(value), strict=True))


def shared(outputs: list[Any]) -> bool:
    """Whether outputs of calls on different sets lie in the same memory."""
    owners: dict[int, int] = {}
    for number, output in enumerate(outputs):
        for tensor in tensors(output):
            pointer = tensor.untyped_storage().data_ptr() if tensor.untyped_storage().nbytes() else 0
            if pointer and owners.setdefault(pointer, number) != number:
                return True
    return False
