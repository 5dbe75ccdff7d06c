"""Powers of a base at evenly spaced exponents: base ** (start + i * (end - start) / (steps - 1)), 0 <= i < steps.

The result is a vector of length `steps` (0 or more); one step gives base ** start. `start` and `end` are numbers,
`base` is a positive one. `dtype` is float32 unless given, and float64 is computed in float64. `device` says where the
result is made. `layout` is strided. With `requires_grad=True` the result is a leaf that asks for gradients. Nothing
about it is random; the category is upstream's.
"""

import torch

from pytest_kernelbenchx import task

HERE = torch.device("cpu")  # in a case it stands for the device of the candidate


def exactly(start, end, steps, base=10.0, **_):
    return torch.logspace(start, end, steps, base, dtype=torch.float64)


@task(
    inputs={},
    output="T[...]",
    options={
        "start": [0.0, 1.0, -3.0, 2, 0.1],
        "end": [3.0, 10.0, -1.5, 4, 0.7],
        "steps": [1, 2, 3, 5, 16, 17, 100, 127, 1000, 1023, 1025, 4096, 5000, 0],
        "base": [10.0, 2.0, 2.718281828, 0.5, 1.0, 16],
        "dtype": [None, torch.float32, torch.float64],
        "layout": [torch.strided],
        "device": [HERE],
    },
    examples=[
        dict(start=0.0, end=4.0, steps=5, base=2.0, device=HERE),
        dict(start=1.0, end=2.0, steps=4, dtype=torch.float64, device=HERE),
        dict(start=1.0, end=3.0, steps=3, device=HERE, requires_grad=True),
        dict(start=-5.0, end=30.0, steps=20011, device=HERE),
    ],
    sizes={str(n): dict(start=0.0, end=10.0, steps=n, device=HERE) for n in (1 << 12, 1 << 20, 1 << 27)},
    truth=exactly,
)
def logspace(start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    made = dict(dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)
    return torch.logspace(start, end, steps, base, **made)
