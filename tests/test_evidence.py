"""Evidence comes from a process that may forge it: every field is checked."""

import copy

import pytest

from pytest_kernelbenchx.sandbox.evidence import checked
from pytest_kernelbenchx.sandbox.wire import ProtocolError

MEMORY = {"loads": 4, "data_loads": 2, "stores": 3, "macs": 8, "unknown": 0}
MEMORY |= {"uninitialised": [["_k", 5]], "written": 0.5, "read": [1.0, 0]}
GOOD = {"kinds": {"alloc": 1}, "compute": [["aten::mm", 1, 12, 30]], "copied": None, "fault": None, "memory": MEMORY}

WRONG = {
    "no object": (None, []),
    "kinds": ("kinds", {"alloc": -1}),
    "kinds no object": ("kinds", [1]),
    "a row too short": ("compute", [["aten::mm", 1, 12]]),
    "a row too long": ("compute", [["aten::mm", 1, 12, 30, 4]]),
    "no name": ("compute", [[3, 1, 12, 30]]),
    "too many rows": ("compute", [["aten::mm", 1, 12, 30]] * 101),
    "half a time": ("device", {"own": "1"}),
    "a time below zero": ("device", {"own": -1.0}),
    "no text": ("copied", 3),
    "a fault": ("fault", ["x"]),
    "memory": ("memory", {**MEMORY, "loads": 1.5}),
    "a share": ("memory", {**MEMORY, "written": True}),
    "a list of shares": ("memory", {**MEMORY, "read": 1.0}),
    "a pair": ("memory", {**MEMORY, "uninitialised": [["_k"]]}),
    "a part is missing": ("memory", {"loads": 1}),
}


def test_evidence_as_it_should_be():
    seen = checked(GOOD)
    assert (seen.delegated, seen.own, seen.memory.uninitialised) == (42.0, 23.0, {"_k": 5})
    assert seen.compute == {"aten::mm": (1, 12, 30)}


@pytest.mark.parametrize("name", WRONG)
def test_evidence_that_is_forged(name):
    key, value = WRONG[name]
    forged = copy.deepcopy(GOOD)
    if key is None:
        forged = value
    else:
        forged[key] = value
    with pytest.raises(ProtocolError):
        checked(forged)
