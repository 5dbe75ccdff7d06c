"""Distance between pooled images. Pooling is linear: the difference is pooled, each image being read once.

A program holds a block of pooled elements of one image by a block of window elements; windows larger than the block are
walked through. It leaves the sum of |difference| ** p, and a second launch adds up those of an image, in order.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def pool_kernel(
    x1_ptr, x2_ptr, part_ptr, pooled, H, W, OH, OW, size, most_h, most_w, p,
    KIND: tl.constexpr, BLOCK_O: tl.constexpr, BLOCK_T: tl.constexpr,
):  # fmt: skip
    """`pooled` elements of one pooled image, `size` of one that is not; windows are of most_h * most_w at most."""
    o = tl.program_id(0) * BLOCK_O + tl.arange(0, BLOCK_O)
    i = o // OW % OH
    j = o % OW
    top, left = i * H // OH, j * W // OW
    height = ((i + 1) * H + OH - 1) // OH - top
    width = ((j + 1) * W + OW - 1) // OW - left
    start_at = tl.program_id(1).to(tl.int64) * size + (o // (OH * OW)).to(tl.int64) * (H * W) + top * W + left
    # Added up element by element: Triton 3.6 miscompiles sums over a short axis of a load within a loop.
    total = tl.zeros((BLOCK_O, BLOCK_T), tl.float32)
    for start in range(0, most_h * most_w, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        down, right = (t // most_w)[None, :], (t % most_w)[None, :]
        inside = (o < pooled)[:, None] & (down < height[:, None]) & (right < width[:, None])
        at = start_at[:, None] + (down * W + right)
        total += tl.load(x1_ptr + at, mask=inside, other=0.0) - tl.load(x2_ptr + at, mask=inside, other=0.0)
    difference = tl.abs(tl.sum(total, axis=1) / (height * width).to(tl.float32))
    if KIND == "2":
        difference = difference * difference
    if KIND == "p":
        difference = tl.exp2(p * tl.log2(difference))
    part = tl.sum(tl.where(o < pooled, difference, 0.0), axis=0)
    tl.store(part_ptr + tl.program_id(1).to(tl.int64) * tl.num_programs(0) + tl.program_id(0), part)


@triton.jit
def root_kernel(part_ptr, y_ptr, parts, p, eps, KIND: tl.constexpr, BLOCK: tl.constexpr):
    part_ptr += tl.program_id(0).to(tl.int64) * parts
    totals = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, parts, BLOCK):
        at = first + tl.arange(0, BLOCK)
        totals += tl.load(part_ptr + at, mask=at < parts, other=0.0)
    y = tl.sum(totals, axis=0)
    if KIND == "2":
        y = tl.sqrt(y)
    if KIND == "p":
        y = tl.exp2(tl.log2(y) / p)
    tl.store(y_ptr + tl.program_id(0), y + eps)


def fused_pairwise_distance_adaptive_avg_pool2d(x1, x2, output_size, p=2.0, eps=1e-06, keepdim=False):
    N, C, H, W = x1.shape
    OH, OW = (output_size, output_size) if isinstance(output_size, int) else output_size
    y = torch.empty((N, 1, 1, 1) if keepdim else (N,), dtype=x1.dtype, device=x1.device)
    if N:
        most_h, most_w = (n // out if n % out == 0 else min(n, n // out + 2) for n, out in ((H, OH), (W, OW)))
        block_t = min(1024, triton.next_power_of_2(most_h * most_w))
        block_o = max(1, 2048 // block_t)
        blocks = triton.cdiv(C * OH * OW, block_o)
        kind = str(int(p)) if p in (1, 2) else "p"
        parts = torch.empty((N, blocks), dtype=torch.float32, device=x1.device)
        pool_kernel[(blocks, N)](
            x1.contiguous(), x2.contiguous(), parts, C * OH * OW, H, W, OH, OW, C * H * W, most_h, most_w, float(p),
            kind, block_o, block_t, num_warps=8,
        )  # fmt: skip
        width = min(triton.next_power_of_2(blocks), 2048)
        root_kernel[(N,)](parts, y, blocks, float(p), float(eps), kind, width)
    return y
