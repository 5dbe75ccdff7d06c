"""pytest-benchmark under xdist: workers measure, the controller writes, compares and prints.

pytest-benchmark switches itself off under xdist. Here its session is made without knowing, and switched on again
before the first test. Each result rides home from its worker on the report of its test, so that a worker that dies
takes none along, and pytest-benchmark finds them on the controller as if they had been measured there. A profile
(`--benchmark-cprofile`) stays on its worker.

Used of pytest-benchmark beside its documented interface: `stats.Metadata`, `utils.safe_dumps`, and its session (the
plugin "pytest-benchmark") with the attributes `benchmarks`, `disabled`, `only` and `skip`.
"""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kernelbenchx.laboratory import laboratory
from pytest_kernelbenchx.performance.device_clock import WithBenchmark, WithoutBenchmark
from pytest_kernelbenchx.report.records import is_worker

HIDDEN = {"benchmark_disable": True, "benchmark_enable": False, "benchmark_only": False}
OUTPUT: dict[str, Any] = {
    "benchmark_json": None,
    "benchmark_save": None,
    "benchmark_autosave": None,
    "benchmark_compare": [],
    "benchmark_compare_fail": None,
}


def register(config: pytest.Config) -> None:
    """Register what this run needs. To be called before pytest-benchmark makes its session, in its pytest_configure."""
    there = hasattr(config.option, "benchmark_only")
    plugins: list[object] = [WithBenchmark() if there else WithoutBenchmark()]
    if there and laboratory(config).task_paths:  # a run without tasks is none of our business
        plugins.append(InOrder())
        option = config.option
        refused = option.benchmark_only and option.benchmark_disable and not option.benchmark_enable
        if is_worker(config):
            plugins.append(Worker(config))
        elif config.getoption("dist", "no") != "no" and not refused:  # pytest-benchmark says why it refuses
            plugins.append(Controller(config))
    for plugin in plugins:
        config.pluginmanager.register(plugin, f"kernelbenchx-{type(plugin).__name__}")


def _session(config: pytest.Config) -> Any:
    return config.pluginmanager.get_plugin("pytest-benchmark")


class InOrder:
    """Sorts the results by name: the same order from one process and from many."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Any:
        _session(session.config).benchmarks.sort(key=lambda result: result.fullname)
        return (yield)


class _Side:
    """Keeps pytest-benchmark's session from switching itself off, warning of it, and refusing --benchmark-only."""

    def __init__(self, config: pytest.Config):
        self.given = {name: config.getoption(name) for name in HIDDEN}
        vars(config.option).update(HIDDEN)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        option, benchmarks = session.config.option, _session(session.config)
        vars(option).update(self.given)
        benchmarks.disabled = option.benchmark_disable and not option.benchmark_enable
        benchmarks.only = option.benchmark_only
        benchmarks.skip = option.benchmark_skip and not option.benchmark_only


class Worker(_Side):
    """Sends results home; writes, compares and prints nothing."""

    def __init__(self, config: pytest.Config):
        super().__init__(config)
        vars(config.option).update(OUTPUT)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        from pytest_benchmark.stats import Metadata
        from pytest_benchmark.utils import safe_dumps

        report = yield
        fixture = getattr(item, "funcargs", {}).get("benchmark")
        result = getattr(fixture, "stats", None)
        if call.when == "call" and isinstance(result, Metadata) and result.stats:
            record = {**result.as_dict(), "has_error": result.has_error}
            assert item.parent is not None
            # --dist=loadgroup appends "@group" to ids: undone, so that runs stay comparable
            record["fullname"] = f"{item.parent.nodeid}::{item.name}"
            report.kbx_benchmark = safe_dumps(record)
        return report


class Controller(_Side):
    """Takes results in."""

    def __init__(self, config: pytest.Config):
        super().__init__(config)
        self.config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if (text := getattr(report, "kbx_benchmark", None)) is not None:
            _session(self.config).benchmarks.append(revived(json.loads(text)))


def revived(record: dict[str, Any]) -> Any:
    """pytest-benchmark's own object for a result, from what `as_dict` made of it."""
    from pytest_benchmark.stats import Metadata

    result = Metadata(SimpleNamespace(**record, cprofile_stats=None), record["stats"]["iterations"], record["options"])
    result.stats.data = record["stats"]["data"]
    return result
