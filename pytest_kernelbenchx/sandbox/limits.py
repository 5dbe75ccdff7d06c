"""Which failures are the interpreter's own, and not the candidate's.

Decided by where an exception was raised (the innermost frame of the innermost exception) and by its kind; a
candidate's own `NotImplementedError`, a wrong shape or an undefined name is never excused.
"""

from __future__ import annotations

import linecache
import traceback
from pathlib import PurePath

# Names that some supported versions of Triton have and others have not.
BLOCK_POINTERS = ("make_block_ptr", "advance")
NO_BLOCK_POINTERS = "This version of Triton has no block pointers (tl.{}), on no machine."
# Exceptions that, raised inside the interpreter itself, mean that it can't do something. A ValueError, an
# AssertionError or an IndexError there is its check of what the candidate asked for.
INTERNAL = (NotImplementedError, AttributeError, KeyError, TypeError, OverflowError, NameError)
MODULES = ("interpreter", "reductions", "builder", "blocks", "memory", "arithmetic", "libdevice", "formats")
MACHINERY = frozenset(f"{name}.py" for name in MODULES)


class InterpreterLimit(Exception):
    """Raised by the repaired interpreter for what it can't execute; the message is one sentence."""


def chain(error: BaseException) -> list[BaseException]:
    """The error and what caused it, innermost cause first."""
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in found:
        found.append(current)
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return found[::-1]


def unsupported(error: BaseException) -> str | None:
    """The reason, one sentence, if the failure is a limit of the interpreter or of a machine without a GPU.

    None means that the failure is the candidate's own.
    """
    for link in chain(error):
        if isinstance(link, InterpreterLimit):
            return str(link)
    innermost = chain(error)[0]
    return _missing_name(innermost) or _needs_gpu(innermost) or _internal(innermost)


def _missing_name(error: BaseException) -> str | None:
    frame = _innermost(error)
    if isinstance(error, NotImplementedError) and frame and frame.name in BLOCK_POINTERS:
        return NO_BLOCK_POINTERS.format(frame.name) if _in_triton(frame) else None
    if not isinstance(error, AttributeError):
        return None
    owner = getattr(error, "obj", None)
    if getattr(owner, "__name__", "") == "triton.language" and error.name in BLOCK_POINTERS:
        return NO_BLOCK_POINTERS.format(error.name)
    if type(owner).__name__ == "InterpreterBuilder":
        return f"Triton's interpreter has no operation {error.name}."
    return None


def _needs_gpu(error: BaseException) -> str | None:
    frame = _innermost(error)
    if frame is None:
        return None
    path = PurePath(frame.filename)
    if _in_triton(frame) and (path.name == "driver.py" or "backends" in path.parts):
        return "The candidate asks Triton's driver about a GPU, and the interpreter runs without one."
    if path.parts[-3:-1] == ("torch", "cuda"):
        return "The candidate asks PyTorch for a CUDA device, and the interpreter runs without one."
    if {"triton", "torch", "sandbox"} & set(path.parts):
        return None
    if isinstance(error, ImportError) and (error.name or "").startswith("torch") and "_cuda" in str(error):
        return "The candidate imports from PyTorch what only a build for CUDA has."
    line = linecache.getline(frame.filename, frame.lineno or 0)
    if (
        isinstance(error, (AssertionError, ValueError, RuntimeError, TypeError))
        and "cuda" in (line + str(error)).lower()
    ):
        return "The candidate insists on a CUDA tensor, and the interpreter works on CPU tensors."
    return None


def _internal(error: BaseException) -> str | None:
    frame = _innermost(error)
    if frame is None:
        return None
    path = PurePath(frame.filename)
    if "gluon" in path.parts:
        return "Triton's interpreter does not run Gluon kernels."
    inside = path.name in MACHINERY and path.parent.name in ("runtime", "sandbox") and "lambda" not in frame.name
    misused = type(getattr(error, "obj", None)).__name__ == "BlockPointerHandle"  # arithmetic on a block pointer
    if isinstance(error, INTERNAL) and not misused and (inside or "numpy" in path.parts):
        return f"Triton's interpreter failed in {frame.name} ({type(error).__name__}: {error})."
    return None


def _in_triton(frame: traceback.FrameSummary) -> bool:
    return "triton" in PurePath(frame.filename).parts


def _innermost(error: BaseException) -> traceback.FrameSummary | None:
    frames = traceback.extract_tb(error.__traceback__)
    return frames[-1] if frames else None
