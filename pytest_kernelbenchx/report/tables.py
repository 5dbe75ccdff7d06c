"""What the tables of the terminal summary have in common."""

from typing import Any


def method_of(record: dict[str, Any]) -> str:
    """Method and round, whose candidates are counted together: `claude`, `geak r1`."""
    return record["method"] if record["round"] is None else f"{record['method']} r{record['round']}"


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} {percent(part, whole)}" if whole else "-"


def aligned(header: tuple[str, ...], body: list[tuple[str, ...]]) -> list[str]:
    """Lines: the two columns of text to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in [header, *body]) for i in range(len(header))]
    return [
        "  ".join(
            cell.ljust(w) if i < 2 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [header, *body]
    ]
