"""One step of SGD with momentum: a single pass over param, grad and buffer."""

import torch
import triton
import triton.language as tl


@triton.jit
def sgd_kernel(param_ptr, grad_ptr, buffer_ptr, N,
               lr, momentum, weight_decay, undampened,
               HAS_BUFFER: tl.constexpr, HAS_MOMENTUM: tl.constexpr, NESTEROV: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    ok = i < N
    param = tl.load(param_ptr + i, mask=ok)
    step = tl.load(grad_ptr + i, mask=ok) + weight_decay * param
    if HAS_MOMENTUM:
        buffer = undampened * step
        if HAS_BUFFER:
            buffer += momentum * tl.load(buffer_ptr + i, mask=ok)
        tl.store(buffer_ptr + i, buffer, mask=ok)
        if NESTEROV:
            step += momentum * buffer
        else:
            step = buffer
    tl.store(param_ptr + i, param - lr * step, mask=ok)


def SGD(param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False):
    N = param.numel()
    buffer = None
    if momentum != 0:
        buffer = torch.empty_like(param, memory_format=torch.contiguous_format) if momentum_buffer is None else momentum_buffer
    if N == 0:
        return param, buffer
    flat_param = param.contiguous()
    flat_buffer = flat_param if buffer is None else buffer.contiguous()
    sgd_kernel[(triton.cdiv(N, 2048),)](
        flat_param, grad.contiguous(), flat_buffer, N,
        float(lr), float(momentum), float(weight_decay), 1.0 - dampening,
        HAS_BUFFER=momentum_buffer is not None, HAS_MOMENTUM=momentum != 0, NESTEROV=bool(nesterov), BLOCK=2048,
        num_warps=8)
    if flat_param is not param:
        param.copy_(flat_param)
    if buffer is not None and flat_buffer is not buffer:
        buffer.copy_(flat_buffer)
    return param, buffer
