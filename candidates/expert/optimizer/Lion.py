"""One Lion step: a single pass over param, grad and exp_avg."""

import triton
import triton.language as tl


@triton.jit
def lion_kernel(param_ptr, grad_ptr, average_ptr, N,
                lr, shrink, beta1, rest1, beta2, rest2, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    ok = i < N
    param = tl.load(param_ptr + i, mask=ok)
    grad = tl.load(grad_ptr + i, mask=ok)
    average = tl.load(average_ptr + i, mask=ok)
    mixed = beta1 * average + rest1 * grad
    step = tl.where(mixed > 0.0, lr, tl.where(mixed < 0.0, -lr, mixed))  # `mixed` is 0 or NaN here
    tl.store(param_ptr + i, param * shrink - step, mask=ok)
    tl.store(average_ptr + i, beta2 * average + rest2 * grad, mask=ok)


def Lion(param, grad, exp_avg, lr=1e-4, beta1=0.9, beta2=0.99, weight_decay=0.0):
    N = param.numel()
    if N:
        flat_param, flat_average = param.contiguous(), exp_avg.contiguous()
        lion_kernel[(triton.cdiv(N, 2048),)](
            flat_param, grad.contiguous(), flat_average, N,
            float(lr), 1.0 - lr * weight_decay, float(beta1), 1.0 - beta1, float(beta2), 1.0 - beta2,
            BLOCK=2048, num_warps=8)
        if flat_param is not param:
            param.copy_(flat_param)
        if flat_average is not exp_avg:
            exp_avg.copy_(flat_average)
    return param, exp_avg
