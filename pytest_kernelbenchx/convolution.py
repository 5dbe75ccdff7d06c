"""What tasks with a convolution of images declare alike.

    case = convolution.case

    @task(
        **convolution.TASK,
        options={**convolution.options(), "negative_slope": (0.01, 0.5, -0.25)},
        examples=[case(C=3, F=6, H=8, W=8, KH=3, KW=3, stride=2, padding=1, bias=True)],
        sizes={"14": case(N=64, C=512, F=1024, H=14, W=14, KH=3, KW=3, bias=True)},
    )

The axes are those of the output, [N, G * F, OH, OW], and of the filters, [G * F, C, KH, KW], in G groups; then what
the options say: strides SY and SX, dilations DY and DX, rows TY and columns TX of padding (both sides together), and
SAME, 1 where the padding is "same"; last RY and RX, rows and columns at the end that no filter reaches. Height and
width of the input follow from them. `case` goes the other way: from the input's H x W and the options to these axes.
"""

from collections.abc import Callable
from typing import Any

from pytest_kernelbenchx import fills

SIDES = (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33)
HEIGHT = "OH * SY - SY + KH * DY - DY + 1 + RY - TY"
WIDTH = "OW * SX - SX + KW * DX - DX + 1 + RX - TX"

INPUT = f"f32[N, G * C, {HEIGHT}, {WIDTH}]"
WEIGHT = "f32[G * F, C, KH, KW]"
BIAS = "f32[G * F] | None"
INPUTS = {"input": INPUT, "weight": WEIGHT, "bias": BIAS}
OUTPUT = "f32[N, G * F, OH, OW]"

AXES: dict[str, Any] = {
    "N": (1, 2, 3),
    "G": (1, 1, 2, 3),
    **{"F": SIDES, "C": SIDES, "OH": SIDES, "OW": SIDES, "KH": (1, 2, 3, 5), "KW": (1, 2, 3, 4)},
    "SAME": (0, 0, 0, 1),
    "SY": lambda SAME: (1,) if SAME else (1, 2),
    "SX": lambda SAME: (1,) if SAME else (1, 1, 3),
    **{"DY": (1, 2), "DX": (1, 1, 2)},
    "TY": lambda SAME, KH, DY: (DY * (KH - 1),) if SAME else (0, 2, 4),
    "TX": lambda SAME, KW, DX: (DX * (KW - 1),) if SAME else (0, 2),
    "RY": lambda SY: range(SY),
    "RX": lambda SX: range(SX),
}


def fits(OH: int, OW: int, KH: int, KW: int, SY: int, SX: int, DY: int, DX: int, TY: int, TX: int) -> bool:
    """Whether the padding leaves rows and columns for the input."""
    return (OH - 1) * SY + (KH - 1) * DY >= TY and (OW - 1) * SX + (KW - 1) * DX >= TX


def sees(
    OH: int, OW: int, KH: int, KW: int, SY: int, SX: int, DY: int, DX: int, TY: int, TX: int, RY: int, RX: int
) -> bool:
    """Whether every output sees the input: where only padding is seen, a norm over the result says nothing."""
    return _sees(OH, KH, SY, DY, TY, RY) and _sees(OW, KW, SX, DX, TX, RX)


def _sees(outputs: int, taps: int, stride: int, dilation: int, padding: int, rest: int) -> bool:
    length = (outputs - 1) * stride + (taps - 1) * dilation + 1 + rest - padding
    reached = ([o * stride + k * dilation - padding // 2 for k in range(taps)] for o in range(outputs))
    return all(any(0 <= place < length for place in places) for places in reached)


def written(vertical: int, horizontal: int) -> list[Any]:
    """The ways to write a pair: also as one integer where the two are equal."""
    return [(vertical, horizontal), *([vertical] if vertical == horizontal else [])]


def options(prefix: str = "") -> dict[str, Callable[..., list[Any]]]:
    """The options stride, padding, dilation and groups, whose names begin with `prefix`."""
    drawn_from: dict[str, Callable[..., list[Any]]] = {
        "stride": lambda SY, SX: written(SY, SX),
        "padding": lambda SAME, TY, TX: ["same"] if SAME else written(TY // 2, TX // 2) + ["valid"] * (TY + TX == 0),
        "dilation": lambda DY, DX: written(DY, DX),
        "groups": lambda G: [G],
    }
    return {prefix + name: values for name, values in drawn_from.items()}


def flops(N: int, G: int, F: int, C: int, OH: int, OW: int, KH: int, KW: int) -> dict[str, int]:
    """A multiplication and an addition for every weight of every output."""
    return {"tensor": 2 * N * G * F * OH * OW * C * KH * KW}


VARIED = dict.fromkeys(("input", "weight"), fills.normal())
"""A fill where a norm over the result follows: if zeros or one value alone make it constant, the norm is rounding."""
TASK: dict[str, Any] = dict(inputs=INPUTS, output=OUTPUT, axes=AXES, where=fits, flops=flops)


def case(H: int, W: int, KH: int = 1, KW: int = 1, *, prefix: str = "", **given: Any) -> dict[str, Any]:
    """An example or a size, of H x W pixels: `given` (axes, options as they are passed, fill, ...) and the other axes.

    Axes that are not given are 1, but for G, which is the option `groups`; `prefix` is that of the options.
    """

    def pair(name: str, default: int) -> tuple[int, int]:
        value = given.get(prefix + name, default)
        return (value, value) if isinstance(value, int) else value

    (SY, SX), (DY, DX) = pair("stride", 1), pair("dilation", 1)
    rows, columns = DY * (KH - 1), DX * (KW - 1)
    padding = given.get(prefix + "padding", 0)
    same = padding == "same"
    TY, TX = (rows, columns) if same else (0, 0) if padding == "valid" else (2 * n for n in pair("padding", 0))
    (OH, RY), (OW, RX) = divmod(H + TY - rows - 1, SY), divmod(W + TX - columns - 1, SX)
    axes = dict(N=1, G=given.get(prefix + "groups", 1), F=1, C=1, OH=OH + 1, OW=OW + 1, KH=KH, KW=KW, SAME=int(same))
    return axes | dict(SY=SY, SX=SX, DY=DY, DX=DX, TY=TY, TX=TX, RY=RY, RX=RX) | given
