"""Dropout that later operations hide: its mask is recovered from the output, and then all is judged with that mask.

A task says how to compute, from the output, what dropout returned (`recover`). Each of its elements is nearer to what
it is when kept or to 0, which gives the mask. The reference is evaluated with this mask, in double precision, and the
output compared with that as ever: an output that no mask explains is wrong. The mask is judged as any dropout's is.

Elements that are too small to be told kept from dropped, since errors that the output may have move what is recovered
by as much, have no say in the mask; what was recovered of them is used as it is, within the two, and the error allowed
grows by what they can make of the output.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from pytest_kernelbenchx.judge.compare import allowed_error, compare
from pytest_kernelbenchx.judge.oracle import widened
from pytest_kernelbenchx.judge.randomized import Dropout, judge_mask
from pytest_kernelbenchx.judge.tolerance import DEFAULT, NOISE_FACTOR, Tolerance, jitter
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.task import select

DRAWS = 4  # of errors, each time that their effect is measured
MARGIN = 4.0  # times a root mean square: what normal errors exceed once in 16,000 times
DROPOUT = (torch.dropout, torch.nn.functional.dropout)


@dataclass(frozen=True)
class HiddenDropout(Dropout):
    """Dropout followed by operations that can be undone.

    Args:
        recover: gives what dropout returned, from `output` and those arguments of the call that it names, in float64.
    """

    recover: Callable[..., Tensor] = field(kw_only=True)


class Masked(TorchFunctionMode):
    """Within it dropout multiplies by `mask` (None: by 1); `given` is what it was given last."""

    def __init__(self, mask: Tensor | None = None):
        super().__init__()
        self.mask, self.given = mask, torch.empty(0)

    def __torch_function__(self, function, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        if function not in DROPOUT:
            return function(*args, **(kwargs or {}))
        self.given = args[0] if args else kwargs["input"]
        return self.given if self.mask is None else self.given * self.mask.to(self.given.dtype)


class Hidden:
    """One call of an operation whose dropout is hidden.

    Args:
        operation: the reference.
        recover: as in `HiddenDropout`.
        arguments: those of the call as the candidate gets them, by name, defaults included.
        p: the probability in force, between 0 and 1 and neither.
        tolerance: the task's.
    """

    def __init__(
        self,
        operation: Callable[..., Tensor],
        recover: Callable[..., Tensor],
        arguments: Mapping[str, Any],
        p: float,
        tolerance: Tolerance = DEFAULT,
    ):
        self.operation, self.recover, self.p, self.tolerance = operation, recover, p, tolerance
        self.arguments, self.wide = dict(arguments), widened(dict(arguments))
        with Masked() as mode:
            operation(**self.wide)
        self.given = mode.given
        self.kept = self.given / (1 - p)
        self.rng = torch.Generator().manual_seed(0)

    def judge(self, got: Tensor, second: Tensor | None = None, name: str = "output") -> Outcome:
        """`PASSED` or `WRONG_VALUES`, of an output `got` whose form was checked; `second` is that of another seed."""
        if not got.numel():
            return Outcome(Verdict.PASSED)
        if not bool(torch.isfinite(got).all()):
            return Outcome(Verdict.WRONG_VALUES, f"{name}: not every element is finite")
        found, is_kept, unclear = self._read(got)
        between = (found / self.given).nan_to_num(0.0).clamp(0.0, 1 / (1 - self.p))
        mask = torch.where(unclear, between, is_kept / (1 - self.p))
        truth = self._with(mask, self.wide)
        how: dict[str, Any] = {"eager": self._with(mask, self.arguments), "noise": self._noise(mask, unclear, truth)}
        if wrong := compare(got, truth, **how, tolerance=self.tolerance, name=name):
            return Outcome(Verdict.WRONG_VALUES, f"there is no mask that gives this output: {wrong.message(name)}")
        again = None if second is None else self._states(*self._read(second)[1:])
        nothing, states = torch.zeros_like(self.kept), self._states(is_kept, unclear)
        return judge_mask(found, self.kept, nothing, self.p, states, second=again, name=name)

    def _read(self, got: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What dropout returned, which elements were kept rather than dropped, and which do not tell."""
        output = got.to(torch.float64)
        found = self._recovered(output)
        error = allowed_error(output, got.dtype, tolerance=self.tolerance)
        moved = [self._recovered(output + error * self._normal(output)) - found for _ in range(DRAWS)]
        blur = MARGIN * torch.stack(moved).square().mean(0).sqrt()
        return found, (found - self.kept).abs() < found.abs(), ~(self.kept.abs() > 2 * blur)

    def _states(self, is_kept: Tensor, unclear: Tensor) -> tuple[Tensor, Tensor]:
        return is_kept | unclear, ~is_kept | unclear

    def _noise(self, mask: Tensor, unclear: Tensor, truth: Tensor) -> Tensor:
        """What `compare` takes as noise: rounding of the inputs, and whatever the elements that do not tell were."""
        squares = torch.zeros_like(truth)
        for _ in range(DRAWS):
            moved = {
                name: jitter(self.wide[name], value.dtype, self.rng) if isinstance(value, Tensor) else value
                for name, value in self.arguments.items()
            }
            squares += (self._with(mask, moved) - truth) ** 2
            other = torch.rand(mask.shape, generator=self.rng, dtype=torch.float64) / (1 - self.p)
            unknown = self._with(torch.where(unclear, other, mask), self.wide) - truth
            squares += (MARGIN / NOISE_FACTOR * unknown) ** 2
        return (squares / DRAWS).sqrt()

    def _with(self, mask: Tensor, arguments: Mapping[str, Any]) -> Tensor:
        with Masked(mask):
            return self.operation(**arguments)

    def _recovered(self, output: Tensor) -> Tensor:
        return self.recover(output=output, **select(self.recover, self.wide))

    def _normal(self, like: Tensor) -> Tensor:
        return torch.randn(like.shape, generator=self.rng, dtype=torch.float64)
