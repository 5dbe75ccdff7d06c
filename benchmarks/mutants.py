"""Has stage two teeth? Make faulty kernels out of good ones, judge them, and list those that pass.

    python benchmarks/mutants.py make --seed 1 mutants.jsonl [KERNEL.py ...]      default: three of each expert kernel
    pytest --kbx-candidates=mutants.jsonl -n 2 --kbx-results=records.jsonl
    python benchmarks/mutants.py report mutants.jsonl records.jsonl [--into docs/teeth.md]

A mutant is a kernel file with one change to its syntax tree, by one of the operators in `mutation/`: what people and
models get wrong. A survivor is a mutant that passes both stages; `mutants.json` says of some, by the hash of their
source, why they are no faults (`{"3f2a...": "the mask is always true here"}`). The exit status of `report` is 1 if
fewer than 98 % of the others are rejected. The same seed gives the same mutants, and those of one kernel do not depend
on which others there are.
"""

import argparse
import hashlib
import json
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

from mutation.applying import OPERATORS, Mutant, chosen, without_effect

ROOT = Path(__file__).parents[1]
EXPERTS = ROOT / "candidates" / "expert"
EQUIVALENT = Path(__file__).with_suffix(".json")
WANTED = 0.98
FIGURES, END = "<!-- figures -->", "<!-- end of figures -->"
COLUMNS = ("rejected", "survived", "equivalent", "NOT_JUDGED", "INFRA_ERROR", "missing")


def identity(source: str) -> str:
    """What `mutants.json` calls a mutant: the hash of its source."""
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def dtypes(name: str) -> tuple[str, ...]:
    """The element types of a task, none where there is no such task."""
    from pytest_kernelbenchx.loading import load_task

    return next((tuple(load_task(file).dtypes) for file in (ROOT / "tasks").glob(f"*/{name}.py")), ())


def mutants(files: list[Path], per_kernel: int, seed: int, limit: int | None) -> list[tuple[Path, int, Mutant]]:
    """`(file, number, mutant)`, sorted by file: every kernel's first before any kernel's second."""
    made = []
    for file in files:
        source, rng = file.read_text(), random.Random(f"{seed}:{file.stem}")
        found = chosen(source, per_kernel, rng, without_effect(dtypes(file.stem)))
        made += [(file, number, one) for number, one in enumerate(found)]
    first = sorted(made, key=lambda row: row[1])[:limit]
    return sorted(first, key=lambda row: row[:2])


def make(options: argparse.Namespace) -> int:
    files = sorted(options.kernels or EXPERTS.rglob("*.py"))
    made = mutants(files, options.per_kernel, options.seed, options.limit)
    with options.mutants.open("w") as out:
        for file, number, one in made:
            row = {"task": file.stem, "method": "mutant", "sample": number, "code": one.source}
            row |= {"operator": one.operator, "line": one.line, "id": identity(one.source)}
            out.write(json.dumps(row) + "\n")
    written = Counter(one.operator for _, _, one in made)
    print(f"{written.total()} mutants of {len(files)} kernels:", dict(written.most_common()))
    print("operators without a mutant:", ", ".join(name for name in OPERATORS if name not in written) or "none")
    return 0


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def outcomes(rows: list[dict], records: list[dict], equivalent: dict[str, str]) -> list[tuple[dict, str, dict | None]]:
    """`(mutant, outcome, record)` for every mutant; the outcome is one of `COLUMNS`."""
    last: dict[str, dict] = {}
    for record in records:
        if record["stage"] in ("compiles", "correct") and record["verdict"] != "SKIPPED":
            last[record["sha256"]] = record
    judged = []
    for row in rows:
        record = last.get(hashlib.sha256(row["code"].encode()).hexdigest())
        verdict = record["verdict"] if record else "missing"
        if verdict == "PASSED":
            verdict = "equivalent" if row["id"] in equivalent else "survived"
        judged.append((row, verdict if verdict in COLUMNS else "rejected", record))
    return judged


def report(options: argparse.Namespace) -> int:
    equivalent = json.loads(EQUIVALENT.read_text())
    judged = outcomes(read(options.mutants), read(options.records), equivalent)
    text, share = told(judged, equivalent)
    print(text)
    if options.into:
        head, start, rest = options.into.read_text().partition(FIGURES)
        _, end, tail = rest.partition(END)
        options.into.write_text(f"{head}{start}\n\n{text}\n{end}{tail}")
    return int(share < WANTED)


def told(judged: list[tuple[dict, str, dict | None]], equivalent: dict[str, str]) -> tuple[str, float]:
    """What became of the mutants, as Markdown, and the share of those that are not equivalent that were rejected."""
    counts: dict[str, Counter] = defaultdict(Counter)
    for row, outcome, _ in judged:
        counts[row["operator"]][outcome] += 1
    total = sum(counts.values(), Counter())
    lines = ["| operator | " + " | ".join(COLUMNS) + " |", "|---" + "|--:" * len(COLUMNS) + "|"]
    for name, found in [*sorted(counts.items()), ("all", total)]:
        lines.append(f"| {name} | " + " | ".join(str(found[column]) for column in COLUMNS) + " |")
    share = total["rejected"] / max(1, total["rejected"] + total["survived"])
    lines += ["", f"{share:.1%} of the mutants that are not equivalent were rejected; wanted {WANTED:.0%}.", ""]
    lines += ["| passed | operator | line | id | why |", "|---|---|--:|---|---|"]
    for row, outcome, _ in sorted(judged, key=lambda one: (one[1] != "survived", one[0]["task"])):
        if outcome in ("survived", "equivalent"):
            reason = equivalent.get(row["id"], "**a gap**")
            lines.append(f"| {row['task']} | {row['operator']} | {row['line']} | `{row['id']}` | {reason} |")
    return "\n".join(lines), share


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    maker = commands.add_parser("make", help="write mutants as JSONL candidates")
    maker.add_argument("mutants", type=Path)
    maker.add_argument("kernels", type=Path, nargs="*")
    maker.add_argument("--per-kernel", type=int, default=3, help="mutants of each kernel, at most")
    maker.add_argument("--limit", type=int, help="mutants of all kernels, at most")
    maker.add_argument("--seed", type=int, default=0)
    maker.set_defaults(run=make)
    reporter = commands.add_parser("report", help="what became of them")
    reporter.add_argument("mutants", type=Path)
    reporter.add_argument("records", type=Path)
    reporter.add_argument("--into", type=Path, help="put it between the marks of this page, too")
    reporter.set_defaults(run=report)
    options = parser.parse_args()
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
