"""One RMSprop step: a single pass over param, grad and square_avg."""

import triton
import triton.language as tl


@triton.jit
def rmsprop_kernel(param_ptr, grad_ptr, square_ptr, N,
                   lr, alpha, rest, eps, weight_decay, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    ok = i < N
    param = tl.load(param_ptr + i, mask=ok)
    step = tl.load(grad_ptr + i, mask=ok) + weight_decay * param
    square = alpha * tl.load(square_ptr + i, mask=ok) + rest * step * step
    tl.store(square_ptr + i, square, mask=ok)
    tl.store(param_ptr + i, param - lr * step / (tl.sqrt(square) + eps), mask=ok)


def RMSProp(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-8, weight_decay=0.0):
    N = param.numel()
    if N:
        flat_param, flat_square = param.contiguous(), square_avg.contiguous()
        rmsprop_kernel[(triton.cdiv(N, 2048),)](
            flat_param, grad.contiguous(), flat_square, N,
            float(lr), float(alpha), 1.0 - alpha, float(eps), float(weight_decay), BLOCK=2048, num_warps=8)
        if flat_param is not param:
            param.copy_(flat_param)
        if flat_square is not square_avg:
            square_avg.copy_(flat_square)
    return param, square_avg
