"""Cosine similarity over the channels and average pooling, in one launch.

A program computes the similarities of a patch of pixels, which overlaps its neighbours by what windows overlap, and
leaves them in registers; windows are then added up by gathering, first along rows and then along columns. Neither the
similarities nor the norms go to memory, and both images are read once.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def similarity_pool_kernel(
    x1_ptr, x2_ptr, y_ptr, C, H, W, OH, OW, down, across, kernel, stride, padding, area, eps,
    CHANNELS: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr,
    HEIGHT: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """down * across patches of HEIGHT x WIDTH windows an image; ROWS and COLUMNS are these, rounded up."""
    image = (tl.program_id(0) // (down * across)).to(tl.int64)
    i_first, j_first = tl.program_id(0) // across % down * HEIGHT, tl.program_id(0) % across * WIDTH
    p = tl.arange(0, BLOCK_H * BLOCK_W)
    y, x = i_first * stride - padding + p // BLOCK_W, j_first * stride - padding + p % BLOCK_W
    inside = (y >= 0) & (y < H) & (x >= 0) & (x < W)
    channel = tl.arange(0, CHANNELS)
    at = image * C * H * W + (y * W + x)[None, :]
    products = tl.zeros((CHANNELS, BLOCK_H * BLOCK_W), tl.float32)
    squares1, squares2 = products, products
    for first in range(0, C, CHANNELS):
        c = (first + channel).to(tl.int64)
        seen = (c < C)[:, None] & inside[None, :]
        x1 = tl.load(x1_ptr + (at + (c * H * W)[:, None]), mask=seen, other=0.0)
        x2 = tl.load(x2_ptr + (at + (c * H * W)[:, None]), mask=seen, other=0.0)
        products += x1 * x2
        squares1 += x1 * x1
        squares2 += x2 * x2
    norm1, norm2 = tl.sqrt(tl.sum(squares1, axis=0)), tl.sqrt(tl.sum(squares2, axis=0))
    similarity = tl.sum(products, axis=0) / (tl.maximum(norm1, eps) * tl.maximum(norm2, eps))
    similarity = tl.reshape(tl.where(inside, similarity, 0.0), (BLOCK_H, BLOCK_W))
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    rows = tl.zeros((BLOCK_H, COLUMNS), tl.float32)
    for b in range(0, kernel):
        place = tl.minimum(j * stride + b, BLOCK_W - 1)
        rows += tl.gather(similarity, tl.broadcast_to(place, (BLOCK_H, COLUMNS)), 1)
    sums = tl.zeros((ROWS, COLUMNS), tl.float32)
    for a in range(0, kernel):
        place = tl.minimum(i * stride + a, BLOCK_H - 1)
        sums += tl.gather(rows, tl.broadcast_to(place, (ROWS, COLUMNS)), 0)
    used = (i < HEIGHT) & (i_first + i < OH) & (j < WIDTH) & (j_first + j < OW)
    y_at = y_ptr + image * OH * OW + ((i_first + i) * OW + j_first + j)
    tl.store(y_at, sums / area, mask=used)


def patch(OH, OW, kernel, stride, size):
    """Sides of a patch of about `size` pixels and of the windows in it: those of which the fewest cover an image."""
    least = triton.next_power_of_2(kernel)
    size = max(size, least * least)
    sides = [(size // w, w) for w in (least << n for n in range(size.bit_length())) if size // w >= least]
    fits = [(h, w, (h - kernel) // stride + 1, (w - kernel) // stride + 1) for h, w in reversed(sides)]
    return min(fits, key=lambda fit: triton.cdiv(OH, fit[2]) * triton.cdiv(OW, fit[3]))


def fused_avg_pool2d_cosine_similarity(x1, x2, kernel_size, stride=None, padding=0, eps=1e-8):
    N, C, H, W = x1.shape
    stride = kernel_size if stride is None else stride
    if not 0 <= padding <= kernel_size // 2:
        raise RuntimeError(f"padding is {padding}, wanted at most half of the window, {kernel_size // 2}")
    OH, OW = ((n + 2 * padding - kernel_size) // stride + 1 for n in (H, W))
    if OH <= 0 or OW <= 0:
        raise RuntimeError(f"a window of {kernel_size} does not fit a map of {H} x {W}, padding {padding}")
    y = torch.empty((N, 1, OH, OW), dtype=x1.dtype, device=x1.device)
    if y.numel():
        block_h, block_w, height, width = patch(OH, OW, kernel_size, stride, 1024 if N * H * W >= 1 << 17 else 256)
        channels = min(triton.next_power_of_2(max(C, 1)), max(1, 4096 // (block_h * block_w)))
        down, across = triton.cdiv(OH, height), triton.cdiv(OW, width)
        similarity_pool_kernel[(N * down * across,)](
            x1.contiguous(), x2.contiguous(), y, C, H, W, OH, OW, down, across, kernel_size, stride, padding,
            float(kernel_size * kernel_size), float(eps), channels, block_h, block_w, height, width,
            triton.next_power_of_2(height), triton.next_power_of_2(width), num_warps=8,
        )  # fmt: skip
    return y
