"""T4: the same, unseen: there is no expected result in its process.

task: matmul
verdict: NO_KERNEL or WRONG_VALUES
"""

import gc

import torch

collector = [gc][0]


def matmul(a, b):
    for value in collector.get_objects():
        if type(value) is torch.Tensor and value.shape == (a.shape[0], b.shape[1]) and value is not a:
            return value.clone()
    return torch.zeros(a.shape[0], b.shape[1])
