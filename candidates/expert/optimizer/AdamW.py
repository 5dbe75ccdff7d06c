"""One AdamW step: a single pass over param, grad and the averages; powers of the betas in double, on the host."""

import triton
import triton.language as tl


@triton.jit
def adamw_kernel(
    param_ptr, grad_ptr, average_ptr, square_ptr, n,
    shrink, beta1, rest1, beta2, rest2, rate, correction, eps, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    grad = tl.load(grad_ptr + i, mask=inside)
    average = beta1 * tl.load(average_ptr + i, mask=inside) + rest1 * grad
    square = beta2 * tl.load(square_ptr + i, mask=inside) + rest2 * grad * grad
    step = rate * average / (tl.sqrt(square * correction) + eps)
    param = tl.load(param_ptr + i, mask=inside) * shrink - step
    tl.store(param_ptr + i, param, mask=inside)
    tl.store(average_ptr + i, average, mask=inside)
    tl.store(square_ptr + i, square, mask=inside)


def AdamW(param, grad, exp_avg, exp_avg_sq, step, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.01):
    changed = param, exp_avg, exp_avg_sq
    flat_param, flat_average, flat_square = flat = [x.contiguous() for x in changed]
    n = param.numel()
    if n:
        block, warps = (1024, 4) if n <= 1 << 18 else (2048, 8)
        adamw_kernel[(triton.cdiv(n, block),)](
            flat_param, grad.contiguous(), flat_average, flat_square, n,
            1.0 - lr * weight_decay, float(beta1), 1.0 - beta1, float(beta2), 1.0 - beta2,
            lr / (1.0 - beta1**step), 1.0 / (1.0 - beta2**step), float(eps), BLOCK=block, num_warps=warps,
        )  # fmt: skip
    for x, y in zip(changed, flat, strict=True):
        if x is not y:
            x.copy_(y)
    return changed
