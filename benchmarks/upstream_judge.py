"""What would KernelBenchX's own tests say of the same mutants? The share that they reject, to set beside ours.

    python benchmarks/upstream_judge.py CATALOGUE.json mutants.jsonl [--sample 100] [--results upstream.jsonl]

CATALOGUE.json describes upstream's tests: a list of tasks, each with `name`, `tolerance` and `correctness_cases`, whose
`args` are values or types such as "f32[64,128]", and whose `domain` says how the tensors are made ("Nout": normal, each
value with probability `outlier_prob` replaced by one `outlier_scale` times as large).

Upstream's rule: every returned tensor has the expected shape and type and is close to the expected one with rtol = atol
of 1e-5 (float32, float64), 5e-3 (16 bits), or 0 (all others); quantized tasks have limits for cosine, relative L1 and
absolute RMSE. Only what is returned is looked at.

What is approximate: kernels run in this project's sandbox, in Triton's interpreter; the expected values are those of
this project's references; the random numbers are others; cases that the description does not determine, or that the
unchanged kernel does not pass by upstream's rule (it needs PyTorch's random stream, or asks for other mathematics), are
left out. An access out of bounds, which the sandbox stops and a GPU mostly does not notice, is counted apart.
"""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from mutation.described import arguments

from pytest_kernelbenchx.cases import split_call
from pytest_kernelbenchx.judge.oracle import copied, flatten, run
from pytest_kernelbenchx.judge.verdicts import Verdict
from pytest_kernelbenchx.loading import load_task
from pytest_kernelbenchx.sandbox.host import Sandbox
from pytest_kernelbenchx.sandbox.process import Child, Died
from pytest_kernelbenchx.task import Task

ROOT = Path(__file__).parents[1]
SECONDS = 60.0
CLOSE = {torch.float32: 1e-5, torch.float64: 1e-5, torch.float16: 5e-3, torch.bfloat16: 5e-3}
SEED = 0
Prepared = tuple[dict[str, Any], list[Any]]
"""Arguments of a call, and what the reference returns for them."""


def alike(got: Any, expected: Any, limits: dict[str, float] | None) -> bool:
    """Upstream's comparison of one returned value."""
    if not isinstance(expected, torch.Tensor):
        return got == expected
    if not isinstance(got, torch.Tensor) or got.shape != expected.shape or got.dtype != expected.dtype:
        return False
    if limits is None:
        close = CLOSE.get(expected.dtype, 0.0)
        return torch.allclose(got, expected, rtol=close, atol=close, equal_nan=True)
    a, b = got.double().flatten(), expected.double().flatten()
    cosine = torch.nn.functional.cosine_similarity(a, b, dim=0) if b.norm() > 0 else torch.ones(())
    relative = (a - b).abs().sum() / b.abs().sum().clamp(min=1e-12)
    rmse = (a - b).square().mean().sqrt()
    return bool(cosine >= limits["cosine_sim"] and relative <= limits["l1_relative"] and rmse <= limits["rmse"])


class Kernel:
    """A source in the sandbox: one process until it dies, then a new one."""

    def __init__(self, sandbox: Sandbox, task: Task, source: str):
        self.sandbox, self.task, self.source = sandbox, task, source
        self.child: Child | None = None

    def verdict(self, case: Prepared, limits: dict[str, float] | None) -> str:
        """One of "PASSED", "WRONG_VALUES", and the verdict on a call that failed."""
        given, expected = case
        try:
            if self.child is None:
                self.child = self.sandbox.child()
                entries = [self.task.name, *self.task.aliases]
                loaded = self.child.load(f"{self.task.name}.py", self.source, entries, timeout=SECONDS)
                if loaded.outcome is not None:
                    return loaded.outcome.verdict.name
            positional, named = split_call(self.task, copied(given))
            answer = self.child.call(positional, named, seed=SEED, timeout=SECONDS)
        except Died as death:
            self.child = None
            return death.outcome.verdict.name
        if not answer.ok:
            return answer.outcome.verdict.name
        found = flatten(answer.value)
        right = len(found) == len(expected) and all(alike(*pair, limits) for pair in zip(found, expected, strict=True))
        return Verdict.PASSED.name if right else Verdict.WRONG_VALUES.name

    def close(self) -> None:
        if self.child is not None:
            self.child.kill()


def prepared(task: Task, described: dict[str, Any]) -> tuple[list[Prepared], int]:
    """Upstream's cases of a task, and how many are not determined."""
    made: list[Prepared] = []
    missing = 0
    for number, case in enumerate(described["correctness_cases"]):
        if "args" not in case or "raises" in case:
            continue  # what follows from another case, or an error message
        for repeat in range(case.get("repeat", 1)):
            try:
                given = arguments(case, torch.Generator().manual_seed(1000 * number + repeat))
                made.append((given, run(task, copied(given))[0]))
            except Exception:  # Undetermined, or a call that our reference does not know
                missing += 1
    return made, missing


def worst(verdicts: Iterable[str]) -> str:
    """The first that rejects; OUT_OF_BOUNDS only if there is no other; "no case" where there is none at all."""
    seen = "no case"
    for verdict in verdicts:
        if verdict not in ("PASSED", "OUT_OF_BOUNDS"):
            return verdict
        seen = verdict if seen != "OUT_OF_BOUNDS" else seen
    return seen


def judged(sandbox: Sandbox, task: Task, described: dict[str, Any], parent: str, rows: list[dict]) -> list[dict]:
    """What upstream's cases say of the mutants of one kernel."""
    limits = described["tolerance"]
    cases, missing = prepared(task, described)
    expert = Kernel(sandbox, task, parent)
    usable = [case for case in cases if expert.verdict(case, limits) == "PASSED"]
    expert.close()
    left_out = missing + len(cases) - len(usable)
    found = []
    for row in rows:
        kernel = Kernel(sandbox, task, row["code"])
        verdict = worst(kernel.verdict(case, limits) for case in usable)
        kernel.close()
        mutant = {key: row[key] for key in ("id", "task", "operator", "line")}
        found.append({**mutant, "verdict": verdict, "cases": len(usable), "left_out": left_out})
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("catalogue", type=Path)
    parser.add_argument("mutants", type=Path)
    parser.add_argument("--sample", type=int, default=100, help="mutants to judge, drawn at random")
    parser.add_argument("--results", type=Path, help="append a line of JSON for each mutant")
    options = parser.parse_args()
    described = {task["name"]: task for task in json.loads(options.catalogue.read_text())}
    rows = [json.loads(line) for line in options.mutants.read_text().splitlines()]
    rows = [row for row in rows if row["task"] in described]
    rows = random.Random(SEED).sample(rows, min(options.sample, len(rows)))
    counts: Counter[str] = Counter()
    with Sandbox("cpu") as sandbox:
        for name in sorted({row["task"] for row in rows}):
            file = next((ROOT / "tasks").glob(f"*/{name}.py"))
            parent = ROOT / "candidates" / "expert" / file.parent.name / file.name
            mine = [row for row in rows if row["task"] == name]
            for result in judged(sandbox, load_task(file), described[name], parent.read_text(), mine):
                counts[result["verdict"]] += 1
                if options.results:
                    with options.results.open("a") as out:
                        out.write(json.dumps(result) + "\n")
    return summary(counts)


def summary(counts: Counter[str]) -> int:
    """Print the share that upstream's tests reject."""
    judged = counts.total() - counts["no case"]
    apart = counts["OUT_OF_BOUNDS"]
    rejected = judged - counts["PASSED"] - apart
    print(f"{counts.total()} mutants:", dict(counts.most_common()))
    print(f"Upstream's cases and tolerances reject {rejected} of {judged} ({rejected / max(1, judged):.0%}), ", end="")
    print(f"and {apart} more if an access out of bounds were noticed ({(rejected + apart) / max(1, judged):.0%}).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
