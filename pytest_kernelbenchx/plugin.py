"""pytest's side of KernelBenchX: options, marks, and which module implements which hook."""

import difflib
import re
from pathlib import Path

import pytest

CATEGORIES = {
    "activation": "activation functions",
    "convolution": "convolutions",
    "fusion": "several operations in one",
    "index": "gather, scatter and selection",
    "linear_algebra": "factorisations and solvers",
    "loss": "loss functions",
    "math": "elementwise mathematics and transforms",
    "matrix_multiply": "matrix products",
    "normalization": "norms and normalisation layers",
    "optimizer": "steps of optimizers",
    "pooling": "pooling",
    "quantization": "int8 and int4 arithmetic",
    "random": "random numbers and sequences",
    "reduce": "reductions",
    "spatial_ops": "sampling of images and grids",
}
MARKS = {
    **{name: f"tasks of the category {name}: {what}" for name, what in CATEGORIES.items()},
    "compiles": "stage one: the candidate imports, obeys the rules and launches its kernels",
    "correct": "stage two: its results are right",
    "performs": "stage three: its speed at one size",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kernelbenchx", "judging Triton kernels")
    add = group.addoption
    add(
        "--kbx-method",
        action="append",
        default=[],
        metavar="METHOD",
        help="judge this method's candidates only; repeatable, or a comma list",
    )
    add("--kbx-candidates", metavar="PATH", help="folder of candidates, or one JSONL file (default: candidates/)")
    add("--kbx-tasks", metavar="DIR", help="folder of task files (default: tasks/)")
    add(
        "--kbx-device",
        choices=("auto", "cpu", "cuda"),
        default="auto",
        help="where kernels run: cpu is Triton's interpreter (default: a GPU if there is one)",
    )
    add(
        "--kbx-effort",
        choices=("quick", "standard", "thorough"),
        default="standard",
        help="cases drawn per candidate: 15, 50 (default) or 300",
    )
    add("--kbx-seed", default="0", metavar="N", help="seed of the drawn cases, or 'random' (default: 0)")
    add("--kbx-case", metavar="JSON", help="judge this one case only, as a failure message prints it")
    add(
        "--kbx-timeout",
        metavar="SECONDS",
        help="limit per call and stage, e.g. 60 or compiles=30,correct=120 (default: 60 to compile, 120 else)",
    )
    add("--kbx-memory", type=float, default=8.0, metavar="GIB", help="memory that a candidate may hold (default: 8)")
    add(
        "--kbx-results",
        action="append",
        default=[],
        metavar="FILE",
        help="append the records to this JSONL file, too (always: .kbx/records.jsonl)",
    )


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    from pytest_kernelbenchx import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Refuse an argument inside a candidates folder before pytest runs a conftest.py from it."""
    options = early_config.known_args_namespace
    here = early_config.invocation_params.dir
    folder = Path(here, options.kbx_candidates) if options.kbx_candidates else early_config.rootpath / "candidates"
    for argument in options.file_or_dir:
        path = Path(here, str(argument).split("::")[0]).resolve()
        if folder.resolve() in (path, *path.parents):
            raise pytest.UsageError(
                f"{argument} lies in the candidates folder, which pytest must not run: "
                "choose candidates with --kbx-method=METHOD or --kbx-candidates=PATH, and tasks by files in tasks/"
            )


def pytest_configure(config: pytest.Config) -> None:
    from pytest_kernelbenchx import collection, fixtures, scheduling
    from pytest_kernelbenchx.report import records, terminal

    for mark, description in MARKS.items():
        config.addinivalue_line("markers", f"{mark}: {description}")
    _check_marks(config)
    for module in (collection, fixtures, scheduling):
        config.pluginmanager.register(module, module.__name__)
    for plugin in (records.Recorder(config), terminal.Summary(config)):
        config.pluginmanager.register(plugin, type(plugin).__name__)


def _check_marks(config: pytest.Config) -> None:
    """A misspelt -m selects nothing, which old versions of pytest take for success."""
    registered = {re.split(r"[:(]", line)[0].strip() for line in config.getini("markers")}
    expression = re.sub(r"\([^()]*=[^()]*\)", "", config.getoption("markexpr") or "")  # arguments of marks
    for name in re.findall(r"[^\W\d]\w*", expression):
        if name not in registered and name not in ("and", "or", "not", "True", "False", "None"):
            near = difflib.get_close_matches(name, MARKS, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise pytest.UsageError(f"unknown mark {name!r} in -m{hint} (marks of tasks: {', '.join(MARKS)})")
