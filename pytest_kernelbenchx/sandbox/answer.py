"""What a child answered, after every field of it has been checked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.sandbox.evidence import Evidence, checked
from pytest_kernelbenchx.sandbox.protocol import Opaque, decode, unpack
from pytest_kernelbenchx.sandbox.wire import ProtocolError, as_list, natural, text

LAUNCH_LIMIT = 2000
ERRORS = frozenset(
    {
        Verdict.SYNTAX,
        Verdict.NO_ENTRY_POINT,
        Verdict.IMPORT_ERROR,
        Verdict.COMPILE_ERROR,
        Verdict.OUT_OF_BOUNDS,
        Verdict.RUNTIME_ERROR,
        Verdict.OUT_OF_MEMORY,
        Verdict.NOT_JUDGED,
    }
)


@dataclass
class Answer:
    """The answer to a `load` or a `call`.

    Args:
        ok: whether it did what was asked; if not, `error` says why and `outcome` is its verdict.
        value: of a call what was returned, on the CPU, with Opaque for what does not travel; of a load
            {"entry": name, "kernels": [names], "configs": number of autotune configurations, "fault": text or None}.
        after: each tensor of the request after the call, with its whole storage, in the order in which encoding the
            arguments met them; Opaque for one that no longer is a plain tensor.
        aliases: index of a returned tensor (in depth-first order) -> index of the input it shares memory with.
        devices: the device type of each returned tensor, in depth-first order.
        launches: [{"kernel": name, "grid": [x, y, z], "own": whether it is the candidate's}], the first
            1000 and the first launch of every kernel; a launch that failed has "raised": what it raised.
        dropped: how many launches there were beyond those.
        witness: whether the launcher was still watched after the call.
        seconds: host time of the call as the child says.
        error: {"verdict": Verdict, "type": name, "message": text, "traceback": text}.
        evidence: of a call that was watched.
    """

    ok: bool
    value: Any = None
    after: list[torch.Tensor | Opaque] = field(default_factory=list)
    aliases: dict[int, int] = field(default_factory=dict)
    devices: list[str] = field(default_factory=list)
    launches: list[dict] = field(default_factory=list)
    dropped: int = 0
    witness: bool = False
    seconds: float = 0.0
    error: dict | None = None
    evidence: Evidence | None = None

    @property
    def outcome(self) -> Outcome | None:
        """The error as an outcome; None if there is none."""
        if self.error is None:
            return None
        verdict, message = self.error["verdict"], self.error["message"]
        named = verdict in (Verdict.NOT_JUDGED, Verdict.NO_ENTRY_POINT)
        reason = message if named else f"{self.error['type']}: {message}"
        return Outcome(verdict, reason, self.error["traceback"], {"exception": self.error["type"]})


def loaded(header: dict) -> Answer:
    """The answer to a load. Raises ProtocolError."""
    if "error" in header:
        return Answer(False, error=_error(header["error"]))
    _acknowledged(header)
    fault = header.get("fault")
    value = {
        "entry": text(header.get("entry"), "entry", 200),
        "kernels": [text(name, "kernel", 200) for name in as_list(header.get("kernels"), "kernels")],
        "configs": natural(header.get("configs"), "configs", 1 << 20),
        "fault": None if fault is None else text(fault, "fault", 2000),
    }
    return Answer(True, value)


def returned(header: dict, payload: bytearray, sent: Sequence[torch.Tensor], limit: int) -> Answer:
    """The answer to a call.

    Args:
        header, payload: the message.
        sent: the tensors of the request.
        limit: bytes that a returned tensor may have.

    Raises:
        ProtocolError: a field is missing or is not what it must be.
    """
    launches = [_launch(entry) for entry in as_list(header.get("launches"), "launches", LAUNCH_LIMIT)]
    dropped = natural(header.get("dropped"), "dropped", 1 << 48)
    answer = Answer("error" not in header, launches=launches, dropped=dropped, witness=header.get("witness") is True)
    if not answer.ok:
        answer.error = _error(header["error"])
        return answer
    _acknowledged(header)
    widest = max([limit, *(tensor.numel() * tensor.element_size() for tensor in sent)])
    tensors = unpack(header, payload, limit=widest)
    answer.value = decode(header.get("result"), tensors)
    answer.after = _after(decode(header.get("after"), tensors), len(sent))
    for index, row in enumerate(header["tensors"]):
        if "device" in row:
            answer.devices.append(text(row["device"], "device", 20))
        if "alias" in row:
            answer.aliases[index] = natural(row["alias"], "alias", len(sent) - 1)
    answer.seconds = _seconds(header.get("seconds"))
    answer.evidence = None if header.get("audit") is None else checked(header["audit"])
    return answer


def held(header: dict, payload: bytearray, limit: int) -> list[Any]:
    """What earlier calls returned, read again. Raises ProtocolError."""
    _acknowledged(header)
    results = decode(header.get("result"), unpack(header, payload, limit=limit))
    if type(results) is not list:
        raise ProtocolError("the earlier results are no list")
    return results


def refused(header: dict) -> Outcome | None:
    """The outcome of an answer that reports an error; None for any other. Raises ProtocolError."""
    if "error" not in header:
        _acknowledged(header)
        return None
    return Answer(False, error=_error(header["error"])).outcome


def _acknowledged(header: dict) -> None:
    if header.get("ok") is not True:
        raise ProtocolError("the answer says neither that it worked nor that it failed")


def _after(value: Any, count: int) -> list[torch.Tensor | Opaque]:
    if isinstance(value, Opaque):
        return [value] * count
    if type(value) is not list or len(value) != count or not all(isinstance(v, (torch.Tensor, Opaque)) for v in value):
        raise ProtocolError(f"the inputs after the call are no list of {count} tensors")
    return value


def _seconds(value: Any) -> float:
    if type(value) is not float or not math.isfinite(value):
        raise ProtocolError("the time of the call is no number")
    return value


def _launch(entry: Any) -> dict:
    if type(entry) is not dict or type(entry.get("own")) is not bool:
        raise ProtocolError("a launch is not described as it must be")
    grid = as_list(entry.get("grid"), "grid", 3)
    if not all(type(size) is int for size in grid):
        raise ProtocolError("a launch has a grid that is no list of whole numbers")
    raised = {"raised": text(entry["raised"], "raised", 400)} if "raised" in entry else {}
    return {"kernel": text(entry.get("kernel"), "kernel", 200), "grid": grid, "own": entry["own"], **raised}


def _error(error: Any) -> dict:
    """The checked error; the limits leave room for what cutting a text in the child adds."""
    if type(error) is not dict:
        raise ProtocolError("an error is no object")
    name = text(error.get("verdict"), "verdict", 40)
    if name not in {verdict.name for verdict in ERRORS}:
        raise ProtocolError(f"an error has the verdict {name!r}, which is not the child's to give")
    return {
        "verdict": Verdict[name],
        "type": text(error.get("type"), "type", 300),
        "message": text(error.get("message"), "message", 2100),
        "traceback": text(error.get("traceback"), "traceback", 8200),
    }
