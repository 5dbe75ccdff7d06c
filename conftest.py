"""Where this checkout keeps its tasks and candidates."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.hookimpl(optionalhook=True)
def pytest_kbx_directories():
    return {"tasks": HERE / "tasks", "candidates": HERE / "candidates"}
