"""hstack and division without the joined tensor: one launch per tensor divides it straight into its place."""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["divisor"])
def divide_kernel(
    x_ptr, d_ptr, y_ptr, divisor, M, columns, R, y_m, y_start, d_m, d_n, d_r,
    SCALAR: tl.constexpr, INTEGER: tl.constexpr, MODE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    column = (tl.program_id(1).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS))[None, :]
    inside = (row < M) & (column < columns)
    kind: tl.constexpr = tl.int64 if INTEGER else tl.float32
    a = tl.load(x_ptr + row * columns + column, mask=inside, other=0).to(kind)
    if SCALAR:
        b = tl.zeros_like(a) + divisor.to(kind)
    else:
        b = tl.load(d_ptr + row * d_m + column // R * d_n + column % R * d_r, mask=inside, other=1).to(kind)
    if MODE == "true":
        q = a / b
    elif INTEGER:
        q = a // b  # towards zero
        if MODE == "floor":
            q = tl.where((a - q * b != 0) & ((a < 0) != (b < 0)), q - 1, q)
    elif MODE == "trunc":
        q = tl.div_rn(a, b)
        q = tl.where(q < 0, tl.ceil(q), tl.floor(q))
    else:
        q = tl.floor(tl.div_rn(a, b))
        # The rounded quotient may have reached the next integer: the remainder then has the wrong sign.
        rest = tl.fma(-q, b, a)
        q = tl.where((rest != 0) & ((rest < 0) != (b < 0)) & (q * 0 == 0), q - 1, q)
    tl.store(y_ptr + row * y_m + y_start + column, q.to(y_ptr.dtype.element_ty), mask=inside)


def fused_hstack_div(tensors, divisor, *, rounding_mode=None, out=None):
    first = tensors[0]
    axis = min(1, max(first.dim() - 1, 0))
    M = first.shape[:axis].numel()
    R = first.shape[axis + 1 :].numel()
    widths = [t.shape[axis] if t.dim() else 1 for t in tensors]
    shape = (*first.shape[:axis], sum(widths), *first.shape[axis + 1 :])
    scalar = not isinstance(divisor, torch.Tensor)
    floating = first.is_floating_point()
    integer = not floating and rounding_mode is not None and not isinstance(divisor, float)
    dtype = first.dtype if floating or integer else torch.float32
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty(shape, dtype=dtype, device=first.device)
    d = first if scalar else divisor.expand(shape).reshape(M, sum(widths), R)
    number = 1 if not scalar else divisor if integer else float(divisor)
    start = 0
    for tensor, width in zip(tensors, widths, strict=True):
        columns = width * R
        if M * columns:
            tile = min(triton.next_power_of_2(columns), 2048)
            rows = min(triton.next_power_of_2(M), 2048 // tile)
            divide_kernel[(triton.cdiv(M, rows), triton.cdiv(columns, tile))](
                tensor.contiguous(), d if scalar else d.narrow(1, start, width), y, number,
                M, columns, R, sum(widths) * R, start * R, *((0, 0, 0) if scalar else d.stride()),
                scalar, integer, rounding_mode or "true", rows, tile,
            )  # fmt: skip
        start += width
    return y if direct or out is None else out.copy_(y)
