"""One RMSprop step: a single pass over param, grad and square_avg."""

import triton
import triton.language as tl


@triton.jit
def rmsprop_kernel(param_ptr, grad_ptr, square_ptr, N, stride_param, stride_grad, stride_square,
                   lr, alpha, rest, eps, weight_decay, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    ok = i < N
    param = tl.load(param_ptr + i * stride_param, mask=ok)
    step = tl.load(grad_ptr + i * stride_grad, mask=ok) + weight_decay * param
    square = alpha * tl.load(square_ptr + i * stride_square, mask=ok) + rest * step * step
    tl.store(square_ptr + i * stride_square, square, mask=ok)
    tl.store(param_ptr + i * stride_param, param - lr * step / (tl.sqrt(square) + eps), mask=ok)


def RMSProp(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-8, weight_decay=0.0):
    N = param.numel()
    if N:
        rmsprop_kernel[(triton.cdiv(N, 2048),)](
            param, grad, square_avg, N, param.stride(0), grad.stride(0), square_avg.stride(0),
            float(lr), float(alpha), 1.0 - alpha, float(eps), float(weight_decay), BLOCK=2048, num_warps=8)
    return param, square_avg
