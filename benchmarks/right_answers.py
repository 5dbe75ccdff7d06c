"""Does stage two reject what is right? Right answers without a kernel, judged on many seeds' cases.

    python benchmarks/right_answers.py --seeds 20 --effort thorough -n 16 --results rows.jsonl [TASK ...]

Every task's cases are drawn as for a candidate on a GPU and answered in three ways: `eager` is PyTorch itself in the
case's element type (but where it overflows though the result does not, as its float16 sums on a CPU do), `exact` the
result in double precision rounded once, `wide` what a good kernel does, PyTorch in float32 rounded once to 16 bits. For
a quantized task `scheme` rounds every quantized input with one scale per slice, as an honest kernel may. Prints each
rejection, and exits with 1 if there is one. Kernels are not run: `--kbx-method=expert --kbx-effort=thorough` does that.
"""

import argparse
import json
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT), str(ROOT / "tests")]

from audits import Change, Study, replacing, reply_to, same, simulated  # noqa: E402

from pytest_kernelbenchx.cases import Case  # noqa: E402
from pytest_kernelbenchx.judge.judging import Reply  # noqa: E402
from pytest_kernelbenchx.judge.oracle import Expectation, copied, each, run  # noqa: E402
from pytest_kernelbenchx.judge.trial import Trial  # noqa: E402
from pytest_kernelbenchx.judge.verdicts import OutcomeError, Verdict  # noqa: E402
from pytest_kernelbenchx.loading import load_task, task_files  # noqa: E402
from pytest_kernelbenchx.settings import CASES  # noqa: E402
from pytest_kernelbenchx.task import Task  # noqa: E402

NARROW = (torch.float16, torch.bfloat16)


def eager(task: Task, expected: Expectation) -> Change:
    def finite(leaf: Any, number: int) -> Any:
        truth = expected.truth[number] if number < len(expected.truth) else None
        if not isinstance(leaf, torch.Tensor) or not isinstance(truth, torch.Tensor) or not leaf.is_floating_point():
            return leaf
        exact = truth.to(leaf.dtype)
        return torch.where(torch.isfinite(leaf) | ~torch.isfinite(exact), leaf, exact)

    return finite


def exact(task: Task, expected: Expectation) -> Change:
    def rounded(leaf: Any, number: int) -> Any:
        return expected.truth[number].to(leaf.dtype) if isinstance(leaf, torch.Tensor) else leaf

    return rounded


def wide(task: Task, expected: Expectation) -> Change:
    def widened(value: torch.Tensor) -> torch.Tensor:
        return value.float() if value.dtype in NARROW else value

    arguments = {name: each(value, widened) for name, value in copied(expected.arguments).items()}
    leaves, _ = run(task, arguments)
    return lambda leaf, number: leaves[number].to(leaf.dtype) if isinstance(leaf, torch.Tensor) else leaf


def scheme(task: Task, expected: Expectation) -> Change:
    return replacing(0, simulated(task, expected))


def ways(task: Task) -> dict[str, Callable[[Task, Expectation], Change]]:
    """How a task's cases are answered."""
    if task.quantized:
        return {"scheme": scheme}
    if not Study(task).exact:
        return {"eager": eager}
    narrow = {"wide": wide} if {"f16", "bf16"} & set(task.dtypes) else {}
    return {"eager": eager, "exact": exact, **narrow}


class Answers:
    """Stands in for a candidate's process."""

    def __init__(self, task: Task, how: Callable[[Task, Expectation], Change]):
        self.task, self.how = task, how
        self.output, self.limit, self.spent = "", 3600.0, 0.0
        self.launches: Counter[str] = Counter(kernel=1)
        self.calls = 0

    def call(self, case: Case, expected: Expectation) -> Reply:
        self.calls += 1
        change = same if expected.raises is not None else self.how(self.task, expected)
        reply = reply_to(self.task, case, expected, change)
        reply.launches = 1
        return reply


def judged(given: tuple[str, int, str]) -> list[dict[str, Any]]:
    """What stage two says of a task's right answers under one seed."""
    path, seed, effort = given
    task = load_task(Path(path))
    torch.set_num_threads(1)
    rows = []
    for name, how in ways(task).items():
        start, answers = time.perf_counter(), Answers(task, how)
        settings = SimpleNamespace(device="cuda", effort=effort, seed=seed, processes=1)
        try:
            outcome = Trial(task, answers, settings).run()
        except OutcomeError as error:
            outcome = error.outcome
        row = {"task": task.name, "seed": seed, "effort": effort, "answers": name, "cases": answers.calls}
        row |= {"verdict": outcome.verdict.name, "reason": outcome.reason, "case": outcome.facts.get("case")}
        rows.append({**row, "seconds": round(time.perf_counter() - start, 2)})
    return rows


def spread(work: list[tuple[str, int, str]], workers: int) -> Iterator[list[dict[str, Any]]]:
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap_unordered(judged, work)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tasks", nargs="*", help="names; all if none")
    parser.add_argument("--seeds", type=int, default=20, help="seeds 0 to N - 1")
    parser.add_argument("--effort", choices=CASES, default="thorough")
    parser.add_argument("-n", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("--results", type=Path, help="write every row to this JSONL file")
    options = parser.parse_args()
    found = {path.stem: path for path in task_files(ROOT / "tasks")}
    if unknown := set(options.tasks) - set(found):
        parser.error(f"no such task: {', '.join(sorted(unknown))}")
    chosen = [found[name] for name in options.tasks or sorted(found)]
    work = [(str(path), seed, options.effort) for seed in range(options.seeds) for path in chosen]
    count: Counter[str] = Counter()
    for number, rows in enumerate(spread(work, options.n), 1):
        for row in rows:
            count.update(answers=1, cases=row["cases"], rejected=row["verdict"] != Verdict.PASSED.name)
            if row["verdict"] != Verdict.PASSED.name:
                what = f"{row['task']} seed {row['seed']} {row['answers']}: {row['verdict']}: {row['reason']}"
                print(f"{what}\n  {row['case']}")
            if options.results:
                with options.results.open("a") as file:
                    file.write(json.dumps(row) + "\n")
        if number % 20 == 0 or number == len(work):
            print(f"{number} of {len(work)}", file=sys.stderr, flush=True)
    print(f"{count['rejected']} of {count['answers']} were rejected, on {count['cases']} cases in all")
    return 1 if count["rejected"] else 0


if __name__ == "__main__":
    sys.exit(main())
