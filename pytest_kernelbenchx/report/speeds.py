"""How fast the candidates of a method are: a table below the first, where something was timed.

A candidate counts as timed if it passed at every size of the run: one that is slow or wrong at a size can't improve
its figures by that. Its speedup is the geometric mean over its sizes, and so is its efficiency; the medians are over
candidates, each of which counts the same however many sizes its task has. PyTorch's own rows (`eager`) are left out.
"""

from collections import defaultdict
from statistics import geometric_mean, median
from typing import Any, NamedTuple

from pytest_kernelbenchx.collection import EAGER
from pytest_kernelbenchx.report.tables import aligned, method_of, share

HEADER = ("method", "category", "timed", "faster than eager", "median speedup", "median efficiency")


class Timed(NamedTuple):
    """A candidate that passed at every size; efficiency is None where the GPU's peaks are unknown."""

    method: str
    category: str
    speedup: float
    efficiency: float | None


def table(records: list[dict[str, Any]]) -> list[str]:
    """Its lines, none if nothing was timed."""
    body = rows(records)
    return ["", *aligned(HEADER, body)] if body else []


def rows(records: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The table's rows: for every method, its categories and the total."""
    found = timed(records)
    body = []
    for method in dict.fromkeys(one.method for one in found):
        mine = [one for one in found if one.method == method]
        categories = sorted({one.category for one in mine})
        body += [_row(method, name, [one for one in mine if one.category == name]) for name in categories]
        if len(categories) > 1:
            body.append(_row(method, "all", mine))
    return body


def timed(records: list[dict[str, Any]]) -> list[Timed]:
    """The candidates that were timed, by method and round; of a size that was measured twice, the latest counts."""
    sizes: dict[tuple, dict[str, dict[str, Any]]] = defaultdict(dict)
    for record in records:
        if record["stage"] == "performs" and record["method"] != EAGER:
            round = -1 if record["round"] is None else record["round"]
            candidate = (record["method"], round, record["category"], record["task"], record["sample"])
            sizes[candidate][record["size"]] = record
    return [
        Timed(method_of(one[0]), one[0]["category"], speedup, _mean(one, "efficiency"))
        for one in (list(of_size.values()) for _, of_size in sorted(sizes.items(), key=lambda item: item[0][:2]))
        if all(record["verdict"] == "PASSED" for record in one) and (speedup := _mean(one, "speedup")) is not None
    ]


def _mean(records: list[dict[str, Any]], fact: str) -> float | None:
    values = [record["facts"].get(fact) for record in records]
    return geometric_mean(values) if all(value is not None and value > 0 for value in values) else None


def _row(method: str, category: str, found: list[Timed]) -> tuple[str, ...]:
    efficiencies = [one.efficiency for one in found if one.efficiency is not None]
    return (
        method,
        category,
        f"{len(found)}",
        share(sum(one.speedup > 1 for one in found), len(found)),
        f"{median(one.speedup for one in found):.2f}x",
        f"{100 * median(efficiencies):.1f}%" if efficiencies else "-",
    )
