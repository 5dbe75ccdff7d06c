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
        """Differs from its base where a worker has died: there a test that kills its worker is run again on the next,
        a scope without tests left is handed out and never ends, and so does one given to a worker that still collects.
        """

        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

        def remove_node(self, node: Any) -> str | None:
            units = self.assigned_work.pop(node)
            crashed = next((test for unit in units.values() for test, done in unit.items() if not done), None)
            for scope, unit in units.items():
                if crashed in unit:
                    unit[crashed] = True
                if not all(unit.values()):
                    self.workqueue[scope] = unit
            if crashed is not None:
                for other in self.assigned_work:
                    self._reschedule(other)
            return crashed

        def _reschedule(self, node: Any) -> None:
            if node in self.registered_collections:
                super()._reschedule(node)

    return CandidateScheduling(config, log)
