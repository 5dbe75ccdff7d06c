"""What a child keeps of its calls where the judge asks for it: outputs to be read again, inputs to be filled anew."""

from typing import Any

import torch

from pytest_kernelbenchx.sandbox.protocol import obstacle

MOST = 4  # calls whose outputs are kept


class Held:
    """Of the calls that were to be held: the last one's inputs, and what the last `MOST` returned."""

    def __init__(self) -> None:
        self.inputs: list[torch.Tensor] = []
        self.results: list[Any] = []

    def keep(self, inputs: list[torch.Tensor], result: Any) -> None:
        self.inputs = inputs
        self.results = [*self.results, result][-MOST:]

    def renewed(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """The inputs of the call before, which now hold what `tensors` hold: the same objects, addresses and versions.

        Where the two differ in more than their values, `tensors` themselves.
        """
        if [_form(tensor) for tensor in self.inputs] != [_form(tensor) for tensor in tensors]:
            return tensors
        for old, new in zip(self.inputs, tensors, strict=True):
            old.untyped_storage().copy_(new.untyped_storage())  # does not count as a change, unlike Tensor.copy_
        return self.inputs


def _form(tensor: torch.Tensor) -> tuple[Any, ...]:
    if fault := obstacle(tensor):
        return (fault,)
    nbytes = tensor.untyped_storage().nbytes()
    return tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), nbytes
