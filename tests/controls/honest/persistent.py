"""H8: as many programs as the card has processors, a device query, names with stream, cache and time.

task: relu
"""

import torch
import triton
import triton.language as tl

stream_cache_time = {}


def _processors(device):
    if device not in stream_cache_time:
        found = 4
        if device.type == "cuda":
            found = torch.cuda.get_device_properties(device).multi_processor_count
        stream_cache_time[device] = found
    return stream_cache_time[device]


@triton.jit
def _relu_streaming(x, out, n, tiles, BLOCK: tl.constexpr):
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        i = tile * BLOCK + tl.arange(0, BLOCK)
        value = tl.load(x + i, mask=i < n)
        tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


def relu(x):
    out, n = torch.empty_like(x), x.numel()
    tiles = triton.cdiv(n, 256)
    _relu_streaming[(min(tiles, _processors(x.device)),)](x, out, n, tiles, BLOCK=256, num_warps=4, num_stages=2)
    return out
