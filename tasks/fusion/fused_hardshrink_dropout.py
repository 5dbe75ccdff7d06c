"""Dropout of every element, then hard shrinkage: hardshrink(dropout(input, p, training), lambd).

Hard shrinkage makes 0 of every element from -lambd to lambd, both included, and keeps the others. With `inplace=True`
dropout overwrites `input`, which then holds what it gave, not the shrunk values; without training `input` stays as it
is. (In place is judged where nothing is left to chance.)
"""

from torch.nn import functional

from pytest_kernelbenchx import Dropout, task

POINTS = [-0.75, -0.5, 0.5, 0.75, 0.5001, -2.0, 0.0]


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    options={"inplace": lambda p, training: [False, not (training and p)], "lambd": [0.5, 0.25, 1.5, 0.0]},
    mutates=("input",),
    random=Dropout(),
    tolerance={"factor": 0},  # rounding to 16 bits may shrink an element beside lambd to 0, which lends nothing
    examples=[
        dict(input=POINTS, training=False, inplace=True),
        dict(input=POINTS, training=False, lambd=0.75),
        *[dict(S=[64, 100], p=0.1, training=training, fill="both") for training in (False, True)],
        dict(S=[5003], p=0.3, lambd=0.25),
        dict(S=[3, 70], p=1.0, inplace=True),
        dict(S=[3], p=1.5, raises=ValueError),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def fused_hardshrink_dropout(input, p=0.5, training=True, inplace=False, lambd=0.5):
    return functional.hardshrink(functional.dropout(input, p, training, inplace), lambd)
