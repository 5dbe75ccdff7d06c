"""Hooks that a conftest.py may implement."""

from pathlib import Path

import pytest


@pytest.hookspec(firstresult=True)
def pytest_kbx_directories(config: pytest.Config) -> dict[str, Path]:  # type: ignore[empty-body]
    """Where a checkout keeps its `tasks` and `candidates`; options on the command line win."""
