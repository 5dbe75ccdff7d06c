"""Average pooling of images to a given size.

A program holds a block of output elements by a block of window elements; windows larger than the block are walked
through. Windows differ by one row or column in size, so the largest gives the bounds and a mask the rest.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def adaptive_avg_pool2d_kernel(x_ptr, y_ptr, TOTAL, H, W, OH, OW, MOST_H, MOST_W,
                               BLOCK_O: tl.constexpr, BLOCK_T: tl.constexpr):
    o = tl.program_id(0).to(tl.int64) * BLOCK_O + tl.arange(0, BLOCK_O)
    i = o // OW % OH
    j = o % OW
    top, left = i * H // OH, j * W // OW
    height = ((i + 1) * H + OH - 1) // OH - top
    width = ((j + 1) * W + OW - 1) // OW - left
    x_row = x_ptr + (o // (OH * OW) * H + top) * W + left
    # Added up element by element: Triton 3.6 miscompiles sums over a short axis of a load within a loop.
    total = tl.zeros((BLOCK_O, BLOCK_T), tl.float32)
    for start in range(0, MOST_H * MOST_W, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        down, right = (t // MOST_W)[None, :], (t % MOST_W)[None, :]
        ok = (o < TOTAL)[:, None] & (down < height[:, None]) & (right < width[:, None])
        total += tl.load(x_row[:, None] + (down * W + right), mask=ok, other=0.0)
    tl.store(y_ptr + o, tl.sum(total, axis=1) / (height * width).to(tl.float32), mask=o < TOTAL)


def adaptive_avg_pool2d(input, output_size):
    H, W = input.shape[-2:]
    OH, OW = (output_size, output_size) if output_size is None or isinstance(output_size, int) else output_size
    OH, OW = H if OH is None else OH, W if OW is None else OW
    output = torch.empty((*input.shape[:-2], OH, OW), dtype=input.dtype, device=input.device)
    total = output.numel()
    if total:
        most_h, most_w = (n // out if n % out == 0 else min(n, n // out + 2) for n, out in ((H, OH), (W, OW)))
        block_t = min(1024, triton.next_power_of_2(most_h * most_w))
        block_o = max(1, 2048 // block_t)
        adaptive_avg_pool2d_kernel[(triton.cdiv(total, block_o),)](
            input.contiguous(), output, total, H, W, OH, OW, most_h, most_w, BLOCK_O=block_o, BLOCK_T=block_t)
    return output
