"""Dropout that later operations hide: its mask is recovered from the output, and then all is judged with that mask.

A task says how to compute, from the output, what dropout returned (`recover`). Each of its elements is nearer to what
it is when kept or to 0, which gives the mask. The reference is evaluated with this mask, in double precision, and the
output compared with that as ever: an output that no mask explains is wrong. The mask is judged as any dropout's is.

Elements that are too small to be told kept from dropped, since errors that the output may have move what is recovered
by as much, have no say in the mask; what was recovered of them is used as it is, within the two, and the error allowed
grows by what they can make of the output.

Where nothing can be recovered, the output is compared with one that the reference gave by chance, row by row: how far
it is from the output without dropout, and how much in its direction. Rows are independent, and which of the two outputs
is which makes no difference if both are right: so these differences d are symmetric, and |sum d| > t sqrt(sum d^2) has
a probability of at most 2 exp(-t^2 / 2) (Efron, Student's t-test under symmetry conditions, 1969), also when the large
ones, of which few could hide all others, are cut.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from pytest_kernelbenchx.judge.chance import OWN_SEED, RISK, certain
from pytest_kernelbenchx.judge.compare import allowed_error, compare
from pytest_kernelbenchx.judge.oracle import widened
from pytest_kernelbenchx.judge.randomized import Dropout, judge_mask
from pytest_kernelbenchx.judge.tolerance import DEFAULT, NOISE_FACTOR, Tolerance, jitter
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.task import select

DRAWS = 4  # of errors, each time that their effect is measured
MARGIN = 4.0  # times a root mean square: what normal errors exceed once in 16,000 times
CUT = 3.0  # times the median
DROPOUT = (torch.dropout, torch.nn.functional.dropout)


@dataclass(frozen=True)
class HiddenDropout(Dropout):
    """Dropout followed by operations that can be undone.

    Args:
        recover: gives what dropout returned, from `output` and those arguments of the call that it names, in float64;
            None where that cannot be told, in a call of so large or so narrow tensors.
    """

    recover: Callable[..., Tensor | None] = field(kw_only=True)


def judge_hidden(
    got: Tensor,
    operation: Callable[..., Tensor],
    recover: Callable[..., Tensor | None],
    arguments: Mapping[str, Any],
    p: float,
    *,
    drawn: Tensor,
    kept: Tensor,
    second: Tensor | None = None,
    tolerance: Tolerance = DEFAULT,
    name: str = "output",
) -> Outcome:
    """`PASSED` or `WRONG_VALUES`; arguments as for `Hidden` and `judge_rows`, p neither 0 nor 1."""
    if not got.numel():
        return Outcome(Verdict.PASSED)
    if not bool(torch.isfinite(got).all()):
        return Outcome(Verdict.WRONG_VALUES, f"{name}: not every element is finite")
    if recover(output=got.to(torch.float64), **widened(select(recover, arguments))) is None:
        return judge_rows(got, drawn, kept, p, second=second, tolerance=tolerance, name=name)
    return Hidden(operation, recover, arguments, p, tolerance).judge(got, second, name)


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
        recover: Callable[..., Any],
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
        self.rng = torch.Generator().manual_seed(OWN_SEED)

    def judge(self, got: Tensor, second: Tensor | None = None, name: str = "output") -> Outcome:
        """`PASSED` or `WRONG_VALUES`, of a finite output whose form was checked; `second` is that of another seed."""
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


def judge_rows(
    got: Tensor,
    drawn: Tensor,
    kept: Tensor,
    p: float,
    *,
    second: Tensor | None = None,
    tolerance: Tolerance = DEFAULT,
    name: str = "output",
) -> Outcome:
    """`PASSED` or `WRONG_VALUES`, of an output whose dropout cannot be recovered; its rows are along the last axis.

    Args:
        got: the output, finite, in its own type; its form was checked.
        drawn: what the operation gives in float64, with a mask of its own.
        kept: the same if nothing is dropped, scaled by 1 / (1 - p).
        second: the output of the same call under another seed.
    """
    y, room = got.to(torch.float64), allowed_error(kept, got.dtype, tolerance=tolerance)
    bound, size = math.sqrt(2 * math.log(2 / RISK)), kept.abs() + (drawn - kept).abs() + (y - kept).abs()
    for what, of in (("its distance from", lambda y: (y - kept) ** 2), ("its share of", lambda y: y * kept)):
        differences = (of(y) - of(drawn)).sum(-1)
        differences = differences.sign() * (differences.abs() - (4 * room * size).sum(-1)).clamp(min=0)
        typical = differences.abs()[differences != 0].median() if bool(differences.any()) else 1.0
        differences = (differences / typical).clamp(-CUT, CUT)
        off = float(differences.sum().abs())
        if off > bound * float(differences.square().sum().sqrt()):
            ratio = float(of(y).sum() / of(drawn).sum())
            reason = f"{what} the output without dropout is {ratio:.4g} times what p = {p:g} makes credible"
            return Outcome(Verdict.WRONG_VALUES, f"{name}: {reason}")
    visible = ((drawn - kept).abs() > 2 * room).any(-1)
    same = second is not None and bool(((y - second).abs() <= 2 * room).all())
    if same and certain(visible, p**2 + (1 - p) ** 2):
        return Outcome(Verdict.WRONG_VALUES, f"{name}: another seed gives the same result")
    return Outcome(Verdict.PASSED)
