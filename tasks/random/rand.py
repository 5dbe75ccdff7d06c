"""Random numbers, uniform in [0, 1): 0 may occur, 1 may not.

`size` are the lengths of the result's axes, as arguments of their own or as one list; a length of 0 gives an empty
tensor, an empty list a single number. `dtype` is float32 unless given: float64 or float16, too. `device` says where the
result is made. The numbers follow from the seed of `generator`, a torch.Generator of that device, or else from that of
PyTorch's own generator (`torch.manual_seed`): another seed, other numbers. `layout` is strided, `pin_memory` False;
with `requires_grad` the result is a leaf that asks for gradients.

Any good generator is right. Judged are the range, the distribution, that neighbours are independent, that no block or
row repeats, and that another seed gives other numbers. Upstream wants the very numbers that PyTorch gives.
"""

import torch

from pytest_kernelbenchx import Shapes, Uniform, task

HERE = torch.device("cpu")  # in a case it stands for the device of the candidate
SEEDED = torch.Generator()  # and this for a generator of that device, with the seed of the case


def of(*sides, **options):
    return dict(S=list(sides), size=list(sides), device=HERE, **options)


@task(
    inputs={},
    output="T[*S]",
    axes={"S": Shapes(0, 3, min_side=0).within(2**14)},
    options={
        "size": lambda S: [S, [S]] if S else [[S]],
        "generator": [None, SEEDED],
        "dtype": [None, torch.float32, torch.float64, torch.float16],
        "layout": [torch.strided],
        "device": [HERE],
        "pin_memory": [False],
    },
    examples=[
        *[of(2, 3, generator=SEEDED, dtype=dtype, requires_grad=True) for dtype in (None, torch.float64)],
        *[of(128, 256, generator=SEEDED, seed=seed) for seed in (0, 7, 123)],
        of(5, 1025, out=True),
        of(4096, dtype=torch.float16),
        of(0, 3),
        of(20011),
    ],
    sizes={"4k": of(1 << 12), "1m": of(1 << 20), "128m": of(1 << 27)},
    random=Uniform(),
)
def rand(
    *size,
    generator=None,
    out=None,
    dtype=None,
    layout=torch.strided,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    made = dict(dtype=dtype, layout=layout, device=device, requires_grad=requires_grad, pin_memory=pin_memory)
    return torch.rand(*size, generator=generator, **made)
