"""Dropout, then hard shrinkage: hardshrink(dropout(input, p, training), lambd).

`input` has any shape of at least one dimension and a floating-point type; the result is a new tensor of the same shape
and type. In training each element is, independently, set to 0 with probability `p` or else multiplied by 1 / (1 - p);
with `training=False` dropout does nothing. Hard shrinkage then makes 0 of every element from -lambd to lambd, both
included, and keeps the others. With `inplace=True` dropout overwrites `input`, which then holds what it gave, not the
shrunk values; without training, and with `inplace=False`, `input` stays as it is. (In place is judged where nothing is
left to chance.) A `p` outside 0 to 1 raises ValueError.

Random numbers need not be PyTorch's, but they must differ after torch.manual_seed with another seed; upstream asks for
PyTorch's own stream.
"""

from torch.nn import functional

from pytest_kernelbenchx import Dropout, Shapes, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 4)},
    options={
        "p": [0.5, 0.1, 0.3, 0.0],
        "training": [True, True, False],
        "inplace": lambda p, training: [False] if training and p else [False, True],
        "lambd": [0.5, 0.25, 1.5, 0.0],
    },
    mutates=("input",),
    random=Dropout(),
    tolerance={"factor": 0},  # rounding to 16 bits may shrink an element beside lambd to 0, which lends nothing
    examples=[
        dict(S=[5, 5]),
        dict(S=[5, 5], p=0.3),
        dict(S=[5, 5], training=False),
        dict(S=[5, 5], lambd=0.7, p=0.0),
        dict(input=[-0.75, -0.5, 0.5, 0.75, 0.5001, -2.0, 0.0], training=False, inplace=True),
        dict(input=[-0.75, -0.5, 0.5, 0.75, 0.5001, -2.0, 0.0], training=False, lambd=0.75),
        *[
            dict(S=[64, 100], p=0.1, training=training, fill=fill)
            for training in (False, True)
            for fill in ("standard", "outlier")
        ],
        dict(S=[5003], p=0.3, lambd=0.25),
        dict(S=[3, 70], p=1.0, inplace=True),
        dict(S=[3], p=1.5, raises=ValueError),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def fused_hardshrink_dropout(input, p=0.5, training=True, inplace=False, lambd=0.5):
    return functional.hardshrink(functional.dropout(input, p, training, inplace), lambd)
