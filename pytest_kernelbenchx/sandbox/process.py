"""One candidate's process, as the judge holds it: questions with deadlines, and a verdict when it dies."""

import contextlib
import os
import secrets
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from pytest_kernelbenchx.judge.verdicts import Outcome, OutcomeError, Verdict
from pytest_kernelbenchx.sandbox import processes
from pytest_kernelbenchx.sandbox.answer import Answer, held, loaded, returned
from pytest_kernelbenchx.sandbox.exchange import Exchange, LateError
from pytest_kernelbenchx.sandbox.protocol import encode, pack
from pytest_kernelbenchx.sandbox.wire import CHANNEL_LOST, PAYLOAD_LIMIT, ProtocolError, frame

if TYPE_CHECKING:
    from pytest_kernelbenchx.sandbox.host import Sandbox

PATIENCE = 1.0
_STACK_SECONDS, _STACK_PAUSE = 0.5, 0.2  # at most, and how long a pause ends it

CAUSES = {"SIGKILL": ", by the system when memory ran out or by itself"}
MASK = dict.fromkeys(
    ("SIGABRT", "SIGSEGV", "SIGBUS"),
    "; mostly memory was read or written out of bounds, as where a tl.load or tl.store lacks its mask",
)


class Died(OutcomeError):
    """The child ended without an answer; `outcome` says how: CRASHED, TIMEOUT, OUT_OF_MEMORY, NO_RESULT or TAMPERED;
    INFRA_ERROR if a neighbour may have ended it. The fact `lost` says that the process that starts candidates went
    first: another run's candidate may have killed it, so the call is worth a second try.
    """


class Child:
    """A process that belongs to one candidate. Made by `Sandbox.child()`; end it with `kill()`."""

    def __init__(self, sandbox: "Sandbox", pid: int, link: Exchange, directory: Path):
        self.pid = pid
        self.alone = True  # whether no other candidate's process has lived beside it
        self.compiled: str | None = None  # the compiled kernels that it shares with others of its candidate
        self._sandbox, self._link, self._directory = sandbox, link, directory
        self._doing = "starting"
        self._ended: Outcome | None = None
        self._killed = False

    @property
    def output(self) -> str:
        """What it wrote to stdout and stderr: the first 48 KiB and the last 16."""
        return self._link.output.text()

    @property
    def alive(self) -> bool:
        return self._ended is None and not self._killed

    def load(self, file: str, source: str, entries: list[str], timeout: float) -> Answer:
        """Import `source` as a file of that name and find the first of `entries`. Raises Died."""
        self._doing = "importing the file"
        header, _ = self.ask({"do": "load", "file": file, "source": source, "entries": entries}, timeout=timeout)
        try:
            return self._believed(loaded(header))
        except ProtocolError as error:
            self._tampered(error)

    def call(
        self,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        seed: int | None,
        timeout: float,
        *,
        configs: int | None = None,
        grads: list[list[Any]] | None = None,
        limit: int = PAYLOAD_LIMIT,
        hold: bool = False,
        reuse: bool = False,
        idle: bool = False,
        audit: dict[str, Any] | None = None,
    ) -> Answer:
        """Run the entry point.

        Args:
            args, kwargs: tensors, numbers, text, None, dtypes, torch.device (it becomes the child's), torch.Generator
                (it becomes one of the child's device, with the same seed) and containers; tensors arrive with these
                strides and offsets, and share memory as they do here.
            seed: for the generators of torch, numpy and random; None to go on where the call before left them.
            timeout: seconds until the answer must be here.
            configs: use only this autotune configuration of every kernel (counted round); None for all.
            grads: the entry point is an optimizer class: construct it over args[0], make one step for each of these
                lists of gradients (None for a parameter without), and return the parameters.
            limit: bytes that the result may have; a larger one comes back as Opaque.
            hold: keep the inputs, and the result for `again`.
            reuse: pass the inputs of the last call that was held, filled with these values, if they have this form.
            idle: launch no kernel.
            audit: watch the call, see `watching.watch`.

        Raises:
            Died: there is no answer.
            ProtocolError: an argument cannot be sent.
        """
        self._doing = "a call"
        sent: list[torch.Tensor] = []
        trees = {"args": encode(list(args), sent), "kwargs": encode(kwargs, sent), "grads": encode(grads, sent)}
        rows, buffers = pack(sent)
        size = sum(map(len, buffers))
        question = {"do": "call", "seed": seed, "configs": configs, "limit": limit, **trees}
        question |= {"hold": hold, "reuse": reuse, "idle": idle, "audit": audit}
        question |= {"tensors": rows, "storages": [len(buffer) for buffer in buffers]}
        header, payload = self.ask(question, buffers, timeout=timeout, limit=2 * limit + size)
        try:
            return self._believed(returned(header, payload, sent, limit))
        except ProtocolError as error:
            self._tampered(error)

    def _believed(self, answer: Answer) -> Answer:
        """The answer, unless it blames an interpreter where there is none. Raises ProtocolError."""
        if answer.error and answer.error["verdict"] is Verdict.NOT_JUDGED and self._sandbox.device != "cpu":
            raise ProtocolError("an error blames the interpreter, and kernels are compiled here")
        return answer

    def again(self, timeout: float, limit: int = PAYLOAD_LIMIT) -> list[Any]:
        """What the last calls with `hold` returned, the latest last, as it is now. Raises Died."""
        self._doing = "reading earlier results"
        header, payload = self.ask({"do": "again", "limit": limit}, timeout=timeout, limit=2 * limit)
        try:
            return held(header, payload, limit)
        except ProtocolError as error:
            self._tampered(error)

    def ask(
        self, header: dict, payload: bytes | Sequence[Any] = (), *, timeout: float, limit: int = PAYLOAD_LIMIT
    ) -> tuple[dict, bytearray]:
        """One question and its answer, as header and payload. Raises Died."""
        if self._ended is not None:
            raise Died(self._ended)
        nonce = secrets.token_hex(8)
        pieces = frame({**header, "nonce": nonce}, [payload] if isinstance(payload, bytes) else payload)
        try:
            if self._link.unsolicited():
                raise ProtocolError("bytes came that no question had asked for")
            reader = self._link.ask(pieces, time.monotonic() + timeout, limit, self._watch)
            if reader.header.pop("nonce", None) != nonce:
                raise ProtocolError("the answer does not carry the question's number")
        except ProtocolError as error:
            self._tampered(error)
        except LateError:
            self._late(timeout)
        except (EOFError, ConnectionError):
            self._exited()
        return reader.header, reader.payload

    def put(self, doing: str, header: dict, timeout: float, limit: int = PAYLOAD_LIMIT) -> tuple[dict, bytearray]:
        """Ask something without a payload; `doing` says in a verdict what it died of. Raises Died."""
        self._doing = doing
        return self.ask(header, timeout=timeout, limit=limit)

    def tampered(self, error: ProtocolError) -> NoReturn:
        """End it: its answer, well-formed as a message, is not what was asked for. Raises Died."""
        self._tampered(error)

    def interrupt(self) -> None:
        """SIGKILL to it alone: a call that waits for its answer, in another thread, raises Died."""
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def kill(self) -> None:
        """SIGKILL to it and to all it started, in sessions of their own, too; remove its directory. Idempotent."""
        self._reap(0.0)

    def _reap(self, patience: float) -> dict | None:
        """End it; the zygote's report, or None if the zygote is gone or this was done before."""
        if self._killed:
            return None
        self._killed = True
        report = self._sandbox.reap(self, patience)
        self._link.close()
        processes.remove(self._directory)
        return report

    def _watch(self) -> float:
        """End a child that takes too much; returns the seconds until the next look, so that looking stays under 5 %."""
        start = time.monotonic()
        family, used = self._sandbox.usage(self.pid)
        mib, limit = used >> 20, self._sandbox.memory >> 20
        if mib > limit:
            self._die(Verdict.OUT_OF_MEMORY, f"the candidate took {mib} MiB during {self._doing}, {limit} are allowed")
        limit = processes.PROCESS_LIMIT
        if family > limit:
            self._die(
                Verdict.CRASHED, f"the candidate had {family} processes during {self._doing}, {limit} are allowed"
            )
        return 20 * (time.monotonic() - start)

    def _tampered(self, error: ProtocolError) -> NoReturn:
        self._die(Verdict.TAMPERED, f"what came from the candidate's process is no answer: {error}")

    def _late(self, timeout: float) -> NoReturn:
        """Ask for the stack of what hangs, wait shortly for it, and kill."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGUSR1)
            end = time.monotonic() + _STACK_SECONDS
            while self._link.wait_output(_STACK_PAUSE) and time.monotonic() < end:
                pass
        self._die(Verdict.TIMEOUT, f"{self._doing} had no answer within {timeout:g} s, so its process was killed")

    def _exited(self) -> NoReturn:
        """The channel is closed: a verdict from the exit status."""
        report = self._reap(PATIENCE)
        status = None if report is None else report["status"]
        if report is None or (status is None and not report["killed"]):
            verdict = Verdict.TAMPERED if self.alone else Verdict.INFRA_ERROR  # else it may have been the neighbour
            self._die(verdict, f"the process that starts candidates was killed during {self._doing}", lost=True)
        if report["killed"] or status is None:
            self._die(Verdict.TAMPERED, f"the candidate closed its answer channel during {self._doing} and went on")
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            killed = f"the candidate's process was killed by {name}"
            self._die(Verdict.CRASHED, f"{killed}{CAUSES.get(name, '')} during {self._doing}{MASK.get(name, '')}")
        code = os.WEXITSTATUS(status)
        if code == CHANNEL_LOST:
            self._die(Verdict.TAMPERED, f"the candidate closed its answer channel during {self._doing}")
        self._die(
            Verdict.NO_RESULT,
            f"the candidate ended its process with exit code {code} during {self._doing}; an answer was wanted",
        )

    def _die(self, verdict: Verdict, reason: str, **more: Any) -> NoReturn:
        report = self._reap(0.0)
        facts = {key: report[key] for key in ("orphans", "stuck") if report[key]} if report else {}
        self._ended = Outcome(verdict, f"{reason}.", self.output, {**facts, **more})
        raise Died(self._ended) from None
