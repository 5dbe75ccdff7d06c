"""input * other_mul - alpha * other_sub: one read of each, one write. Tensors that are broadcast are written out first.

A number in place of a tensor is an argument of the kernel; three numbers make a number and need no kernel.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mul_sub_kernel(
    x_ptr, mul_ptr, sub_ptr, y_ptr, n, x_number, mul_number, sub_number, alpha,
    X: tl.constexpr, MUL: tl.constexpr, SUB: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside).to(tl.float32) if X else x_number
    mul = tl.load(mul_ptr + offsets, mask=inside).to(tl.float32) if MUL else mul_number
    sub = tl.load(sub_ptr + offsets, mask=inside).to(tl.float32) if SUB else sub_number
    y = tl.zeros((BLOCK,), tl.float32) + (x * mul - alpha * sub)
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)


def fused_mul_sub(input, other_mul, other_sub, alpha=1, out=None):
    given = (input, other_mul, other_sub)
    tensors = [operand for operand in given if isinstance(operand, torch.Tensor)]
    if not tensors:
        return input * other_mul - alpha * other_sub
    dense = [tensor.contiguous() for tensor in torch.broadcast_tensors(*tensors)]
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty_like(dense[0])
    n = y.numel()
    if n:
        are_tensors = [isinstance(operand, torch.Tensor) for operand in given]
        remaining = iter(dense)
        pointers = [next(remaining) if is_tensor else y for is_tensor in are_tensors]
        numbers = [0.0 if isinstance(operand, torch.Tensor) else float(operand) for operand in given]
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        mul_sub_kernel[(triton.cdiv(n, block),)](
            *pointers, y, n, *numbers, float(alpha), *are_tensors, BLOCK=block, num_warps=warps
        )
    return y if direct or out is None else out.copy_(y)
