"""From a model's answer to the code in it: Markdown fences, thinking, byte order marks, indentation.

Nothing is executed and nothing is guessed: text comes back either as it was, or as whole blocks of it. Of several
blocks the last wins that parses, defines the entry point, brings a kernel and imports what it uses (drafts come first,
usage examples define nothing); if only all the blocks together do so, they are joined in order.
"""

import ast
import re
import textwrap
import warnings
from collections.abc import Collection

FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[ \t]*([^`\n]*)$", re.MULTILINE)
THINKING = re.compile(r"</?(?:think|thinking|reasoning)>")
PYTHON = frozenset({"", "py", "py3", "python", "python3", "triton"})
MODULES = frozenset({"torch", "triton", "tl"})


def extract(text: str, names: Collection[str]) -> tuple[str, str | None]:
    """The code in an answer.

    Args:
        text: the whole answer; code without fences that parses comes back as it is (less a byte order mark).
        names: names of which the code must define one at top level.

    Returns:
        The code, and a sentence on what was done or why nothing could be (None: nothing was to do).
    """
    text = text.removeprefix("\ufeff")
    indented = text.lstrip("\r\n")[:1].isspace()
    if not (indented or FENCE.search(text.replace("\r", "")) or THINKING.search(text)) or parse(text):
        return text, None
    answer = text.replace("\r\n", "\n").replace("\r", "\n")
    notes = []
    if THINKING.search(answer):
        answer, closed = without_thinking(answer)
        if not closed:
            return text, "The answer ends inside its thinking, so there is no code to judge."
        notes.append("thinking removed")
    if not FENCE.search(answer):
        code = textwrap.dedent(answer)
        if code != answer and parse(code):
            return code, "; ".join([*notes, "indentation removed"])
        return (answer, notes[0]) if notes else (text, None)
    chosen, note = choose(blocks(answer), names)
    return (text if chosen is None else chosen), "; ".join([*notes, note])


def parse(code: str) -> ast.Module | None:
    """The syntax tree, or None where the code does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def without_thinking(answer: str) -> tuple[str, bool]:
    """What follows the last closing mark, and whether the thinking was closed at all."""
    last = list(THINKING.finditer(answer))[-1]
    return answer[last.end() :], last[0].startswith("</")


def blocks(answer: str) -> list[tuple[str, str]]:
    """(language, code) of every fenced block that is not blank; an unclosed one reaches to the next tag or the end."""
    found, opening, start = [], None, 0
    for fence in FENCE.finditer(answer):
        if opening is not None and not ends(fence, opening):
            continue
        if opening is not None:
            found.append((language(opening[3]), answer[start : fence.start()]))
        closing = opening is not None and not fence[3].strip()
        opening, start = (None if closing else fence), fence.end() + 1
    if opening is not None:
        found.append((language(opening[3]), answer[start:]))
    return [(tag, textwrap.dedent(code)) for tag, code in found if code.strip()]


def ends(fence: re.Match[str], opening: re.Match[str]) -> bool:
    """Whether a fence closes a block, or opens a Python block because the one before was left open.

    A fence that is much deeper than the opening one stands in a docstring.
    """
    if len(fence[1].expandtabs(4)) > len(opening[1].expandtabs(4)) + 3:
        return False
    if fence[3].strip():
        return fence[2] == opening[2] and language(fence[3]) in PYTHON
    return fence[2].startswith(opening[2])


def language(info: str) -> str:
    """First word of a fence's info string: `python title=x` and `{.python .numberLines}` are both python."""
    words = info.strip("{} \t").split()
    return words[0].lstrip(".").lower() if words else ""


def choose(found: list[tuple[str, str]], names: Collection[str]) -> tuple[str | None, str]:
    """The code to judge and what was done to get it; None where no block can be it."""
    python = [code for tag, code in found if tag in PYTHON] or [code for _, code in found]
    parsed = [(code, tree) for code in python if (tree := parse(code))]
    complete = [code for code, tree in parsed if defines(tree, names) and stands_alone(tree)]
    if complete:
        return complete[-1], picked(len(complete), len(python))
    parts = [code for code, tree in parsed if declares(tree)]
    joined = "\n\n".join(parts)
    tree = parse(joined)
    if len(parts) > 1 and tree and defines(tree, names) and stands_alone(tree):
        return joined, f"{len(parts)} Markdown blocks joined"
    named = [code for code, tree in parsed if defines(tree, names)]
    if named:
        return named[-1], picked(len(named), len(python))
    missing = f"No Markdown block parses and defines {' or '.join(names)}"
    if len(python) == 1 and "def " in python[0]:
        return python[0], f"{missing}, the only one was taken"
    return None, f"{missing}, the text was left as it is"


def picked(versions: int, count: int) -> str:
    if versions > 1:
        return f"last of {versions} versions in Markdown blocks taken"
    return "taken from a Markdown block" if count == 1 else f"taken from one of {count} Markdown blocks"


def defines(tree: ast.Module, names: Collection[str]) -> bool:
    """Whether a function (not async), a class or an assignment at top level has one of the names."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound = {node.name}
        elif isinstance(node, ast.Assign):
            bound = {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
            bound = {node.target.id}
        else:
            continue
        if not bound.isdisjoint(names):
            return True
    return False


def stands_alone(tree: ast.Module) -> bool:
    """Whether the code brings a jit function and imports torch, triton and tl where it uses them."""
    jit, used, bound = False, set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name):
            used.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            jit |= any("jit" in ast.unparse(decorator) for decorator in node.decorator_list)
    return jit and used & MODULES <= bound


def declares(tree: ast.Module) -> bool:
    """Whether a block is a part of a module (definitions, or nothing but imports), not a usage example."""
    imports = all(isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body)
    return imports or any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in tree.body)
