"""Kernels of one expression each, run in Triton's interpreter and compared with PyTorch in float64.

Run as a script with TRITON_INTERPRET=1: `python interpreter_table.py DIRECTORY [unrepaired]`, or with `cuda` instead
and without the variable, to see that a GPU agrees with the table. The kernels' source is written to DIRECTORY (Triton
reads it back) and one JSON object, name -> "" or what is wrong, goes to standard output.
"""

import importlib
import json
import sys
from pathlib import Path

import torch
import triton

N = 64
HEAD = """import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language import exp as imported_exp


@triton.jit
def product(left, right):
    return left * right


@triton.jit
def affine(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1

"""
KERNEL = """
@triton.jit
def {name}(A, B, O, n, scale, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(A + i)
    b = tl.load(B + i)
    m = tl.reshape(a, (8, 8))
    w = tl.reshape(b, (8, 8))
    r = {expression}
    tl.store(O + i, tl.reshape(r + tl.zeros(r.shape, r.dtype), (N,)))
"""
F32, F16, BF16, I32, I8 = torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int8


def rows(x):
    return x.reshape(8, 8)


def keep(x):
    return x.reshape(8, 1).expand(8, 8)


def trunc(x):
    bits = x.float().view(torch.int32) & ~0x1FFF
    return bits.view(torch.float32).double()


def c_div(a, b):
    return torch.div(a.double(), b.double(), rounding_mode="trunc").to(a.dtype)


def sort(x, **options):
    return torch.sort(rows(x), 1, **options).values


def high_half(a, b):
    products = [(x * y) >> 32 for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    return torch.tensor(products).to(I32)


def reference(name, prepare):
    function = getattr(torch, name)
    return lambda a, b: function(prepare(a))


# name: (dtype of a and b, expression, reference given a and b in their dtype, dtype of the result, relative tolerance)
CASES = {
    # 16-bit and 8-bit floats: one rounding per operation
    "bf16_add": (BF16, "a + b", lambda a, b: a + b, BF16, 0),
    "bf16_sub": (BF16, "a - b", lambda a, b: a - b, BF16, 0),
    "bf16_mul": (BF16, "a * b", lambda a, b: a * b, BF16, 0),
    "bf16_div": (BF16, "a / b", lambda a, b: a.float() / b.float(), F32, 1e-6),
    "bf16_neg": (BF16, "-a", lambda a, b: -a, BF16, 0),
    "bf16_abs": (BF16, "tl.abs(a)", lambda a, b: a.abs(), BF16, 0),
    "bf16_less": (BF16, "(a < b).to(tl.int32)", lambda a, b: (a < b).int(), I32, 0),
    "bf16_where": (BF16, "tl.where(a > b, a, b * 2)", lambda a, b: torch.where(a > b, a, b * 2), BF16, 0),
    "bf16_max": (BF16, "tl.max(a) + tl.zeros((N,), tl.float32)", lambda a, b: a.max().float().expand(N), F32, 0),
    "bf16_maximum": (BF16, "tl.maximum(a, b)", lambda a, b: torch.maximum(a, b), BF16, 0),
    "bf16_sum": (BF16, "tl.sum(m.to(tl.float32), 1, keep_dims=True) + tl.zeros((8, 8), tl.float32)",
                 lambda a, b: keep(rows(a).float().sum(1)), F32, 1e-6),
    "bf16_sum_narrow": (BF16, "tl.sum(m, 1, keep_dims=True) + tl.zeros((8, 8), tl.bfloat16)",
                        lambda a, b: keep(rows(a).double().sum(1)), BF16, 0.02),
    "bf16_argmax": (BF16, "tl.argmax(a, 0) + tl.zeros((N,), tl.int32)",
                    lambda a, b: a.argmax().int().expand(N), I32, 0),
    "bf16_cumsum": (BF16, "tl.cumsum(a, 0)", lambda a, b: a.double().cumsum(0), F32, 0.1),  # Triton 3.9 adds in bf16
    "bf16_dot": (BF16, "tl.sum(tl.dot(tl.reshape(a, (4, 16)), tl.reshape(b, (16, 4)))) + tl.zeros((N,), tl.float32)",
                 lambda a, b: (a.double().reshape(4, 16) @ b.double().reshape(16, 4)).sum().expand(N), F32, 1e-5),
    "bf16_from_f32": (F32, "(a * 1.001).to(tl.bfloat16)", lambda a, b: (a * 1.001).bfloat16(), BF16, 0),
    "bf16_from_f16": (F16, "a.to(tl.bfloat16)", lambda a, b: a.bfloat16(), BF16, 0),
    "bf16_to_f16": (BF16, "a.to(tl.float16)", lambda a, b: a.half(), F16, 0),
    "bf16_from_int": (I32, "(a * 1001).to(tl.bfloat16)", lambda a, b: (a * 1001).bfloat16(), BF16, 0),
    "bf16_to_int": (BF16, "(a * 100).to(tl.int32)", lambda a, b: (a * 100).int(), I32, 0),
    "bf16_bits": (BF16, "a.to(tl.int16, bitcast=True).to(tl.int32)", lambda a, b: a.view(torch.int16).int(), I32, 0),
    "bf16_of_bits": (BF16, "(a.to(tl.int16, bitcast=True) ^ -32768).to(tl.bfloat16, bitcast=True)",
                     lambda a, b: -a, BF16, 0),
    "bf16_full": (BF16, "a + tl.full((N,), 1.5, tl.bfloat16)", lambda a, b: a + 1.5, BF16, 0),
    "bf16_constant": (BF16, "a * 0.3", lambda a, b: a * torch.tensor(0.3, dtype=BF16), BF16, 0),
    "bf16_toward_zero": (F32, "tl.cast(a, tl.bfloat16, fp_downcast_rounding='rtz')",
                         lambda a, b: (a.view(I32) & -65536).view(F32), BF16, 0),
    "bf16_masked": (BF16, "tl.load(A + i, mask=i < n - 54, other=1.5)",
                    lambda a, b: torch.where(torch.arange(N) < 10, a, torch.tensor(1.5, dtype=BF16)), BF16, 0),
    "bf16_scan": (BF16, "tl.associative_scan((a / a).to(tl.bfloat16), 0, product)", lambda a, b: a / a, BF16, 0),
    "f16_add": (F16, "a + b", lambda a, b: a + b, F16, 0),
    "f16_sum": (F16, "tl.sum(m, 1, keep_dims=True) + tl.zeros((8, 8), tl.float16)",
                lambda a, b: keep(rows(a).double().sum(1)), F16, 3e-3),
    "f16_dot": (F16, "tl.sum(tl.dot(tl.reshape(a, (4, 16)), tl.reshape(b, (16, 4)))) + tl.zeros((N,), tl.float32)",
                lambda a, b: (a.double().reshape(4, 16) @ b.double().reshape(16, 4)).sum().expand(N), F32, 1e-5),
    "f16_scalar": (F16, "a * scale", lambda a, b: a.float() * 0.3, F32, 1e-6),
    "e4m3_round": (F32, "a.to(tl.float8e4nv).to(tl.float32)", lambda a, b: a.to(torch.float8_e4m3fn).float(), F32, 0),
    "e4m3_saturates": (F32, "(a * 1e6).to(tl.float8e4nv).to(tl.float32)", lambda a, b: torch.sign(a) * 448, F32, 0),
    "e5m2_round": (F32, "a.to(tl.float8e5).to(tl.float32)", lambda a, b: a.to(torch.float8_e5m2).float(), F32, 0),
    "e5m2_bits": (F32, "a.to(tl.float8e5).to(tl.int8, bitcast=True).to(tl.int32)",
                  lambda a, b: a.to(torch.float8_e5m2).view(I8).int(), I32, 0),
    "e4m3_bits": (F32, "(a * 0.001).to(tl.float8e4nv).to(tl.int8, bitcast=True).to(tl.int32)",
                  lambda a, b: (a * 0.001).to(torch.float8_e4m3fn).view(I8).int(), I32, 0),
    # float32 functions
    **{f"f32_{name}": (F32, f"tl.{name}(tl.abs(a) + 0.1)",
                       reference(name, lambda a: a.double().abs() + 0.1), F32, 2e-6)
       for name in ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "erf", "sigmoid", "floor", "ceil")},
    "f32_imported": (F32, "imported_exp(a)", lambda a, b: a.double().exp(), F32, 1e-6),
    "f32_softmax": (F32, "tl.softmax(a)", lambda a, b: torch.softmax(a.double(), 0), F32, 1e-5),
    "f32_fma": (F32, "tl.fma(a, b, a)", lambda a, b: a.double() * b.double() + a.double(), F32, 2e-7),
    "f32_div_rn": (F32, "tl.div_rn(a, b)", lambda a, b: a / b, F32, 0),
    "f32_fdiv": (F32, "tl.fdiv(a, b)", lambda a, b: a / b, F32, 1e-6),
    "f32_mod": (F32, "a % b", lambda a, b: torch.fmod(a, b), F32, 0),
    "f32_clamp": (F32, "tl.clamp(a, -0.5, 0.5)", lambda a, b: a.clamp(-0.5, 0.5), F32, 0),
    "f32_nan_maximum": (F32, "tl.maximum(tl.where(a > 0, float('nan'), a), b)",
                        lambda a, b: torch.where(a > 0, b, torch.maximum(a, b)), F32, 0),
    "f32_nan_kept": (F32, "tl.maximum(tl.where(a > 0, float('nan'), a), b, propagate_nan=tl.PropagateNan.ALL)",
                     lambda a, b: torch.where(a > 0, torch.nan, torch.maximum(a, b)), F32, 0),
    "f32_nan_max": (F32, "tl.max(tl.where(a > 0, float('nan'), a)) + tl.zeros((N,), tl.float32)",
                    lambda a, b: a[a <= 0].max().expand(N), F32, 0),
    "f32_nan_compare": (F32, "(tl.where(a > 0, float('nan'), a) != b).to(tl.int32)",
                        lambda a, b: (a != b).int(), I32, 0),
    "f32_argmin": (F32, "tl.argmin(m, 1, keep_dims=True) + tl.zeros((8, 8), tl.int32)",
                   lambda a, b: keep(rows(a).argmin(1).int()), I32, 0),
    "f32_negative_axis": (F32, "tl.reduce(m, -1, product, keep_dims=True) + tl.zeros((8, 8), tl.float32)",
                          lambda a, b: keep(rows(a).double().prod(1)), F32, 1e-6),
    "f32_cumprod": (F32, "tl.cumprod(m, 1)", lambda a, b: rows(a).double().cumprod(1), F32, 1e-5),
    "f32_reverse_cumsum": (F32, "tl.cumsum(a, 0, reverse=True)",
                           lambda a, b: a.double().flip(0).cumsum(0).flip(0), F32, 1e-5),
    "f32_reduce_all": (F32, "tl.reduce(m, None, product) + tl.zeros((N,), tl.float32)",
                       lambda a, b: a.double().prod().expand(N), F32, 1e-4),
    "f32_tf32": (F32, "tl.sum(tl.dot(tl.reshape(a, (4, 16)), tl.reshape(b, (16, 4)))) + tl.zeros((N,), tl.float32)",
                 lambda a, b: (trunc(a).reshape(4, 16) @ trunc(b).reshape(16, 4)).sum().expand(N), F32, 1e-5),
    "f32_ieee": (F32, "tl.sum(tl.dot(tl.reshape(a, (4, 16)), tl.reshape(b, (16, 4)), input_precision='ieee'))"
                 " + tl.zeros((N,), tl.float32)",
                 lambda a, b: (a.double().reshape(4, 16) @ b.double().reshape(16, 4)).sum().expand(N), F32, 1e-5),
    "f32_to_int": (F32, "(a * 1e12).to(tl.int32)", lambda a, b: (a * 1e12).double().clamp(-(2**31), 2**31 - 1).int(),
                   I32, 0),
    "f32_to_i8": (F32, "(a * 30).to(tl.int8)", lambda a, b: (a * 30).to(I8), I8, 0),
    "f32_nan_to_int": (F32, "tl.where(a > 0, float('nan'), a).to(tl.int32)",
                       lambda a, b: torch.where(a > 0, 0, a).int(), I32, 0),
    "f32_sort": (F32, "tl.sort(m, 1)", lambda a, b: sort(a), F32, 0),
    "f32_sort_down": (F32, "tl.sort(m, 1, descending=True)", lambda a, b: sort(a, descending=True), F32, 0),
    "f32_topk": (F32, "tl.broadcast_to(tl.sum(tl.topk(m, 2, 1), 1, keep_dims=True), (8, 8))",
                 lambda a, b: keep(torch.topk(rows(a), 2, 1).values.sum(1)), F32, 1e-6),
    "f32_flip": (F32, "tl.flip(m, 1)", lambda a, b: rows(a).flip(1), F32, 0),
    "f32_gather": (F32, "tl.gather(a, 63 - i, 0)", lambda a, b: a.flip(0), F32, 0),
    "f32_trans": (F32, "tl.trans(m)", lambda a, b: rows(a).T, F32, 0),
    "f32_permute": (F32, "tl.permute(m, (1, 0))", lambda a, b: rows(a).T, F32, 0),
    "f32_joined": (F32, "tl.sum(tl.join(a, b), 1)", lambda a, b: a + b, F32, 0),
    "f32_split": (F32, "tl.join(tl.reshape(a, (32, 2)).split()[1], tl.reshape(a, (32, 2)).split()[0])",
                  lambda a, b: a.reshape(32, 2).flip(1), F32, 0),
    "f32_interleave": (F32, "tl.sum(tl.reshape(tl.interleave(a, b), (N, 2)), 1)", lambda a, b: a + b, F32, 0),
    # integers
    "i32_floordiv": (I32, "a // (b | 1)", lambda a, b: c_div(a, b | 1), I32, 0),
    "i32_mod": (I32, "a % (b | 1)", lambda a, b: torch.fmod(a, b | 1), I32, 0),
    "i32_cdiv": (I32, "tl.cdiv(tl.abs(a), 7)", lambda a, b: (a.abs() + 6) // 7, I32, 0),
    "i32_wrap": (I32, "a * 1000003", lambda a, b: (a.long() * 1000003).to(I32), I32, 0),
    "i32_sum_wrap": (I32, "tl.sum(a * 1000003) + tl.zeros((N,), tl.int32)",
                     lambda a, b: ((a.long() * 1000003).to(I32).long().sum()).to(I32).expand(N), I32, 0),
    "i32_shift": (I32, "a >> 3", lambda a, b: a >> 3, I32, 0),
    "i32_shift_unsigned": (I32, "(a.to(tl.uint32) >> 3).to(tl.int32)",
                           lambda a, b: ((a.long() & 0xFFFFFFFF) >> 3).to(I32), I32, 0),
    "i32_umulhi": (I32, "tl.umulhi(a.to(tl.uint32), b.to(tl.uint32)).to(tl.int32)",
                   lambda a, b: high_half(a.long() & 0xFFFFFFFF, b.long() & 0xFFFFFFFF), I32, 0),
    "i32_xor_sum": (I32, "tl.xor_sum(a, 0) + tl.zeros((N,), tl.int32)",
                    lambda a, b: torch.tensor(xor(a.tolist()), dtype=I32).expand(N), I32, 0),
    "i32_histogram": (I32, "tl.histogram(tl.abs(a) % 64, N)",
                      lambda a, b: torch.bincount(a.abs() % 64, minlength=N).int(), I32, 0),
    "i32_true_division": (I32, "a / 7", lambda a, b: a.double() / 7, F32, 1e-6),
    "i8_wrap": (I8, "a + b", lambda a, b: a + b, I8, 0),
    "i8_dot": (I8, "tl.sum(tl.dot(tl.reshape(a, (2, 32)), tl.reshape(b, (32, 2)), out_dtype=tl.int32))"
               " + tl.zeros((N,), tl.int32)",
               lambda a, b: (a.int().reshape(2, 32) @ b.int().reshape(32, 2)).sum().int().expand(N), I32, 0),
    "i8_sum": (I8, "tl.sum(a) + tl.zeros((N,), tl.int32)", lambda a, b: a.int().sum().int().expand(N), I32, 0),
    "bool_sum": (F32, "tl.sum((a > 0).to(tl.int32)) + tl.zeros((N,), tl.int32)",
                 lambda a, b: (a > 0).sum().int().expand(N), I32, 0),
    # Python inside a kernel
    "py_and": (F32, "tl.where((a > 0) and (b > 0), a, b)", lambda a, b: torch.where((a > 0) & (b > 0), a, b), F32, 0),
    "py_or": (F32, "tl.where((a > 0) or (b > 0), a, b)", lambda a, b: torch.where((a > 0) | (b > 0), a, b), F32, 0),
    "py_not": (F32, "tl.where(not (a > 0), a, b)", lambda a, b: torch.where(a > 0, b, a), F32, 0),
    "py_max": (F32, "max(a, 0.0)", lambda a, b: a.relu(), F32, 0),
    "py_min": (F32, "min(a, b)", lambda a, b: torch.minimum(a, b), F32, 0),
    # libdevice
    **{f"lib_{name}": (F32, f"libdevice.{name}(a * 0.3)",
                       reference(name, lambda a: (a * 0.3).double()), F32, 1e-6)
       for name in ("tanh", "sinh", "cosh", "asin", "acos", "atan", "expm1", "log1p", "erf", "erfc", "erfinv", "exp",
                    "lgamma", "round", "trunc", "tan", "atanh", "asinh")},
    "lib_pow": (F32, "libdevice.pow(tl.abs(a), b)", lambda a, b: a.double().abs() ** b.double(), F32, 1e-6),
    "lib_rsqrt": (F32, "libdevice.rsqrt(tl.abs(a))", lambda a, b: a.double().abs().rsqrt(), F32, 1e-6),
    "lib_j0": (F32, "libdevice.j0(a)", lambda a, b: torch.special.bessel_j0(a.double()), F32, 1e-5),
    "lib_fmod": (F32, "libdevice.fmod(a, b)", lambda a, b: torch.fmod(a, b), F32, 0),
    "lib_isnan": (F32, "libdevice.isnan(tl.where(a > 0, float('nan'), a)).to(tl.int32)",
                  lambda a, b: (a > 0).int(), I32, 0),
    "lib_full_path": (F32, "tl.extra.cuda.libdevice.tanh(a)", lambda a, b: a.double().tanh(), F32, 1e-6),
}


def xor(values):
    result = 0
    for value in values:
        result ^= value
    return result


def operands(dtype):
    generator = torch.Generator().manual_seed(7)
    if dtype in (I32, I8):
        high = 2**20 if dtype == I32 else 127
        return [torch.randint(-high, high, (N,), generator=generator).to(dtype) for _ in range(2)]
    return [torch.randn(N, generator=generator).to(dtype) for _ in range(2)]


def run(kernels, name):
    dtype, _, reference, result, tolerance = CASES[name]
    a, b = operands(dtype)
    device = "cuda" if "cuda" in sys.argv else "cpu"
    got = torch.zeros(N, dtype=result, device=device)
    getattr(kernels, name)[(1,)](a.to(device), b.to(device), got, N, 0.3, N=N)
    got = got.cpu()
    want = reference(a, b).reshape(-1).to(result if tolerance == 0 else torch.float64)
    if torch.allclose(got.double(), want.double(), rtol=tolerance, atol=tolerance, equal_nan=True):
        return ""
    worst = (got.double() - want.double()).abs().argmax()
    return f"element {worst}: got {got[worst]}, expected {want[worst]}"


def main():
    sys.path.insert(0, sys.argv[1])
    source = HEAD + "".join(KERNEL.format(name=name, expression=case[1]) for name, case in CASES.items())
    Path(sys.argv[1], "table_kernels.py").write_text(source)
    if not {"unrepaired", "cuda"} & set(sys.argv):
        from pytest_kernelbenchx.sandbox.interpreter import repair

        repair()
    kernels = importlib.import_module("table_kernels")
    report = {}
    for name in CASES:
        try:
            report[name] = run(kernels, name)
        except Exception as error:
            report[name] = f"{type(error).__name__}: {error}"
    print(json.dumps({"triton": triton.__version__, "report": report}))


if __name__ == "__main__":
    main()
