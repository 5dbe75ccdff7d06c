"""What a candidate's exception says about it: a verdict, a message and the frames that are its own."""

import difflib
import linecache
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

import torch

from pytest_kernelbenchx.sandbox import interpreter
from pytest_kernelbenchx.sandbox.bounds import OutOfBoundsError
from pytest_kernelbenchx.sandbox.wire import clean

MESSAGE_LIMIT = 2_000
TRACEBACK_LIMIT = 8_000
_FRAMES = 8
_COMPILER = ("ast_to_ttir", "make_ir", "compile", "_init_handles")
_NO_MEMORY = ("DefaultCPUAllocator: can't allocate memory", "CUDA out of memory", "Triton Error [CUDA]: out of memory")


def describe(error: BaseException, stage: str, file: Path) -> dict:
    """An error answer: {"verdict", "type", "message", "traceback"}, all of it text of bounded length.

    Args:
        error: what was raised.
        stage: the verdict of an ordinary exception here: SYNTAX, IMPORT_ERROR or RUNTIME_ERROR.
        file: the candidate's file; its frames are shown, and the innermost one.
    """
    error = _root(error)
    verdict, message = stage, _message(error)
    reason = _limit_of_interpreter(error)
    if _out_of_memory(error, message):
        verdict = "OUT_OF_MEMORY"
    elif reason:
        verdict, message = "NOT_JUDGED", reason
    elif isinstance(error, OutOfBoundsError):
        verdict = "OUT_OF_BOUNDS"
    elif stage == "RUNTIME_ERROR" and _from_compiler(error):
        verdict = "COMPILE_ERROR"
    return {
        "verdict": verdict,
        "type": _name(error),
        "message": clean(message, MESSAGE_LIMIT),
        "traceback": clean(_stack(error, file), TRACEBACK_LIMIT),
    }


def raised(error: BaseException) -> str:
    """What a launch raised, in a few words: the exception's name, or `NOT_JUDGED: ` and the interpreter's limit."""
    error = _root(error)
    reason = _limit_of_interpreter(error)
    return clean(f"NOT_JUDGED: {reason}" if reason else _name(error), 300)


def _limit_of_interpreter(error: BaseException) -> str | None:
    try:
        return interpreter.unsupported(error)
    except BaseException:  # it reads the message, and a hostile __str__ may raise anything
        return None


def _root(error: BaseException) -> BaseException:
    """The exception that a kernel raised, not the one that Triton's interpreter wraps it in."""
    cause = error.__cause__
    return cause if _name(error) == "InterpreterError" and cause is not None else error


def _name(error: BaseException) -> str:
    """The class's own name, whatever its metaclass says."""
    return clean(type.__dict__["__name__"].__get__(type(error)), 200)


def _message(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"the candidate called sys.exit({_shown(error.code)})"
    return _shown(error, str)


def _shown(value: Any, how: Any = repr) -> str:
    try:
        return str.__str__(how(value))
    except BaseException:  # a hostile __str__ may raise anything
        return "(its text cannot be shown)"


def _out_of_memory(error: BaseException, message: str) -> bool:
    kinds = (MemoryError, torch.OutOfMemoryError)
    return isinstance(error, kinds) or (isinstance(error, RuntimeError) and any(sign in message for sign in _NO_MEMORY))


def _from_compiler(error: BaseException) -> bool:
    from triton.compiler.errors import CompilationError
    from triton.runtime.errors import OutOfResources, PTXASError

    if isinstance(error, (CompilationError, OutOfResources, PTXASError)):
        return True
    return any(
        Path(name).parts[-3:-1] == ("triton", "compiler") and function in _COMPILER
        for name, _, function in _frames(error.__traceback__)
    )


def _frames(trace: TracebackType | None) -> list[tuple[str, int, str]]:
    return [(f.f_code.co_filename, line, f.f_code.co_name) for f, line in traceback.walk_tb(trace)]


def _stack(error: BaseException, file: Path) -> str:
    """The candidate's own frames (the outer and the inner ones of a long recursion), the innermost frame, the error."""
    frames = _frames(error.__traceback__)
    own = [frame for frame in frames if frame[0] == str(file)]
    if len(own) > 2 * _FRAMES:
        own = own[:_FRAMES] + own[-_FRAMES:]
    if frames and frames[-1] not in own:
        own.append(frames[-1])
    lines = []
    for name, line, function in own:
        shown = file.name if name == str(file) else name.rpartition("site-packages/")[2]
        lines += [f'  File "{shown}", line {line}, in {function}', f"    {linecache.getline(name, line).strip()}"]
    if isinstance(error, SyntaxError) and error.text:
        lines += [f'  File "{file.name}", line {error.lineno}', f"    {_shown(error.text, str).rstrip()}"]
    return "\n".join([*lines, f"{_name(error)}: {_message(error)}"])


def no_entry_point(entries: list[str], found: list[str], other: str | None) -> dict:
    """The error answer for a file without its entry point.

    Args:
        entries: the names looked for, the first one is the task's.
        found: the functions and classes that the file defines at top level.
        other: what there is under one of the names, if it is no function ("a Triton kernel").
    """
    close = difflib.get_close_matches(entries[0], found, n=1)
    wanted = " or ".join(entries)
    message = f"the file defines no function named {wanted}"
    if other:
        message += f": what has that name is {other}"
    message += f"; it defines {', '.join(found[:20])}" if found else "; it defines no function at top level"
    message += f". Is {close[0]} meant? It must be called {entries[0]}." if close else "."
    return {
        "verdict": "NO_ENTRY_POINT",
        "type": "AttributeError",
        "message": clean(message, MESSAGE_LIMIT),
        "traceback": "",
    }
