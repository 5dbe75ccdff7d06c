"""Compare our verdicts on real candidates with those that upstream recorded, and ask for a reason where they differ.

    python benchmarks/real_candidates.py CORPUS.jsonl --records cpu=RECORDS.jsonl --records H200=RECORDS.jsonl \
        --reasons benchmarks/real_candidates.json > docs/real_candidates.md

CORPUS has a line per candidate with `task`, `round` or `method`, and upstream's verdicts `published` and
`upstream_on_h200`. RECORDS are those of a run over CORPUS. A disagreement is a candidate that upstream calls correct
and we do not, or the other way round; each needs a line in REASONS, `{"relu r0": "..."}`, or the exit status is 1.
"""

import argparse
import json
import sys
from pathlib import Path

Key = tuple[str, str]  # task, and method or round


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def upstream(verdict: dict | None) -> str:
    if verdict is None:
        return "-"
    return "correct" if verdict["correct"] else "wrong" if verdict["compiles"] else "does not run"


def key_of(candidate: dict) -> Key:
    task = candidate["task"].split("/")[-1].removesuffix(".py")
    return task, f"r{candidate['round']}" if candidate.get("round") is not None else candidate["method"]


def ours(records: list[dict]) -> dict[Key, str]:
    """The last word on every candidate: `correct`, or the verdict that ended its way."""
    found: dict[Key, str] = {}
    for record in records:
        key = record["task"], f"r{record['round']}" if record["round"] is not None else record["method"]
        if record["stage"] == "compiles" and record["verdict"] != "PASSED":
            found[key] = record["verdict"]
        elif record["stage"] == "correct" and record["verdict"] != "SKIPPED":
            found[key] = "correct" if record["verdict"] == "PASSED" else record["verdict"]
    return found


def disagrees(theirs: str, verdict: str) -> bool:
    """NOT_JUDGED and a missing verdict say nothing, so they disagree with nothing."""
    if theirs == "-" or verdict in ("-", "NOT_JUDGED"):
        return False
    return (theirs == "correct") != (verdict == "correct")


def table(corpus: list[dict], runs: dict[str, dict[Key, str]], reasons: dict[str, str]) -> tuple[list[str], list[str]]:
    """Rows of the Markdown table, and the disagreements without a reason."""
    rows, unexplained = [], []
    for candidate in sorted(corpus, key=key_of):
        key = key_of(candidate)
        theirs = [upstream(candidate.get("published")), upstream(candidate.get("upstream_on_h200"))]
        here = [found.get(key, "-") for found in runs.values()]
        differs = any(disagrees(theirs[-1], verdict) for verdict in here)
        name = " ".join(key)
        if differs and name not in reasons:
            unexplained.append(f"{name}: upstream {theirs[-1]}, here {', '.join(here)}")
        rows.append(
            "| " + " | ".join([key[0], key[1], *theirs, *here, reasons.get(name, "") if differs else ""]) + " |"
        )
    return rows, unexplained


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--records", action="append", required=True, metavar="NAME=FILE")
    parser.add_argument("--reasons", type=Path, required=True)
    options = parser.parse_args()
    runs = {}
    for given in options.records:
        name, _, file = given.partition("=")
        runs[name] = ours(lines(Path(file)))
    corpus = lines(options.corpus)
    rows, unexplained = table(corpus, runs, json.loads(options.reasons.read_text()))
    head = [
        "task",
        "candidate",
        "upstream, published",
        "upstream, on an H200",
        *(f"here, {name}" for name in runs),
        "why",
    ]
    print("\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *rows]))
    for name, found in runs.items():
        judged = [found.get(key_of(c), "-") for c in corpus]
        print(
            f"\n{name}: {len(judged) - judged.count('-')} of {len(judged)} judged, {judged.count('correct')} correct."
        )
    print("\n".join(unexplained), file=sys.stderr)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
