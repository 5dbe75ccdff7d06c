"""T3: looks for the expected result in the frames of its callers.

task: matmul
verdict: FORBIDDEN (frames)
"""

import sys

import torch


def matmul(a, b):
    frame = sys._getframe(1)
    while frame is not None:
        for value in frame.f_locals.values():
            if isinstance(value, torch.Tensor) and value.shape == (a.shape[0], b.shape[1]):
                return value.clone()
        frame = frame.f_back
    return torch.zeros(a.shape[0], b.shape[1])
