"""Average pooling of images to a given size.

A program holds a block of output elements by a block of window elements; windows larger than the block are walked
through. Windows differ by one row or column in size, so the largest gives the bounds and a mask the rest. An element
is counted from the plane in which its block begins, so that all divisions but one are of 32 bits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def adaptive_avg_pool2d_kernel(
    x_ptr, y_ptr, total, H, W, OH, OW, most_h, most_w, BLOCK_O: tl.constexpr, BLOCK_T: tl.constexpr
):
    first = tl.program_id(0).to(tl.int64) * BLOCK_O
    o = (first % (OH * OW)).to(tl.int32) + tl.arange(0, BLOCK_O)
    inside = first + tl.arange(0, BLOCK_O) < total
    i, j = o // OW % OH, o % OW
    # i * H // OH, without a product that may pass 2 ** 31
    top, left = i * (H // OH) + i * (H % OH) // OH, j * (W // OW) + j * (W % OW) // OW
    bottom = (i + 1) * (H // OH) + ((i + 1) * (H % OH) + OH - 1) // OH
    right = (j + 1) * (W // OW) + ((j + 1) * (W % OW) + OW - 1) // OW
    height, width = bottom - top, right - left
    plane = first // (OH * OW) + o // (OH * OW)
    x_at = x_ptr + (plane * H + top) * W + left
    # Added up element by element: Triton 3.6 miscompiles sums over a short axis of a load within a loop.
    sums = tl.zeros((BLOCK_O, BLOCK_T), tl.float32)
    for start in range(0, most_h * most_w, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        down, across = (t // most_w)[None, :], (t % most_w)[None, :]
        seen = inside[:, None] & (down < height[:, None]) & (across < width[:, None])
        sums += tl.load(x_at[:, None] + (down * W + across), mask=seen, other=0.0)
    y = tl.sum(sums, axis=1) / (height * width).to(tl.float32)
    tl.store(y_ptr + first + tl.arange(0, BLOCK_O), y, mask=inside)


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
