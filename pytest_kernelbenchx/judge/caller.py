"""Ask a candidate's process: load it when needed, call it, and put what comes back under the parameters' names."""

import secrets
import time
from collections import Counter
from dataclasses import replace
from typing import Any

import torch

from pytest_kernelbenchx.candidate import Candidate
from pytest_kernelbenchx.candidates import entry_names
from pytest_kernelbenchx.cases import Arguments, Case, laid_out, split_call
from pytest_kernelbenchx.judge.judging import Reply, tensors_of
from pytest_kernelbenchx.judge.oracle import Expectation
from pytest_kernelbenchx.judge.verdicts import OutcomeError
from pytest_kernelbenchx.performance.lease import Lease
from pytest_kernelbenchx.sandbox.answer import Answer
from pytest_kernelbenchx.sandbox.host import Sandbox
from pytest_kernelbenchx.sandbox.process import Child, Died
from pytest_kernelbenchx.sandbox.protocol import Opaque
from pytest_kernelbenchx.task import GRADS, Task

SECOND_SEED = 1_000_003
NO_CONFIGURATION = ("OutOfResources", "CompileTimeAssertionFailure", "PTXASError")
"""Errors on which Triton's autotuner goes on with its next configuration (`Autotuner._bench`)."""


class Caller:
    """A candidate's process, from the first call to the last.

    Attributes:
        launches: how often each of the candidate's own kernels was launched.
        raised: what launches of its own kernels raised that failed, and how often.
        held: by held call, the tensors that it returned, as they were; None for those in the memory of an input.
        spent: seconds that calls have taken since `start`.
        limit: seconds that one call may take.
        compiled: the name of the compiled kernels that this process shares with its twins.
    """

    def __init__(self, task: Task, candidate: Candidate, sandbox: Sandbox, lease: Lease):
        self.task, self.candidate, self.sandbox, self.lease = task, candidate, sandbox, lease
        self.compiled = f"kernels-{secrets.token_hex(8)}"
        self.launches: Counter[str] = Counter()
        self.raised: Counter[str] = Counter()
        self.spent = self.limit = 0.0
        self._child: Child | None = None
        self._configurations: list[int] = []
        self._lost = False
        self.held: list[list[torch.Tensor | None]] = []
        self._how: dict[str, Any] = {}

    def start(self, limit: float) -> None:
        """Begin a stage: no call may take longer than `limit` seconds."""
        self.spent, self.limit = 0.0, limit

    @property
    def output(self) -> str:
        """What the candidate has printed."""
        return self._child.output if self._child is not None else ""

    def load(self) -> None:
        """Start the process and import the candidate; OutcomeError if that fails. Otherwise the first call does it."""
        self._loaded()

    def call(
        self,
        case: Case,
        expected: Expectation,
        *,
        turn: int | None = None,
        hold: bool = False,
        reuse: bool = False,
        idle: bool = False,
        audit: dict[str, Any] | None = None,
    ) -> Reply:
        """Run the candidate on a case; OutcomeError if it cannot be loaded, or its process dies.

        Args:
            turn: on a GPU, the number of the configuration that autotuned kernels use (counted round); if not given,
                the next one.
            hold, reuse, idle, audit: see `Child.call`.
        """
        self._loaded()
        if turn is not None and self._configurations:
            ordered, first = sorted(self._configurations), turn % len(self._configurations)
            self._configurations = ordered[first:] + ordered[:first]
        how = {"hold": hold, "reuse": reuse, "idle": idle, "audit": audit}
        self._how = {name: wanted for name, wanted in how.items() if wanted}
        arguments = dict(expected.arguments)
        if case.out and self.task.out:
            arguments[self.task.out] = preallocated(expected.eager, case.layouts.get(self.task.out, "contiguous"))
        answer = self._ask(arguments, case.seed)
        if not answer.ok:
            return Reply(failure=answer.outcome, device=self.sandbox.device)
        if hold:
            self.held.append(own_tensors(answer))
        second = self._again(arguments, case.seed) if self.task.random is not None and not hold else None
        after = self._by_name(arguments, answer.after)
        own = sum(launch["own"] and "raised" not in launch for launch in answer.launches)
        reply = Reply(answer.value, after, answer.devices, self.sandbox.device, second=second, launches=own)
        return replace(reply, aliases=answer.aliases, evidence=answer.evidence)

    def again(self) -> list[Any]:
        """What the latest held calls returned, as it is now; OutcomeError if the process dies."""
        try:
            with self.lease.shared():
                return self._loaded().again(self.limit)
        except Died as death:
            self._child = None
            raise OutcomeError(death.outcome) from None

    def _again(self, arguments: Arguments, seed: int) -> Any:
        """What the call returns with other random numbers.

        Of the generator that it is given under another seed; of PyTorch's own under another seed, or, for every other
        seed, as the next call after the one before: a mask that follows from `torch.initial_seed()` would be the same.
        """
        given = {name: value for name, value in arguments.items() if isinstance(value, torch.Generator)}
        others = {n: torch.Generator(g.device).manual_seed(g.initial_seed() + SECOND_SEED) for n, g in given.items()}
        if given:
            return self._ask({**arguments, **others}, seed).value
        return self._ask(arguments, None if seed % 2 else seed + SECOND_SEED).value

    def _ask(self, arguments: Arguments, seed: int | None) -> Answer:
        """One call. On a GPU autotuned kernels use one configuration a call, each in its turn."""
        self._loaded()
        answer = self._once(arguments, seed, self._configurations[0] if self._configurations else None)
        while self._configurations and answer.error and answer.error["type"].split(".")[-1] in NO_CONFIGURATION:
            self._configurations.pop(0)  # tuning would have passed over it, too
            answer = self._once(arguments, seed, self._configurations[0] if self._configurations else None)
        self._configurations = self._configurations[1:] + self._configurations[:1]
        return answer

    def _once(self, arguments: Arguments, seed: int | None, configuration: int | None) -> Answer:
        child, grads = self._loaded(), arguments.get(GRADS)
        seed = None if seed is None else seed % 2**31
        positional, named = split_call(self.task, arguments)
        start = time.perf_counter()
        try:
            with self.lease.shared() as waited:
                start += waited
                how: dict[str, Any] = {"grads": grads, "configs": configuration, **self._how}
                answer = child.call(positional, named, seed=seed, timeout=self.limit, **how)
        except Died as death:
            self._child = None
            if death.outcome.facts.get("lost") and not self._lost:
                self._lost = True  # it may have been another worker's candidate: whoever did it will do it again
                return self._once(arguments, seed, configuration)
            raise OutcomeError(death.outcome) from None
        finally:
            self.spent += time.perf_counter() - start
        own = [launch for launch in answer.launches if launch["own"]]
        self.launches.update(launch["kernel"] for launch in own if "raised" not in launch)
        self.raised.update(launch["raised"] for launch in own if "raised" in launch)
        return answer

    def _loaded(self) -> Child:
        if self._child is None:
            child = self.sandbox.child(self.compiled)
            entries = entry_names(self.candidate, self.task.name, self.task.aliases)
            try:
                with self.lease.shared():
                    answer = child.load(f"{self.task.name}.py", self.candidate.source, entries, timeout=self.limit)
            except Died as death:
                raise OutcomeError(death.outcome) from None
            if answer.outcome is not None:
                child.kill()
                raise OutcomeError(answer.outcome)
            self._child = child
            self._configurations = list(range(answer.value["configs"])) if self.sandbox.device == "cuda" else []
        return self._child

    def _by_name(self, arguments: Arguments, after: list[torch.Tensor | Opaque]) -> dict[str, Any]:
        """The tensors after a call, which come in the order in which the arguments were passed."""
        parameters = self.task.parameters
        several = {name for name, parameter in parameters.items() if parameter.kind is parameter.VAR_POSITIONAL}
        positional, named = split_call(self.task, {name: [name] if name in several else name for name in arguments})
        remaining = list(after)
        found: dict[str, Any] = {}
        for name in [*positional, *named, *(name for name in (GRADS,) if name in arguments)]:
            count = len(tensors_of(arguments[name]))
            taken, remaining = remaining[:count], remaining[count:]
            found[name] = taken[0] if isinstance(arguments[name], torch.Tensor) else taken
        return found

    def twin(self) -> "Caller":
        """Another process of the same candidate, not started yet, that shares its compiled kernels."""
        other = Caller(self.task, self.candidate, self.sandbox, self.lease)
        other.compiled, other.limit = self.compiled, self.limit
        return other

    def interrupt(self) -> None:
        """End the process whatever it does; from another thread, whose call then raises OutcomeError."""
        self.limit = min(self.limit, 1.0)  # for a process that is only now being started
        if self._child is not None:
            self._child.interrupt()

    def absorb(self, twin: "Caller") -> None:
        """Count what a twin, which has ended, launched."""
        self.launches.update(twin.launches)
        self.raised.update(twin.raised)

    def close(self) -> None:
        """Kill the process."""
        if self._child is not None:
            self._child.kill()
            self._child = None

    def forget(self) -> None:
        """Kill the process, and remove the compiled kernels."""
        self.close()
        self.sandbox.forget(self.compiled)


def own_tensors(answer: Answer) -> list[torch.Tensor | None]:
    """The tensors that a call returned, in order; None for one in the memory of an input."""
    return [None if n in answer.aliases else tensor for n, tensor in enumerate(tensors_of(answer.value))]


def preallocated(eager: list[Any], layout: str = "contiguous") -> Any:
    """What is passed as `out`: a tensor for the only output, or a tuple of one for each."""
    made = tuple(laid_out(poisoned(leaf), layout) for leaf in eager if isinstance(leaf, torch.Tensor))
    return made[0] if len(made) == 1 else made or None


def poisoned(like: torch.Tensor) -> torch.Tensor:
    """A tensor of the form of `like` that holds NaN, or the largest integer, or True."""
    if like.dtype is torch.bool:
        return torch.ones_like(like, memory_format=torch.contiguous_format)
    value = float("nan") if like.dtype.is_floating_point or like.dtype.is_complex else torch.iinfo(like.dtype).max
    return torch.full_like(like, value, memory_format=torch.contiguous_format)
