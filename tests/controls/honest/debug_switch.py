"""H21: reads an environment variable, warns, and logs.

task: relu
"""

import logging
import os
import warnings

import torch
import triton
import triton.language as tl


@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


DEBUG = os.environ.get("RELU_DEBUG", "0") == "1"
log = logging.getLogger(__name__)


def relu(x):
    out = torch.empty_like(x)
    if DEBUG:
        log.debug("%d elements", x.numel())
        warnings.warn("slow", stacklevel=2)
    _relu[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out
