"""In the interpreter a tensor answers `is_cuda` as on a GPU, so that a candidate takes the path it has for one.

`x.device` and `torch.cuda.is_available()` still tell the truth: what they lead to would ask for a driver.
"""

import torch


def pretend() -> None:
    """Let every tensor of this process say that it lies on a GPU. Runs no tensor operation."""
    torch.Tensor.is_cuda = property(lambda self: True)  # type: ignore[assignment,method-assign]
