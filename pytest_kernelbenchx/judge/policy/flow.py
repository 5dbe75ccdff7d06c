"""Rules on what calls what: is a kernel launched from the entry point, and what happens when a launch fails."""

import ast
from collections.abc import Iterable, Iterator

from pytest_kernelbenchx.judge.policy.findings import Finding, Source, shown

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Calls:
    """Which functions and classes of a source mention which others."""

    def __init__(self, source: Source):
        self.source = source
        self.named: dict[str, list[ast.AST]] = {}
        for node in source.nodes:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.named.setdefault(node.name, []).append(node)
        for node in source.tree.body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    self.named.setdefault(shown(target), []).append(node)
        self._mentions: dict[int, list[ast.AST]] = {}

    def reached(self, start: Iterable[ast.AST]) -> list[ast.AST]:
        """Everything that is mentioned from `start` on, itself included."""
        found: dict[int, ast.AST] = {}
        waiting = list(start)
        while waiting:
            node = waiting.pop()
            if id(node) not in found:
                found[id(node)] = node
                waiting += self.mentions(node)
        return list(found.values())

    def mentions(self, node: ast.AST) -> list[ast.AST]:
        if id(node) not in self._mentions:
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            names |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
            self._mentions[id(node)] = [found for name in names for found in self.named.get(name, ())]
        return self._mentions[id(node)]

    def launches(self, node: ast.AST) -> bool:
        """Whether a kernel is launched from here: `kernel[grid](...)`, or `kernel.run(...)`, `kernel.warmup(...)`."""
        return any(self._is_launch(call) for part in self.reached([node]) for call in self.source.calls(part))

    def compiles(self, node: ast.AST) -> bool:
        """Whether a node is a kernel, or makes one of a function: `kernel = triton.jit(function)`."""
        if id(node) in self.source.kernels:
            return True
        return any(self.source.compiles(call) for call in self.source.calls(node))

    def _is_launch(self, call: ast.Call) -> bool:
        if isinstance(call.func, ast.Subscript):
            return True
        return isinstance(call.func, ast.Attribute) and call.func.attr in ("run", "warmup")


def flow(source: Source, entries: Iterable[str]) -> Iterator[Finding]:
    """Findings on reachability and on handlers around launches."""
    calls = Calls(source)
    starts = [node for name in entries for node in calls.named.get(name, ())]
    if starts and not any(map(calls.compiles, calls.reached(starts[:1]))):
        yield Finding.of(starts[0], "no-kernel", "no function under @triton.jit is reached from the entry point")
    for node in source.nodes:
        if isinstance(node, ast.Try) and any(map(calls.launches, node.body)):
            yield from _handlers(calls, node)


def _handlers(calls: Calls, attempt: ast.Try) -> Iterator[Finding]:
    """Handlers that go on without a launch where one failed."""
    for handler in attempt.handlers:
        caught = "ImportError" in shown(handler.type) if handler.type is not None else False
        raises = any(isinstance(node, ast.Raise) for statement in handler.body for node in ast.walk(statement))
        again = any(map(calls.launches, handler.body))
        if not (caught or raises or again):
            what = shown(handler.type) if handler.type is not None else "everything"
            yield Finding.of(handler, "fallback", f"catches {what} where a kernel is launched")
