"""Compare our verdicts on real candidates with those that upstream recorded, and ask for a reason where they differ.

    python benchmarks/real_candidates.py CORPUS.jsonl --records H200=RECORDS.jsonl --records CPU=RECORDS.jsonl \
        --reasons benchmarks/real_candidates.json --title "62 kernels of an agent" > docs/real_candidates_agent.md

CORPUS has a line per candidate with `task`, `round` or `method`, and upstream's verdicts `published` and
`upstream_on_h200`. RECORDS are those of a run over CORPUS. A disagreement is a candidate that upstream calls correct
and we do not, or the other way round; each needs a line in REASONS, `{"relu r0": "..."}`, or the exit status is 1.
Printed are the numbers by method (and category, where there are several methods), and the candidates: with `--every`
all, without it those where the two disagree.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

HEAD = """*Upstream, published* is the verdict that the benchmark published (-: it has none), *upstream, H200* that of
its own pipeline and cases run again on one H200; *here* is this suite's, on a GPU with standard effort, on a CPU in
Triton's interpreter with quick effort. NOT_JUDGED says that the machine cannot tell. In the interpreter, what does not
compile mostly shows as RUNTIME_ERROR. Reasons are for the verdict on the GPU. Made by `benchmarks/real_candidates.py`,
which fails where a disagreement has no reason.
"""
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


def compiled(records: list[dict]) -> set[Key]:
    """The candidates that passed stage one."""
    passed = [record for record in records if record["stage"] == "compiles" and record["verdict"] == "PASSED"]
    return set(ours([{**record, "stage": "correct"} for record in passed]))


def disagrees(theirs: str, verdict: str) -> bool:
    """NOT_JUDGED and a missing verdict say nothing, so they disagree with nothing."""
    if theirs == "-" or verdict in ("-", "NOT_JUDGED"):
        return False
    return (theirs == "correct") != (verdict == "correct")


def differs(candidate: dict, runs: dict[str, dict[Key, str]]) -> bool:
    theirs = [upstream(candidate.get(name)) for name in ("published", "upstream_on_h200")]
    return any(disagrees(verdict, found.get(key_of(candidate), "-")) for found in runs.values() for verdict in theirs)


def row(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def numbers(corpus: list[dict], runs: dict[str, dict[Key, str]], stage_one: dict[str, set[Key]]) -> list[str]:
    """How many upstream and we call correct, by method and, where there are several methods, by category."""
    groups: dict[tuple[str, str], list[dict]] = defaultdict(list)
    for candidate in corpus:
        category = candidate["task"].split("/")[0]
        groups[candidate.get("method", "all"), "all"].append(candidate)
        if "method" in candidate:
            groups[candidate["method"], category].append(candidate)
    head = ["method", "category", "candidates", "upstream, H200: run", "correct"]
    for name in runs:
        head += [f"here, {name}: judged", "pass stage one", "correct"]
    printed = [row(*head), "|" + "---|" * len(head)]
    for (method, category), members in sorted(groups.items()):
        theirs = [upstream(member["upstream_on_h200"]) for member in members]
        ran = sum(verdict in ("correct", "wrong") for verdict in theirs)
        cells = [method, category, len(members), ran, theirs.count("correct")]
        for name, found in runs.items():
            verdicts = [found.get(key_of(member), "-") for member in members]
            cells += [sum(verdict not in ("-", "NOT_JUDGED") for verdict in verdicts)]
            cells += [sum(key_of(member) in stage_one[name] for member in members), verdicts.count("correct")]
        printed.append(row(*cells))
    return printed


def table(corpus: list[dict], runs: dict[str, dict[Key, str]], reasons: dict[str, str], every: bool) -> list[str]:
    head = ["task", "candidate", "upstream, published", "upstream, H200", *(f"here, {name}" for name in runs), "why"]
    printed = [row(*head), "|" + "---|" * len(head)]
    for candidate in sorted(corpus, key=key_of):
        differing = differs(candidate, runs)
        if differing or every:
            theirs = [upstream(candidate.get(name)) for name in ("published", "upstream_on_h200")]
            here = [found.get(key_of(candidate), "-") for found in runs.values()]
            why = reasons.get(" ".join(key_of(candidate)), "") if differing else ""
            printed.append(row(*key_of(candidate), *theirs, *here, why))
    return printed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--records", action="append", required=True, metavar="NAME=FILE")
    parser.add_argument("--reasons", type=Path, required=True)
    parser.add_argument("--title", default="Real candidates")
    parser.add_argument("--every", action="store_true", help="print every candidate, not only the disagreements")
    options = parser.parse_args()
    runs, stage_one = {}, {}
    for given in options.records:
        name, _, file = given.partition("=")
        runs[name], stage_one[name] = ours(lines(Path(file))), compiled(lines(Path(file)))
    corpus, reasons = lines(options.corpus), json.loads(options.reasons.read_text())
    disagreements = [" ".join(key_of(candidate)) for candidate in corpus if differs(candidate, runs)]
    print(f"# {options.title}\n\n{HEAD}")
    print("\n".join(numbers(corpus, runs, stage_one)))
    print(f"\n## {'All candidates' if options.every else 'Where the two disagree'}\n")
    print("\n".join(table(corpus, runs, reasons, options.every)))
    unexplained = [name for name in disagreements if name not in reasons]
    summary = f"{len(disagreements)} disagreements, {len(unexplained)} without a reason"
    print(summary, *unexplained, sep="\n", file=sys.stderr)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
