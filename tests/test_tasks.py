"""The suite audits itself: every task satisfies what `audits` asks, and the published names and signatures.

`pytest tests/test_tasks.py -k cube` audits one task. At the end stands a table of what was looked at, by category.
"""

import ast
import inspect
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import median

import pytest
from audits import AUDITS, Study, digest, figures

from conftest import ROOT, TASKS
from pytest_kernelbenchx.loading import load_task, task_files
from pytest_kernelbenchx.plugin import CATEGORIES

TASK_FILES = task_files(TASKS)
COUNTS = {
    "fusion": 60,
    "math": 36,
    "linear_algebra": 17,
    "activation": 10,
    "matrix_multiply": 10,
    "reduce": 6,
    "index": 6,
    "loss": 6,
    "quantization": 6,
    "normalization": 5,
    "optimizer": 5,
    "spatial_ops": 3,
    "convolution": 2,
    "random": 2,
    "pooling": 2,
}
EXTRA = 8
PUBLISHED = (Path(__file__).parent / "signatures.txt").read_text().splitlines()
SAMPLE = 6  # cases of a task that are built in another process
DIGESTS = """
import json, sys
from pathlib import Path
from audits import digest
for line in sys.stdin:
    path, texts = json.loads(line)
    print(json.dumps([digest(Path(path), text) for text in texts]))
"""


@pytest.fixture(scope="module")
def study(task):
    return Study(task)


@pytest.mark.parametrize("audit", AUDITS.values(), ids=list(AUDITS))
def test_audit(study, audit):
    complaints = list(audit(study))
    assert not complaints, "\n".join([audit.__doc__.split("\n")[0], *complaints[:5]])


def test_figures(study, record_property):
    found = figures(study)
    assert min(found[name] for name in ("cases", "shapes", "dtypes")) > 0
    record_property("audited", {"category": study.task.category, **found})


def published(task):
    """A line of signatures.txt: category, name and arguments without annotations."""
    parsed = ast.parse(f"def {task.name}{inspect.signature(task.reference)}: pass").body[0]
    for argument in [*parsed.args.args, *parsed.args.kwonlyargs, *filter(None, [parsed.args.vararg])]:
        argument.annotation = None
    return f"{task.category}/{task.name}({ast.unparse(parsed.args)}){' extra' if task.extra else ''}"


def test_names_categories_and_signatures():
    tasks = [load_task(path) for path in TASK_FILES]
    assert sorted(published(task) for task in tasks) == PUBLISHED
    assert Counter(task.category for task in tasks if not task.extra) == COUNTS
    assert sum(task.extra for task in tasks) == EXTRA
    assert set(COUNTS) == set(CATEGORIES)
    assert [path.stem for path in TASK_FILES] == [task.name for task in tasks]


def test_files_are_short():
    assert median(len(path.read_text().splitlines()) for path in TASK_FILES) <= 35


def test_documentation_is_up_to_date():
    done = subprocess.run([sys.executable, "docs/generate.py", "--check"], cwd=ROOT, timeout=300)
    assert done.returncode == 0, "run: python docs/generate.py"


def test_cases_are_the_same_in_another_process():
    questions, here = [], []
    for path in TASK_FILES:
        texts = [case.to_json() for case in Study(load_task(path)).few(SAMPLE)]
        questions.append(json.dumps([str(path), texts]))
        here.append(json.dumps([digest(path, text) for text in texts]))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), os.environ["PYTHONPATH"]])}
    done = subprocess.run(
        [sys.executable, "-c", DIGESTS],
        input="\n".join(questions),
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == here
