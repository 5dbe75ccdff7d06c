"""pytest's side of KernelBenchX: options, marks, and which module implements which hook."""

import secrets

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
    "extra": "tasks outside the 176 of the benchmark, no part of the number of all tasks",
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
    add(
        "--kbx-seed",
        metavar="N",
        help="seed of the drawn cases, or 'random' (default: that of --hypothesis-seed, or else 0)",
    )
    add("--kbx-case", metavar="JSON", help="judge this one case only, as a failure message prints it")
    add(
        "--kbx-timeout",
        metavar="SECONDS",
        help="limit per call and stage, e.g. 60 or compiles=30,correct=120 (default: 60 to compile, 120 else)",
    )
    add(
        "--kbx-delegation",
        choices=("report", "forbid"),
        default="report",
        help="whether PyTorch may do a part of the work: report its share (default), or forbid it (DELEGATED)",
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
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    from pytest_kernelbenchx import usage

    usage.check_arguments(early_config, args)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("kbx_seed") == "random":  # drawn once, so that workers agree and the run can be repeated
        config.option.kbx_seed = str(secrets.randbelow(2**31))
    from pytest_kernelbenchx import collection, fixtures, scheduling, usage
    from pytest_kernelbenchx.performance import benchmark_bridge
    from pytest_kernelbenchx.report import records, statistics, terminal

    for mark, description in MARKS.items():
        config.addinivalue_line("markers", f"{mark}: {description}")
    usage.check_marks(config, MARKS)
    usage.check_tasks(config, CATEGORIES)
    usage.check_methods(config)
    usage.run_named_tasks(config)
    for module in (collection, fixtures, scheduling, statistics):
        config.pluginmanager.register(module, module.__name__)
    for plugin in (records.Recorder(config), terminal.Summary(config)):
        config.pluginmanager.register(plugin, type(plugin).__name__)
    benchmark_bridge.register(config)
