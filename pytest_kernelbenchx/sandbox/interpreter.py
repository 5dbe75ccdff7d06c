"""Triton's interpreter, repaired until what it computes is what a GPU computes.

With TRITON_INTERPRET=1 Triton runs kernels on NumPy arrays, and gets bf16, tuning, Python's `and` and more wrong. The
repairs are in `builder` (with `blocks`, `formats`, `memory`, `arithmetic` and `libdevice`), `reductions`, `rewriting`
(the kernel's source) and `launching`; what can't be repaired is recognised by `unsupported` (in `limits`). Written for
and tested with Triton 3.6 and 3.9; `self_test` says whether another version is computed right.
"""

from __future__ import annotations

from . import limits
from .limits import InterpreterLimit

__all__ = ["InterpreterLimit", "repair", "self_test", "unsupported"]

_repaired = False


def repair() -> None:
    """Repair the interpreter in this process; a second call does nothing.

    To be called after `import triton` with TRITON_INTERPRET=1 and before a candidate is imported. Runs no tensor
    operation of PyTorch, so a process that forks later may call it. Raises RuntimeError without TRITON_INTERPRET.
    """
    global _repaired
    if _repaired:
        return
    import triton

    if not triton.knobs.runtime.interpret:
        raise RuntimeError(
            "The interpreter can be repaired only where TRITON_INTERPRET=1 is set before Triton's import."
        )
    from . import builder, fresh, launching, pretence, reductions, rewriting

    for part in (builder, reductions, rewriting, launching):
        part.install()
    pretence.pretend()
    fresh.fill_fresh_memory()
    _repaired = True


def unsupported(error: BaseException) -> str | None:
    """The reason why a failure is a limit of the interpreter; None where it is none, or where kernels are compiled."""
    return limits.unsupported(error) if _repaired else None


def self_test() -> list[str]:
    """Run small kernels that prove the repairs; one sentence for each that gives a wrong result, [] if all is right."""
    from .selftest_kernels import CHECKS

    wrong = []
    for sentence, check in CHECKS.items():
        try:
            right = check()
        except Exception as error:
            sentence, right = f"{sentence} ({type(error).__name__}: {error})", False
        if not right:
            wrong.append(f"The interpreter is wrong: {sentence}.")
    return wrong
