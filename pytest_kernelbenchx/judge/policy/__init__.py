"""Stage one's look at the source: what a candidate may not do, and what is worth knowing of it, in its syntax tree.

Text in comments, strings and docstrings never matches, names are looked up (`import torch as t`), and a finding quotes
the line and says what the rule is for. A finding that is rejected is FORBIDDEN; one that needs confirmation goes into
the record, and explains a verdict where what was seen at run time fits (a library that could be imported is FORBIDDEN);
a note goes into the record.

`rules` holds the rules and the paths that break them, `operators` PyTorch's operators, `names` what a name stands for;
`uses`, `structure` and `flow` look.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from pytest_kernelbenchx.judge.policy.findings import Finding, Source
from pytest_kernelbenchx.judge.policy.flow import flow
from pytest_kernelbenchx.judge.policy.operators import GROUPS
from pytest_kernelbenchx.judge.policy.rules import RULES, Level
from pytest_kernelbenchx.judge.policy.structure import structure
from pytest_kernelbenchx.judge.policy.uses import uses
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict

__all__ = ["GROUPS", "RULES", "Examination", "Finding", "Level", "asks_for_gpu", "examine", "parse"]

TOO_DEEP = Outcome(Verdict.SYNTAX, "the file does not parse: its expressions are nested too deeply for Python")
QUOTED, TOLD, LINE = 8, 40, 100  # findings in a message and in a record, characters of a quoted line
EXPLAINS = {
    Verdict.NO_KERNEL: ("no-kernel", "fallback", "compute", "launcher"),
    Verdict.DELEGATED: ("fallback", "compute", "no-kernel", "launcher"),
    Verdict.ASYNC_WORK: ("stream",),
    Verdict.RESULT_REUSED: ("memo", "counter", "files"),
    Verdict.NONDETERMINISTIC: ("counter", "memo", "environment"),
    Verdict.TAMPERED: ("setting", "launcher", "files", "exit"),
    Verdict.TOO_FAST: ("memo", "counter", "stream", "environment"),
    Verdict.NO_RESULT: ("exit",),
}
"""The rules whose findings, once a verdict says that it happened, say where."""


@dataclass(frozen=True)
class Examination:
    """What was found in a source; `lines` are its lines."""

    findings: tuple[Finding, ...]
    lines: tuple[str, ...]

    def of(self, level: Level) -> list[Finding]:
        return [finding for finding in self.findings if finding.level is level]

    @property
    def outcome(self) -> Outcome | None:
        """FORBIDDEN with every finding that is rejected, or None."""
        found = self.of(Level.REJECT)
        return self._forbidden(found) if found else None

    def _forbidden(self, found: list[Finding]) -> Outcome:
        first, facts = found[0], {"rules": sorted({finding.rule for finding in found})}
        reason = f"line {first.line}: {first.what}: {first.why}"
        return Outcome(Verdict.FORBIDDEN, reason, "\n".join(self.quoted(found)), facts)

    def imported(self) -> Outcome | None:
        """FORBIDDEN for libraries that are there to be imported, once the import of the candidate has succeeded."""
        found = [f for f in self.of(Level.CONFIRM) if f.rule in ("library", "import") and _installed(f.what)]
        return self._forbidden(found) if found else None

    @property
    def facts(self) -> dict[str, Any]:
        """What goes into the record: findings to be confirmed, and notes."""
        levels = {"confirm": Level.CONFIRM, "notes": Level.NOTE}
        told = {key: [f"line {f.line}: {f.rule}: {f.what}" for f in self.of(level)] for key, level in levels.items()}
        policy = {key: found[:TOLD] for key, found in told.items() if found}
        return {"policy": policy} if policy else {}

    def quoted(self, findings: Iterable[Finding]) -> list[str]:
        """The first findings, each with its line of the source."""
        return [
            f"line {f.line}: {self.lines[f.line - 1].strip()[:LINE]}\n    {f.what}: {f.why}"
            for f in list(findings)[:QUOTED]
        ]

    def explained(self, outcome: Outcome) -> Outcome:
        """The outcome, with the lines that explain it where run time has shown what they only suggest."""
        rules = EXPLAINS.get(outcome.verdict, ())
        found = sorted((f for f in self.of(Level.CONFIRM) if f.rule in rules), key=lambda f: rules.index(f.rule))
        if not found:
            return outcome
        facts = {**outcome.facts, "rules": sorted({finding.rule for finding in found})}
        return replace(outcome, details="\n".join([*outcome.details.splitlines(), *self.quoted(found)]), facts=facts)


def parse(source: str) -> ast.Module | Outcome:
    """The syntax tree, or the SYNTAX outcome with the place."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        place = f"line {line}: " if line else ""
        text = _lines(source)[line - 1].strip()[:120] if line and line <= len(_lines(source)) else ""
        return Outcome(Verdict.SYNTAX, f"the file does not parse: {place}{getattr(error, 'msg', error)}", text)
    except (RecursionError, MemoryError):
        return TOO_DEEP


def examine(
    tree: ast.Module, source: str, forbid: tuple[str, ...] = (), entries: Iterable[str] = ()
) -> Examination | Outcome:
    """What the rules find; the SYNTAX outcome for a tree too deep to look at.

    Args:
        forbid: groups of operators that the task rules out, see `operators.GROUPS`.
        entries: names that the entry point may have, the preferred first.
    """
    try:
        seen = Source(tree)
        found = [*uses(seen, forbid), *structure(seen), *flow(seen, entries)]
    except RecursionError:
        return TOO_DEEP
    order = {level: number for number, level in enumerate(Level)}
    unique = dict.fromkeys(sorted(found, key=lambda f: (order[f.level], f.line)))
    return Examination(tuple(unique), tuple(_lines(source)))


def _installed(what: str) -> bool:
    """Whether the module that a finding says is imported is installed."""
    root = what.removeprefix("imports ").split(".")[0]
    return what.startswith("imports ") and root.isidentifier() and find_spec(root) is not None


def _lines(source: str) -> list[str]:
    """Lines as Python counts them: a form feed does not end one."""
    return re.split(r"\r\n|\r|\n", source)


def asks_for_gpu(tree: ast.Module) -> int | None:
    """The first line on which a candidate looks for a GPU, and may go another way where there is none."""
    lines = [
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr in ("cuda", "is_cuda", "device_count"))
        or (isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.split(":")[0] == "cuda")
    ]
    return min(lines, default=None)
