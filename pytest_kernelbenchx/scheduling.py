"""Under xdist, keep one candidate's stages on one worker, in order; candidates of a task spread."""

from typing import Any

import pytest


def scope_of(nodeid: str) -> str:
    """What goes to one worker together: the file and the candidate of `file::test_performs[claude-4k]`.

    Size labels hold no dash, names of methods may.
    """
    path, _, test = nodeid.partition("::")
    name, bracket, parameters = test.rstrip("]").partition("[")
    if name not in ("test_compiles", "test_correct", "test_performs") or not bracket:
        return nodeid
    return f"{path}[{parameters.rpartition('-')[0] if name == 'test_performs' else parameters}]"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Used for what `-n` gives; any other --dist is the user's choice."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class CandidateScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

    return CandidateScheduling(config, log)
