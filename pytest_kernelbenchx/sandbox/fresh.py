"""What memory holds before anything is written to it: in the interpreter, always the same bytes.

`torch.empty` hands out what malloc finds. Left to chance that may be the right answer of the call before, and a kernel
that forgets an element passes now and then. glibc fills memory for us: M_PERTURB in malloc.h and mallopt(3).
"""

import ctypes

M_PERTURB = -6
BYTE = 0x7F  # 3.39615136e+38 as float32, NaN as float16, 3.3895e+38 as bfloat16, 2139062143 as int32


def fill_fresh_memory() -> bool:
    """From now on malloc fills what it hands out with `BYTE`; False where the C library has no such thing."""
    try:
        return bool(ctypes.CDLL(None).mallopt(M_PERTURB, BYTE ^ 0xFF))
    except (AttributeError, OSError):
        return False
