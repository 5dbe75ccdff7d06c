"""exp(x) / sum(exp(x)) along the axis `dim`."""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"x": "f32[M, N]"},
    output="f32[M, N]",
    axes={"M": (1, 3, 7), "N": (1, 5, 33, 70)},
    options={"dim": (0, 1, -1)},
    layouts=("contiguous",),
    examples=[dict(M=2, N=5, dim=1), dict(M=3, N=70, dim=1), dict(M=2, N=33, dim=0)],
    sizes={"1k": dict(M=1024, N=1024, dim=1), "4k": dict(M=4096, N=4096, dim=1)},
)
def softmax(x, dim):
    return torch.softmax(x, dim)
