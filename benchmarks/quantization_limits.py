"""The errors that quantization itself makes: the table from which `judge/quantized.py` has its limits.

Simulates, in float64 with exact integer sums, honest and broken ways to quantize the operations of the six tasks, on
standard normal inputs and on inputs with outliers (0.1 % of the elements 50 times as large, and 1 % 10 times), and
prints cosine, relative L1, relative RMSE, the worst 16 x 16 tile and the worst element (both over the root mean
square of the output). Run it with `python benchmarks/quantization_limits.py [--broken]`; it takes a few seconds.
"""

import argparse
import math
from collections.abc import Callable

import torch
from torch import Tensor

from pytest_kernelbenchx.judge.quantized import measure

Scheme = Callable[[Tensor, int], Tensor]
FILLS = {"standard": (0.0, 1.0), "0.1% x50": (1e-3, 50.0), "1% x10": (1e-2, 10.0)}


def draw(shape: tuple[int, ...], fill: str, seed: int) -> Tensor:
    """Normal data with the fill's share of outliers, at least one of them."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(shape, generator=generator, dtype=torch.float64)
    share, factor = FILLS[fill]
    hit = torch.rand(shape, generator=generator) < share
    if share and not hit.any():
        hit.view(-1)[int(torch.randint(hit.numel(), (1,), generator=generator))] = True
    return torch.where(hit, factor * values, values)


def half_away(x: Tensor) -> Tensor:
    return x.sign() * (x.abs() + 0.5).floor()


def quantize(
    x: Tensor,
    dim: int | None,
    *,
    bits: int = 8,
    group: int = 0,
    rounding: Callable[[Tensor], Tensor] = torch.round,
    asymmetric: bool = False,
    full: bool = False,
) -> Tensor:
    """The values that x stands for after quantization: one scale per slice along `dim` (None: one in all).

    `group` splits `dim` into groups of that length, `full` uses -8..7 with the scale amax / 7.5.
    """
    if dim is None:
        return _levels(x.flatten(), bits, rounding, asymmetric, full).reshape(x.shape)
    moved = x.movedim(dim, -1)
    length = moved.shape[-1]
    if not group or group >= length:
        return _levels(moved, bits, rounding, asymmetric, full).movedim(-1, dim)
    padded = torch.nn.functional.pad(moved, (0, -length % group)).unflatten(-1, (-1, group))
    return _levels(padded, bits, rounding, asymmetric, full).flatten(-2)[..., :length].movedim(-1, dim)


def _levels(x: Tensor, bits: int, rounding: Callable, asymmetric: bool, full: bool) -> Tensor:
    top = 2 ** (bits - 1) - 1
    if asymmetric:
        low, high = x.amin(-1, keepdim=True).clamp(max=0), x.amax(-1, keepdim=True).clamp(min=0)
        scale = ((high - low) / (2 * top + 1)).clamp(min=1e-30)
        zero = torch.round(-low / scale)
        return ((rounding(x / scale) + zero).clamp(0, 2 * top + 1) - zero) * scale
    scale = (x.abs().amax(-1, keepdim=True) / (top + 0.5 * full)).clamp(min=1e-30)
    return rounding(x / scale).clamp(-top - full, top) * scale


HONEST: dict[str, dict] = {
    "per tensor": {"dim": None},
    "per row": {},
    "per row, half away": {"rounding": half_away},
    "per row, asymmetric": {"asymmetric": True},
    "per row, truncated": {"rounding": torch.trunc},
    "group 128": {"group": 128},
    "group 64": {"group": 64},
    "group 32": {"group": 32},
    "group 32, asymmetric": {"group": 32, "asymmetric": True},
}


def matmul(scheme: dict, fill: str, m: int, k: int, n: int, batch: int = 1) -> tuple[Tensor, Tensor]:
    """Both operands along K; per row of the first, per column of the second."""
    a, b = draw((batch, m, k), fill, 1), draw((batch, k, n), fill, 2)
    return quantize(a, **{"dim": -1, **scheme}) @ quantize(b, **{"dim": -2, **scheme}), a @ b


def weight_only(scheme: dict, fill: str, m: int, k: int, n: int, bits: int = 8) -> tuple[Tensor, Tensor]:
    a, b = draw((m, k), fill, 1), draw((n, k), fill, 2)
    return a @ quantize(b, **{"dim": -1, "bits": bits, **scheme}).mT, a @ b.mT


def w4a16(scheme: dict, fill: str, m: int, k: int, n: int) -> tuple[Tensor, Tensor]:
    a, b = draw((m, k), fill, 1).half().double(), draw((n, k), fill, 2).half().double()
    return (a @ quantize(b, **{"dim": -1, "bits": 4, **scheme}).mT).half().double(), a @ b.mT


def conv2d(scheme: dict, fill: str, n: int, c: int, size: int, out: int, kernel: int) -> tuple[Tensor, Tensor]:
    """The input has one scale per image (its reduction runs over windows), the weight one per filter."""
    x, w = draw((n, c, size, size), fill, 1), draw((out, c, kernel, kernel), fill, 2)
    per = {key: value for key, value in scheme.items() if key not in ("dim", "group")}
    if scheme.get("dim", 0) is None:
        qx, qw = quantize(x, None, **per), quantize(w, None, **per)
    elif scheme.get("group"):  # a scale per pixel: groups of channels
        qx = quantize(x, 1, **{"group": scheme["group"], **per})
        qw = quantize(w.flatten(1), 1, **{"group": scheme["group"], **per}).reshape(w.shape)
    else:
        qx = quantize(x.flatten(1), 1, **per).reshape(x.shape)
        qw = quantize(w.flatten(1), 1, **per).reshape(w.shape)
    run = torch.nn.functional.conv2d
    return run(qx, qw, padding=1), run(x, w, padding=1)


def layernorm(scheme: dict, fill: str, rows: int, n: int, affine: bool = True) -> tuple[Tensor, Tensor]:
    x = draw((rows, n), fill, 1)
    weight, bias = (draw((n,), fill, 2), draw((n,), fill, 3)) if affine else (None, None)
    quantized = quantize(weight, **{"dim": -1, **scheme}) if affine else None
    run = torch.nn.functional.layer_norm
    return run(quantize(x, **{"dim": -1, **scheme}), (n,), quantized, bias), run(x, (n,), weight, bias)


def attention(scheme: dict, fill: str, b: int, s: int, d: int, p: bool = False) -> tuple[Tensor, Tensor]:
    """q, k, v in int8 (v along the keys), the probabilities too if `p`."""
    q, k, v = (draw((b, s, d), fill, i) for i in (1, 2, 3))

    def run(q: Tensor, k: Tensor, v: Tensor, step: bool) -> Tensor:
        weights = torch.exp((q @ k.mT / math.sqrt(d)) - (q @ k.mT / math.sqrt(d)).amax(-1, keepdim=True))
        low = torch.round(127 * weights) / 127 if step else weights
        return low @ v / weights.sum(-1, keepdim=True)

    per = {"dim": -1, **scheme}
    along_keys = {"dim": -2, **scheme}
    return run(quantize(q, **per), quantize(k, **per), quantize(v, **along_keys), p), run(q, k, v, False)


OPERATIONS: dict[str, Callable[[dict, str], tuple[Tensor, Tensor]]] = {
    "matmul 33x64x48": lambda s, f: matmul(s, f, 33, 64, 48),
    "matmul 128x256x64": lambda s, f: matmul(s, f, 128, 256, 64),
    "matmul 64x2048x128": lambda s, f: matmul(s, f, 64, 2048, 128),
    "bmm 4x32x64x48": lambda s, f: matmul(s, f, 32, 64, 48, batch=4),
    "bmm 2x64x257x31": lambda s, f: matmul(s, f, 64, 257, 31, batch=2),
    "weight only 64x256x64": lambda s, f: weight_only(s, f, 64, 256, 64),
    "w4a16 32x64x48": lambda s, f: w4a16(s, f, 32, 64, 48),
    "w4a16 8x512x128": lambda s, f: w4a16(s, f, 8, 512, 128),
    "w4a16 33x2048x64": lambda s, f: w4a16(s, f, 33, 2048, 64),
    "conv2d 2x8x16 3x3": lambda s, f: conv2d(s, f, 2, 8, 16, 16, 3),
    "conv2d 2x64x14 3x3": lambda s, f: conv2d(s, f, 2, 64, 14, 32, 3),
    "conv2d 1x128x9 1x1": lambda s, f: conv2d(s, f, 1, 128, 9, 64, 1),
    "layernorm 32x64": lambda s, f: layernorm(s, f, 32, 64),
    "layernorm 16x1024": lambda s, f: layernorm(s, f, 16, 1024),
    "layernorm 16x257 plain": lambda s, f: layernorm(s, f, 16, 257, affine=False),
    "attention 2x64x32": lambda s, f: attention(s, f, 2, 64, 32),
    "attention 1x257x64": lambda s, f: attention(s, f, 1, 257, 64),
    "attention 1x257x64 P8": lambda s, f: attention(s, f, 1, 257, 64, p=True),
}


def broken(kind: str, bits: int = 8) -> tuple[Tensor, Tensor]:
    """Results of mistakes, on standard data: 64 x 256 times 256 x 48."""
    a, b = draw((64, 256), "standard", 1), draw((256, 48), "standard", 2)
    truth = a @ b
    top = 2 ** (bits - 1) - 1
    sa, sb = a.abs().amax(1, keepdim=True) / top, b.abs().amax(0, keepdim=True) / top
    qa, qb = torch.round(a / sa), torch.round(b / sb)
    if bits == 4:  # activations stay as they are
        qa = a / sa
    wrap = torch.remainder(qa @ qb + 128, 256) - 128
    pairs = qb.reshape(128, 2, 48).flip(1).reshape(256, 48)

    def lower(x: Tensor, scale: Tensor, rounding: Callable[[Tensor], Tensor]) -> Tensor:
        return rounding(x / scale) * scale if bits == 8 else x

    results = {
        "int8 sums": wrap * sa * sb,
        "nibbles swapped": qa @ pairs * sa * sb,
        "nibbles unsigned": a @ (torch.remainder(qb, 2 * top + 2) * sb),
        "nibbles biased by one": a @ ((qb - 1) * sb),
        "scale of the wrong operand": qa @ qb * sa * sa[:1],
        "scale along the wrong axis": qa @ qb * sa * sb.flip(1),
        "rows' scales shifted by one": qa @ qb * sa.roll(1, 0) * sb,
        "scale of the first row for all": (qa @ qb) * sa[0] * sb,
        "scale 1/128 in one place": qa @ qb * sa * sb * 127 / 128,
        "scale left out": qa @ qb * sa,
        "floor instead of rounding": lower(a, sa, torch.floor) @ (torch.floor(b / sb) * sb),
        "truncated": lower(a, sa, torch.trunc) @ (torch.trunc(b / sb) * sb),
        "wraps at half of amax": a @ ((torch.remainder(2 * qb + top + 1, 2 * top + 2) - top - 1) * sb / 2),
        "two bits lost": (quantize(a, 1, bits=6) if bits == 8 else a) @ quantize(b, 0, bits=bits - 2),
        "last block of K left out": qa[:, :224] @ qb[:224] * sa * sb,
        "full precision": truth.float().double(),
        "bfloat16": (a.bfloat16().double() @ b.bfloat16().double()),
        "tf32-like (10 bits)": a.half().double() @ b.half().double(),
    }
    return results[kind], truth


BROKEN = [
    "int8 sums", "nibbles swapped", "nibbles unsigned", "nibbles biased by one", "scale of the wrong operand",
    "scale along the wrong axis", "rows' scales shifted by one", "scale of the first row for all",
    "scale 1/128 in one place", "scale left out", "floor instead of rounding", "truncated",
    "wraps at half of amax", "two bits lost", "last block of K left out", "full precision", "bfloat16",
    "tf32-like (10 bits)",
]  # fmt: skip


def line(first: str, second: str, fill: str, got: Tensor, truth: Tensor) -> str:
    facts = measure(got, truth)
    numbers = [facts[key] for key in ("cosine", "relative_l1", "relative_rmse", "worst_tile", "worst_element")]
    return f"{first:24} {second:30} {fill:9} " + " ".join(f"{number:9.5f}" for number in numbers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--broken", action="store_true", help="only the broken schemes")
    options = parser.parse_args()
    columns = " ".join(f"{name:>9}" for name in ("cosine", "rel. L1", "rel. RMSE", "tile", "element"))
    print(f"{'operation':24} {'scheme':30} {'fill':9} {columns}")
    for operation, run in {} if options.broken else OPERATIONS.items():
        for scheme, how in HONEST.items():
            for fill in FILLS:
                print(line(operation, scheme, fill, *run(how, fill)))
    for bits in (8, 4):
        for kind in BROKEN:
            print(line(f"broken, int{bits}", kind, "standard", *broken(kind, bits)))


if __name__ == "__main__":
    main()
