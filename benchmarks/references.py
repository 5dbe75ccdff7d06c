"""Does every reference run at every size, and is what it moves and computes within what the GPU can do?

    python benchmarks/references.py --rows rows.jsonl [TASK ...]     on a GPU: measure, a JSON line per size
    python benchmarks/references.py --rows rows.jsonl --table        anywhere: the table of docs/references.md

Every call is timed by itself behind a flushed cache, so a small size shows the launch and not the cache. A size fails
if the reference raises, if an output is constant or not finite, or if bytes or operations over the time exceed 1.05 of
the peak that the vendor gives; the exit status is then 1.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from statistics import median

import torch
from torch import Tensor

from pytest_kernelbenchx.cases import build, from_size
from pytest_kernelbenchx.judge.oracle import copied, run
from pytest_kernelbenchx.loading import load_task, task_files
from pytest_kernelbenchx.performance import cost, hardware
from pytest_kernelbenchx.performance.roofline import utilisation
from pytest_kernelbenchx.task import Task

TASKS = Path(__file__).parents[1] / "tasks"
CALLS, SECONDS = 20, 0.2
MOST = 1.05


def measure(task: Task, label: str, flush: Tensor) -> dict:
    """A row: seconds of a call, what it moves and computes, and what is wrong with the output."""
    case = from_size(task, label)
    arguments = build(task, case, "cuda")
    row = {
        "task": task.name,
        "category": task.category,
        "size": label,
        "dtype": case.dtype,
        "bytes": cost.moved(task, case),
        "operations": cost.operations(task, case),
        "footprint": cost.footprint(task, case),
    }
    outputs, _ = run(task, copied(arguments) if task.mutates else arguments)
    row["wrong"] = [f"output {n} {what}" for n, leaf in enumerate(outputs) if (what := flaw(leaf))]
    del outputs
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < 3 or (len(times) < CALLS and time.perf_counter() - begin < SECONDS):
        times.append(seconds(task, arguments, flush))
    row["seconds"] = median(times)
    return row


def seconds(task: Task, arguments: dict, flush: Tensor) -> float:
    given = copied(arguments) if task.mutates else arguments
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    flush.zero_()
    torch.cuda.synchronize()
    start.record()
    run(task, given)
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1e3


def flaw(leaf: object) -> str:
    """What makes an output a bad witness: not finite, or the same everywhere."""
    if not isinstance(leaf, Tensor) or not leaf.numel():
        return ""
    if (leaf.is_floating_point() or leaf.is_complex()) and not bool(torch.isfinite(leaf).all()):
        return f"holds {int((~torch.isfinite(leaf)).sum())} values that are not finite"
    first = leaf.reshape(-1)[0]
    return "is the same everywhere" if leaf.numel() > 1 and bool((leaf == first).all()) else ""


def rows_of(paths: list[Path], out: Path) -> int:
    torch.backends.cudnn.allow_tf32 = False
    failed = 0
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    with out.open("a") as file:
        for path in paths:
            task = load_task(path)
            for label in task.sizes:
                try:
                    row = measure(task, label, flush)
                except Exception as error:
                    row = {"task": task.name, "category": task.category, "size": label}
                    row["wrong"] = [f"{type(error).__name__}: {error}"[:300]]
                row["gpu"] = torch.cuda.get_device_name()
                failed += bool(row["wrong"])
                file.write(json.dumps(row) + "\n")
                file.flush()
                print(f"{task.name:44} {label:10} {row.get('seconds', 0) * 1e3:10.4f} ms  {'; '.join(row['wrong'])}")
                torch.cuda.empty_cache()
    return failed


HEAD = """Eager PyTorch at every size of every task: time of a call behind a flushed cache (small sizes show the
launch), and what it must move and compute over the peaks that the vendor gives; nothing may exceed 1.05 of these. Every
output is finite, and none is the same everywhere. Rows marked *GPU shared* were measured while other work ran on the
GPU. Made by `python benchmarks/references.py --rows rows.jsonl`, then `--table`.
"""


def table(rows: list[dict]) -> int:
    """Print Markdown; how many rows lie above `MOST`."""
    name = rows[0]["gpu"]
    gpu, above = hardware.find(name), 0
    print(f"# Reference times on an {name}\n\n{HEAD}")
    print("| category | task | size | type | ms | MB | Gop | bytes / peak | operations / peak | |\n|" + "---|" * 10)
    for row in sorted(rows, key=lambda row: (row["category"], row["task"])):
        note = "; ".join([*row["wrong"], *(["GPU shared"] if row.get("shared") else [])])
        if "seconds" not in row:
            print(f"| {row['category']} | {row['task']} | {row['size']} | | | | | | | {note} |")
            continue
        used = utilisation(gpu, row["seconds"], row["bytes"], row["operations"], 0.0)
        above += max(used.iou or 0, used.mfu or 0) > MOST
        mfu = "" if used.mfu is None else f"{used.mfu:.3f}"
        cells = [row["category"], row["task"], row["size"], row["dtype"], f"{row['seconds'] * 1e3:.4f}"]
        cells += [f"{row['bytes'] / 1e6:.2f}", f"{sum(row['operations'].values()) / 1e9:.2f}"]
        print("| " + " | ".join([*cells, f"{used.iou:.3f}" if used.iou is not None else "", mfu, note]) + " |")
    return above


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", help="names of tasks (default: all)")
    parser.add_argument("--rows", type=Path, required=True, help="JSONL of the rows, appended to")
    parser.add_argument("--table", action="store_true", help="print the table of the rows, measure nothing")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.table:
        rows = [json.loads(line) for line in options.rows.read_text().splitlines()]
        return int(table(rows) > 0 or any(row["wrong"] for row in rows))
    paths = [path for path in task_files(TASKS) if not options.tasks or path.stem in options.tasks]
    return int(rows_of(paths, options.rows) > 0)


if __name__ == "__main__":
    sys.exit(main())
