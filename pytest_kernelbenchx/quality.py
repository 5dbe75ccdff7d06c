"""How a candidate reads: radon's maintainability index and cyclomatic complexity, of its own source alone."""

import ast
from typing import Any


def quality(source: str) -> dict[str, Any]:
    """Figures of a source that parses; {} of one that does not.

    Returns:
        maintainability: radon's index, 0 to 100, comments counted as in KernelBenchX's own figures.
        complexity: the sum over all functions; most_complex: the largest, with the function's name.
        functions: how many there are. lines: lines of code without blank lines and comments.
    """
    from radon.complexity import cc_visit
    from radon.metrics import mi_visit
    from radon.raw import analyze

    try:
        ast.parse(source)
        blocks = cc_visit(source)
        figures = {"maintainability": round(mi_visit(source, multi=True), 2), "lines": analyze(source).sloc}
    except (SyntaxError, ValueError, RecursionError):
        return {}
    complexity = {block.name: block.complexity for block in blocks}
    worst = max(complexity, key=lambda name: complexity[name], default=None)
    return {
        **figures,
        "functions": len(blocks),
        "complexity": sum(block.complexity for block in blocks),
        "most_complex": None if worst is None else [worst, complexity[worst]],
    }
