"""How much of a GPU's memory a candidate may take: its neighbours on the same GPU need theirs.

The limit is that of PyTorch's allocator, in this process alone; what is allocated past PyTorch is not counted.
"""

from functools import cache

import torch


@cache
def cap(device: str, memory: int) -> None:
    """Once, before the first tensor: allow so many bytes of a GPU; a larger tensor then is torch.OutOfMemoryError."""
    if device == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, memory / total), 0)
