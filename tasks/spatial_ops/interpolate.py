"""Signals, images or volumes resized to `size`, or by `scale_factor`.

`input` is float32 [N, C, *S] with one to three spatial axes, the result [N, C, *size]. `size` is an integer for all
axes or a list or tuple with one for each; `scale_factor` a number, or one for each, from which size = floor(S *
factor). One of the two is given, otherwise there is a ValueError. From n elements to m, result i is taken at

    place = (i + 1/2) * ratio - 1/2        or, with align_corners, i * (n - 1) / (m - 1), and 0 if m is 1

where ratio is n / m, but 1 / factor where `scale_factor` is given. `mode` is one of

    "linear", "bilinear", "trilinear" (for 1, 2, 3 axes): the two neighbours along each axis, weighed by distance; a
        place below 0 counts as 0, a neighbour beyond n - 1 as n - 1
    "bicubic" (2 axes): four neighbours along each axis, weighed by Keys' kernel with a = -0.75; neighbours outside
        count as the nearest element
    "nearest": element floor(i * ratio); "nearest-exact": element floor((i + 1/2) * ratio); n - 1 at most
    "area": the mean of elements floor(i * n / m) to ceil((i + 1) * n / m) - 1

`align_corners` (None means False) goes with the linear and cubic modes, and raises ValueError with the others. Ratios
are drawn here whose nearest element does not hang on rounding. Upstream tries three sizes of images.
"""

from fractions import Fraction
from math import floor, prod

import torch
from hypothesis import strategies as st

from pytest_kernelbenchx import Shapes, task

LINEAR = {1: ["linear"], 2: ["bilinear", "bicubic"], 3: ["trilinear"]}
MOST = 2**13  # elements of a drawn result


def each(value, S):
    return list(value) if isinstance(value, (list, tuple)) else [value] * len(S)


def factors(N, C, S):
    found = [2, 0.5, 1.5, 2.5, 0.75, (0.5, 3.0, 1.25)[: len(S)], [1.5, 1.0, 2.0][: len(S)]]
    sizes = [[floor(n * f) for n, f in zip(S, each(factor, S), strict=True)] for factor in found]
    return [None] + [f for f, size in zip(found, sizes, strict=True) if 0 < N * C * prod(size) <= MOST]


def lengths(N, C, S, scale_factor):
    """Sizes, where there is no factor: of any length, or one that most axes have already."""
    if scale_factor is not None:
        return st.none()
    longest = max(1, int((MOST / (N * C)) ** (1 / len(S))))
    sides = [st.integers(1, longest) | st.just(min(n, longest)) | st.just(min(2 * n, longest)) for n in S]
    return st.tuples(*sides) | st.tuples(*sides).map(list) | st.integers(1, longest)


def clear(mode, S, size, scale_factor):
    """Whether the nearest elements are the same in float32 and without rounding."""
    half = Fraction(1, 2) if mode == "nearest-exact" else 0
    for n, m, f in zip(S, each(size, S), each(scale_factor, S), strict=True):
        ratio = Fraction(n, m) if f is None else 1 / Fraction(f)
        places = [i + half for i in range(floor(n * f) if m is None else m)]
        rounded = (torch.tensor([float(p) for p in places]) * torch.tensor(float(ratio))).floor().tolist()
        if mode.startswith("nearest") and rounded != [floor(p * ratio) for p in places]:
            return False
    return True


@task(
    inputs={"input": "f32[N, C, *S]"},
    output="f32[...]",
    axes={"N": (1, 2, 3), "C": (1, 2, 3, 5), "S": Shapes(1, 3, longest=129)},
    options={
        "scale_factor": factors,
        "size": lengths,
        "mode": lambda S: ["nearest", *LINEAR[len(S)] * 2, "nearest-exact", "area"],
        "align_corners": lambda mode: [None, False, True] if "linear" in mode or "cubic" in mode else [None],
    },
    where=clear,
    examples=[
        dict(N=2, C=3, S=[4, 5], size=(8, 9), mode="nearest"),
        dict(N=2, C=3, S=[8, 8], scale_factor=2.0, mode="bilinear", align_corners=False),
        dict(N=2, C=3, S=[8, 8], size=[16, 16], mode="bicubic", align_corners=False, fill="outlier"),
        dict(N=2, C=2, S=[9, 13], size=(17, 5), mode="bilinear", align_corners=True, fill="both"),
        dict(N=1, C=2, S=[9, 13], size=(17, 5), mode="bicubic", align_corners=True),
        dict(N=1, C=2, S=[9, 13], scale_factor=(1.3, 0.7), mode="bicubic"),
        dict(N=1, C=2, S=[3, 5, 4], size=[7, 5, 2], mode="trilinear"),
        dict(N=1, C=1, S=[1025], size=700, mode="linear"),
        dict(N=2, C=1, S=[10], scale_factor=0.35, mode="nearest"),
        dict(N=1, C=1, S=[7, 10], size=(3, 15), mode="nearest-exact"),
        dict(N=1, C=3, S=[10, 7], size=(4, 9), mode="area"),
        dict(N=1, C=1, S=[4, 4], mode="bilinear", raises=ValueError),
        dict(N=1, C=1, S=[4, 4], size=2, scale_factor=0.5, raises=ValueError),
        dict(N=1, C=1, S=[4, 4], size=2, align_corners=True, raises=ValueError),
    ],
    sizes={
        "512": dict(N=2, C=3, S=[256, 256], size=(512, 512), mode="bilinear", align_corners=False),
        "2k": dict(N=16, C=3, S=[1024, 1024], size=(2048, 2048), mode="bilinear", align_corners=False),
        "bicubic": dict(N=16, C=3, S=[512, 512], scale_factor=2.0, mode="bicubic", align_corners=False),
    },
)
def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return torch.nn.functional.interpolate(input, size, scale_factor, mode, align_corners)
