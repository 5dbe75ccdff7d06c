"""One Lion step: a single pass over param, grad and exp_avg."""

import triton
import triton.language as tl


@triton.jit
def lion_kernel(param_ptr, grad_ptr, average_ptr, N, stride_param, stride_grad, stride_average,
                lr, shrink, beta1, rest1, beta2, rest2, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    ok = i < N
    param = tl.load(param_ptr + i * stride_param, mask=ok)
    grad = tl.load(grad_ptr + i * stride_grad, mask=ok)
    average = tl.load(average_ptr + i * stride_average, mask=ok)
    mixed = beta1 * average + rest1 * grad
    step = tl.where(mixed > 0.0, lr, tl.where(mixed < 0.0, -lr, mixed))  # `mixed` is 0 or NaN here
    tl.store(param_ptr + i * stride_param, param * shrink - step, mask=ok)
    tl.store(average_ptr + i * stride_average, beta2 * average + rest2 * grad, mask=ok)


def Lion(param, grad, exp_avg, lr=1e-4, beta1=0.9, beta2=0.99, weight_decay=0.0):
    N = param.numel()
    if N:
        lion_kernel[(triton.cdiv(N, 2048),)](
            param, grad, exp_avg, N, param.stride(0), grad.stride(0), exp_avg.stride(0),
            float(lr), 1.0 - lr * weight_decay, float(beta1), 1.0 - beta1, float(beta2), 1.0 - beta2,
            BLOCK=2048, num_warps=8)
    return param, exp_avg
