"""Launches in the repaired interpreter: grids, loops, tuning, atomics, pointers, and failures and whose they are.

Run as a script with TRITON_INTERPRET=1: prints one JSON object, name -> "" or what is wrong.
"""

import json
import traceback

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from pytest_kernelbenchx.sandbox.interpreter import repair, self_test, unsupported

repair()
repair()
BF16, F32, I32 = torch.bfloat16, torch.float32, torch.int32
HAS_BLOCK_POINTERS = hasattr(triton.runtime.interpreter, "BlockPointerHandle")


@triton.jit
def loops(out, n, start, flag, nothing, B: tl.constexpr):
    total = 0
    for i in range(start, n, 3):
        total += i
    for i in tl.range(n):
        total += i.to(tl.int32)
    for i in tl.static_range(B):
        total += i
    for i in tl.static_range(0, B, step=2):
        total += i
    while total < 1000:
        total *= 2
    if flag and nothing is None:
        total += 1
    assert total < 0, "skipped without debugging"
    tl.device_assert(total < 0, "skipped, too")
    tl.debug_barrier()
    first, second = 0.5, 2
    total = total + (first * second).to(tl.int32)
    tl.store(out, total if n > 5 else 0)


@triton.jit
def own_variables(out, n, N: tl.constexpr):
    for i in range(n):
        value = tl.arange(0, N) + i
        tl.store(out + value, 1.0)
    for _ in range(2):
        for i in range(n):
            value = tl.arange(0, N).to(tl.float32) + i
            tl.store(out + tl.arange(0, N), value)
        value = tl.full((1,), n, tl.int32)
    tl.store(out + N + tl.arange(0, 1), 5.0)


@triton.jit
def escaped(out, n, N: tl.constexpr):
    for i in range(n):
        last = tl.arange(0, N) + i
    tl.store(out + tl.arange(0, N), last)


@triton.jit
def scalars(out, f, big, ratio: tl.float32):
    tl.store(out, f / 2 + ratio)
    tl.store(out + 1, (big * 2 > big).to(tl.float32))
    tl.store(out + 2, (-7) // 2 + tl.cdiv(tl.num_programs(0) + 6, 4))


@triton.jit
def atomics(x, out, order, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    before = tl.atomic_add(out + i // 4, value, mask=i < N - 1)
    tl.store(order + i, before)


@triton.jit
def extremes(x, out, ticket, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    tl.atomic_max(out + i * 0, value)
    tl.atomic_min(out + 1 + i * 0, value)
    old = tl.atomic_xchg(ticket, 5)
    tl.atomic_cas(ticket, 5, old + 7)


@triton.jit
def masked(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside, other=-float("inf")), mask=i < N)


@triton.jit
def recurrence(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def scanned(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    _, result = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, recurrence)
    tl.store(out + i, result)


@triton.jit
def block_pointers(x, out, rows, columns, B: tl.constexpr):
    source = tl.make_block_ptr(x, (rows, columns), (columns, 1), (0, 0), (B, B), (1, 0))
    target = tl.make_block_ptr(out, (rows, columns), (columns, 1), (0, 0), (B, B), (1, 0))
    for _ in range(0, tl.cdiv(columns, B)):
        block = tl.load(source, boundary_check=(0, 1), padding_option="zero")
        tl.store(target, block + block, boundary_check=(0, 1))
        source = tl.advance(source, (0, B))
        target = tl.advance(target, (0, B))


@triton.jit
def descriptors(x, out, rows, columns, B: tl.constexpr):
    source = tl.make_tensor_descriptor(x, (rows, columns), (columns, 1), (B, B))
    target = tl.make_tensor_descriptor(out, (rows, columns), (columns, 1), (B, B))
    for j in range(0, columns, B):
        block = source.load([0, j])
        target.store([0, j], block + block)


@triton.jit
def uniform(out, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.rand(seed, i))
    tl.store(out + N + i, tl.randn(seed, i))


def small(configs, named, **keywords):
    return [config for config in configs if config.kwargs["B"] <= named["n"]]


@triton.autotune(
    configs=[triton.Config({"B": 64}), triton.Config({"B": 8}, num_warps=8, num_stages=2), triton.Config({"B": 4})],
    key=["n"],
    reset_to_zero=["out"],
    prune_configs_by={"early_config_prune": small},
)
@triton.heuristics({"EVEN": lambda named: named["n"] % named["B"] == 0})
@triton.jit
def pruned(out, n, B: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(out + i, mask=i < n)
    tl.store(out + i, value + B, mask=(i < n) and not EVEN)


@triton.jit
def wrong_shape(x, out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), tl.load(x + tl.arange(0, N)) + tl.arange(0, 4))


@triton.jit
def undefined(x, out, N: tl.constexpr):
    tl.store(out, no_such_name)  # noqa: F821


@triton.jit
def missing(x, out, N: tl.constexpr):
    tl.store(out, tl.tanh(tl.load(x)))


@triton.jit
def no_power_of_two(x, out, N: tl.constexpr):
    tl.store(out + tl.arange(0, 6), 1.0)


@triton.jit
def block_condition(x, out, N: tl.constexpr):
    if tl.load(x + tl.arange(0, N)) > 0:
        tl.store(out, 1.0)


@triton.jit
def small_dot(x, out, N: tl.constexpr):
    i = tl.arange(0, 4)
    a = tl.load(x + i[:, None] * 2 + i[None, :]).to(tl.float16)
    tl.store(out + i[:, None] * 4 + i[None, :], tl.dot(a, a))


@triton.jit
def half_exp(x, out, N: tl.constexpr):
    tl.store(out, libdevice.tanh(tl.load(x).to(tl.float16)))


@triton.jit
def python_math(x, out, N: tl.constexpr):
    tl.store(out, math.sqrt(tl.load(x)))  # noqa: F821


@triton.jit
def concatenated(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + tl.arange(0, 2 * N), tl.cat(tl.load(x + i), tl.load(x + i), can_reorder=True))


@triton.jit
def assembly(x, out, N: tl.constexpr):
    tl.store(out, tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [tl.load(x)], tl.float32, True, 1))


@triton.jit
def unusual_libdevice(x, out, N: tl.constexpr):
    tl.store(out, libdevice.nextafter(tl.load(x), 1.0))


@triton.jit
def branching(a, b):
    return a if a > b else b


@triton.jit
def branching_reduction(x, out, N: tl.constexpr):
    tl.store(out, tl.reduce(tl.load(x + tl.arange(0, N)), 0, branching))


@triton.jit
def old_block_pointer(x, out, N: tl.constexpr):
    tl.store(out, tl.load(tl.make_block_ptr(x, (N,), (1,), (0,), (1,), (0,))))


@triton.jit
def two_arguments(x, y):
    return x + y


@triton.jit
def wrong_call(x, out, N: tl.constexpr):
    tl.store(out, two_arguments(tl.load(x)))


@triton.jit
def changed_type(x, out, N: tl.constexpr):
    total = 0.0
    for i in range(N):
        total = total + tl.load(x + i).to(tl.float64)
    tl.store(out, total)


@triton.jit
def changed_in_branch(x, out, N: tl.constexpr):
    p = x
    if tl.load(x) > 0:
        p += tl.arange(0, N)
    tl.store(out, tl.sum(tl.load(p)))


@triton.jit
def changed_otherwise(x, out, N: tl.constexpr):
    value = tl.load(x)
    if value > 2:
        value += 1
    elif value > 0:
        value = value.to(tl.float64)
    tl.store(out, value)


@triton.jit
def branches(x, out, n, WIDE: tl.constexpr, N: tl.constexpr):
    """What compiles: a branch that is decided when compiling may change types, others set new names or keep types."""
    value = tl.load(x)
    if WIDE:
        value = value.to(tl.float64)
    elif N > 2:
        value = tl.load(x + tl.arange(0, N))
    i = 0
    if n > 3:
        i = n - 1
        half = 0.5
    else:
        half = 2.0
        i += 1
    if n > 100:
        n = n // 2
    tl.store(out, tl.sum(tl.zeros((1,), tl.float64) + value) * half + i)


@triton.jit
def early_return(x, out, N: tl.constexpr):
    for i in range(N):
        if i == 3:
            return
        tl.store(out + i, 1.0)


@triton.jit
def broken_off(x, out, N: tl.constexpr):
    for i in range(N):
        if i == 3:
            break
        tl.store(out + i, 1.0)


@triton.jit
def several_axes(x, out, N: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, N)[:, None] + tl.arange(0, N)[None, :]), axis=(0, 1)))


@triton.jit
def unrolled_type(out, N: tl.constexpr):
    total = tl.full((1,), 1.0, tl.float32)
    for _ in tl.static_range(3):
        total = tl.reshape(tl.join(total, total), (total.shape[0] * 2,))
    tl.store(out + tl.arange(0, 8), total)


def own_not_implemented():
    raise NotImplementedError("only float32")


ZERO = 0
LIMIT: tl.constexpr = 8
STEP = tl.constexpr(1)


def plain_helper(x):
    return x + 1


@triton.jit
def plain_global(x, out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), ZERO)


@triton.jit
def plain_function(x, out, N: tl.constexpr):
    tl.store(out, plain_helper(tl.load(x)))


@triton.jit
def guarded(x, out, N: tl.constexpr):
    try:  # noqa: SIM105
        tl.store(out, tl.load(x))
    except ValueError:
        pass


@triton.jit
def anonymous(x, out, N: tl.constexpr):
    double = lambda v: v * 2  # noqa: E731
    tl.store(out, double(tl.load(x)))


@triton.jit
def looked_up(x, out, N: tl.constexpr):
    tl.store(out, {"a": 1}["a"])


@triton.jit
def nested(x, out, N: tl.constexpr):
    def double(v):
        return v * 2

    tl.store(out, double(tl.load(x)))


@triton.jit
def known_globals(x, out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), tl.load(x + tl.arange(0, N)) * STEP + LIMIT)


def launched(kernel, **keywords):
    return lambda: kernel[(1,)](torch.ones(64), torch.zeros(64), N=8, **keywords)


# What a failing call is: the candidate's own fault (None) or a limit, by a word of the reason.
WITHOUT_GPU = {
    "driver": (lambda: triton.runtime.driver.active.get_current_device(), "driver"),
    "cuda_tensor": (lambda: torch.zeros(3, device="cuda"), "CUDA"),
}
FAILURES = {
    "wrong_shape": (launched(wrong_shape), None),
    "undefined": (launched(undefined), None),
    "plain_global": (launched(plain_global), None),
    "plain_function": (launched(plain_function), None),
    "guarded": (launched(guarded), None),
    "anonymous": (launched(anonymous), None),
    "looked_up": (launched(looked_up), None),
    "nested": (launched(nested), None),
    "missing": (launched(missing), None),
    "no_power_of_two": (launched(no_power_of_two), None),
    "block_condition": (launched(block_condition), None),
    "small_dot": (launched(small_dot), None),
    "half_libdevice": (launched(half_exp), None),
    "python_math": (launched(python_math), None),
    "wrong_call": (launched(wrong_call), None),
    "changed_type": (launched(changed_type), None),
    "changed_in_branch": (launched(changed_in_branch), None),
    "changed_otherwise": (launched(changed_otherwise), None),
    "early_return": (launched(early_return), None),
    "escaped": (lambda: escaped[(1,)](torch.zeros(8), 3, N=4), None),
    "broken_off": (launched(broken_off), None),
    "several_axes": (launched(several_axes), None),
    "text_argument": (lambda: uniform[(1,)](torch.zeros(8), "1", N=4), None),
    "unknown_keyword": (launched(wrong_shape, waves_per_eu=2), None),
    "grid_too_large": (lambda: uniform[(1, 70000)](torch.zeros(8), 1, N=4), None),
    "float_grid": (lambda: uniform[(1.5,)](torch.zeros(8), 1, N=4), None),
    "missing_argument": (lambda: uniform[(1,)](torch.zeros(8), N=4), None),
    "no_grid": (lambda: uniform(torch.zeros(8), 1, N=4), None),
    "own_not_implemented": (own_not_implemented, None),
    "index_error": (lambda: [][1], None),
    "assembly": (launched(assembly), "inline assembly"),
    "concatenated": (launched(concatenated), "order"),
    "unusual_libdevice": (launched(unusual_libdevice), "libdevice"),
    "branching_reduction": (launched(branching_reduction), "branches"),
    **({} if torch.cuda.is_available() else WITHOUT_GPU),
    "cuda_import": (lambda: import_of_cuda(), "build for CUDA"),
    "cuda_check": (lambda: insist(torch.zeros(3)), "CUDA"),
    **({} if HAS_BLOCK_POINTERS else {"old_block_pointer": (launched(old_block_pointer), "block pointers")}),
}


def import_of_cuda():
    from torch._C import _cuda_noSuchThing  # noqa: F401


def insist(x):
    assert x.device.type == "cuda", "x must be on the GPU, a CUDA device"


def judged(call, word):
    try:
        call()
    except Exception as error:
        reason = unsupported(error)
        right = reason is None if word is None else reason is not None and word in reason
        return "" if right else f"{reason!r}\n{traceback.format_exc()}"
    return "nothing was raised"


def equal(got, want, tolerance=0.0):
    want = torch.as_tensor(want, dtype=torch.float64).expand(got.shape)
    return "" if torch.allclose(got.double(), want, rtol=tolerance, atol=tolerance) else f"got {got}, expected {want}"


def check_loops():
    out = torch.zeros(1, dtype=I32)
    loops[(1,)](out, 7, 1, True, None, B=4)
    total = sum(range(1, 7, 3)) + sum(range(7)) + 6 + 2
    while total < 1000:
        total *= 2
    return equal(out, [total + 1 + 1])


def check_own_variables():
    out = torch.zeros(8)
    own_variables[(1,)](out, 3, N=4)
    return equal(out, [2.0, 3.0, 4.0, 5.0, 5.0, 1.0, 0.0, 0.0])


def check_unrolled():
    out = torch.zeros(8)
    unrolled_type[(1,)](out, N=8)
    return equal(out, 1.0)


def check_scalars():
    out = torch.zeros(3)
    scalars[(2,)](out, 0.3, 2**31 + 5, 1)
    f32 = torch.tensor(0.3, dtype=F32) / 2 + 1
    return equal(out, [f32.item(), 1.0, -4.0 + 2.0], 1e-7)


def check_atomics(dtype):
    x = torch.tensor([1.0, 0.001, 256.0, 3.0, -1.5, 2.0, 0.25, 100.0]).to(dtype)
    out, order = torch.zeros(2, dtype=dtype), torch.zeros(8, dtype=dtype)
    atomics[(1,)](x, out, order, N=8)
    want, before = torch.zeros(2, dtype=dtype), torch.zeros(8, dtype=dtype)
    for i in range(7):
        before[i] = want[i // 4]
        want[i // 4] += x[i]
    return equal(out, want) or equal(order[:7], before[:7])


def check_extremes():
    out, ticket = torch.zeros(2), torch.tensor([3], dtype=I32)
    extremes[(1,)](torch.tensor([-1.0, 5.0, -7.0, 2.0]), out, ticket, N=4)
    return equal(out, [5.0, -7.0]) or equal(ticket, [10])


def check_masked():
    out = torch.zeros(8, dtype=BF16)
    masked[(1,)](torch.ones(3, dtype=BF16), out, 3, N=8)
    return "" if out.tolist() == [1.0] * 3 + [-float("inf")] * 5 else f"got {out}"


def check_scan():
    a, b = torch.linspace(0.5, 1.5, 16), torch.linspace(-1, 1, 16)
    out, want, state = torch.zeros(16), [], 0.0
    scanned[(1,)](a, b, out, N=16)
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        want.append(state := state * x + y)
    return equal(out, want, 1e-5)


def check_pointers(kernel, dtype):
    x = torch.randn(12, 24).to(dtype)
    out = torch.zeros(12, 24, dtype=dtype)
    kernel[(1,)](x, out, 12, 24, B=16)
    return equal(out, x + x)


def check_random():
    out = torch.zeros(2, 1024)
    uniform[(1,)](out, 42, N=1024)
    rate, spread = out[0].mean().item(), out[1].std().item()
    right = 0.45 < rate < 0.55 and 0.9 < spread < 1.1 and out[0].min() >= 0 and out[0].max() < 1
    return "" if right else f"mean {rate}, spread {spread}"


def check_tuning():
    out = torch.full((12,), 3, dtype=I32)
    grids = []
    for _ in range(2):
        pruned[lambda meta: grids.append((meta["n"], meta["B"])) or (triton.cdiv(meta["n"], meta["B"]),)](out, 12)
    first = pruned.configs[1]
    if pruned.best_config is not first or grids != [(12, 8), (12, 8)]:
        return f"took {pruned.best_config}, the grid saw {grids}"
    return equal(out, 16)  # reset once, when the configuration is chosen, then 8 added twice


def check_known_globals():
    out = torch.zeros(8)
    known_globals[(1,)](torch.ones(8), out, N=8)
    assert out.tolist() == [9.0] * 8


def check_branches():
    found = []
    for n, wide, length in ((7, True, 8), (2, False, 2), (200, False, 4)):
        out = torch.zeros(1)
        branches[(1,)](torch.ones(length), out, n, WIDE=wide, N=length)
        found.append(out)
    return equal(torch.cat(found), [0.5 + 6, 2.0 + 1, 4 * 0.5 + 199])


CHECKS = {
    "branches": check_branches,
    "known_globals": check_known_globals,
    "loops": check_loops,
    "own_variables": check_own_variables,
    "unrolled": check_unrolled,
    "scalars": check_scalars,
    "atomics_bf16": lambda: check_atomics(BF16),
    "atomics_f16": lambda: check_atomics(torch.float16),
    "atomics_f32": lambda: check_atomics(F32),
    "extremes": check_extremes,
    "masked": check_masked,
    "scan": check_scan,
    "descriptors_bf16": lambda: check_pointers(descriptors, BF16),
    "descriptors_f32": lambda: check_pointers(descriptors, F32),
    "random": check_random,
    "tuning": check_tuning,
    "self_test": lambda: "\n".join(self_test()),
}
if HAS_BLOCK_POINTERS:
    CHECKS["block_pointers_bf16"] = lambda: check_pointers(block_pointers, BF16)
    CHECKS["block_pointers_f32"] = lambda: check_pointers(block_pointers, F32)


def run(check):
    try:
        return check()
    except Exception:
        return traceback.format_exc()


def main():
    report = {name: run(check) for name, check in CHECKS.items()}
    report.update({f"failure_{name}": judged(*case) for name, case in FAILURES.items()})
    print(json.dumps({"triton": triton.__version__, "report": report}))


if __name__ == "__main__":
    main()
