"""Which watch a call is under, as the judge asked: none, `audit.Audit`, or `device_time.DeviceTime`."""

from __future__ import annotations

import contextlib
from typing import Any

import torch

from pytest_kernelbenchx.sandbox.witness import Log


class Unwatched(contextlib.nullcontext):
    """No watch."""

    def report(self, result: Any) -> None:
        return None


def watch(how: dict | None, tensors: list[torch.Tensor], log: Log, device: str) -> Any:
    """A context for one call, whose `report` describes it.

    Args:
        how: None; {"fresh": byte} for what operators do and where each byte comes from, with that byte in memory that
            is not written yet, and with "memory": false only for what operators do; {"profile": true} for times on
            the GPU.
        tensors: the inputs.
    """
    log.spans = None
    if how is None:
        return Unwatched()
    if how.get("profile"):
        from pytest_kernelbenchx.sandbox.device_time import DeviceTime

        log.spans = []
        return DeviceTime(log.spans)
    from pytest_kernelbenchx.sandbox.audit import Audit

    def launched() -> int:
        return sum(entry["own"] for entry in log.entries)

    return Audit(tensors, how["fresh"], log.own_file, device == "cpu" and how.get("memory", True), launched)
