"""H6: writes over its input, as it is asked to, whatever the strides. (torch.relu, ctypes: only words.)

task: relu_
"""

import triton
import triton.language as tl


@triton.jit
def _over(x, N, sm, sn, BLOCK: tl.constexpr):
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    place = x + tl.program_id(0) * sm + i * sn
    value = tl.load(place, mask=i < N)
    tl.store(place, tl.where(value < 0, 0.0, value), mask=i < N)


def relu_(x):
    _over[(x.shape[0], triton.cdiv(x.shape[1], 128))](x, x.shape[1], x.stride(0), x.stride(1), BLOCK=128)
    return x
