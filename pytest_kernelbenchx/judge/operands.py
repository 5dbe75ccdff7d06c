"""Which operands of a quantized result were quantized at all, read off its error.

The size of an error cannot tell: two operands in groups of 32 have an error as small as one operand with a scale per
row, 0.5 to 0.75 of that of two. Its shape can. If A is exact in A B, the error of A B' is A (B' - B), and lies in the
span of A's columns; rounding A moves it out of there. A task names, for an operand, a linear function of the error, a
*trace*, which is zero, or small, as long as that operand is exact, whatever was done to the others (`Task.traces`).

The root mean square of a trace is compared with what rounding this operand alone, in groups of `GROUP`, gives in it
(`Quantized.dither`): below `LEAST` of that, the operand was not quantized. Honest schemes have 0.8 and more, bfloat16
has 0.2 to 0.35. A trace is used only where rounding the other operands leaves at most `LEAKS` in it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from pytest_kernelbenchx.task import Task, select

LEAST, LEAKS = 0.5, 0.2
GROUP = 32  # the finest that tasks allow
ENOUGH = 200
"""Independent numbers in a trace, at least: the mean square of so many normal ones is below (0.5 / 0.8)**2 of what is
expected once in 10**14 times (Chernoff); those of rounding are uniform, and scatter less."""
DRAWS = 2
NOTHING = torch.empty(0, dtype=torch.float64)

Operation = Callable[[Mapping[str, Any]], Tensor]


def beyond_columns(error: Tensor, matrix: Tensor) -> Tensor:
    """What of `error` [..., M, N] no product of `matrix` [..., M, K] explains; empty where too little can be left."""
    (M, K), N = matrix.shape[-2:], error.shape[-1]
    if matrix[..., 0, 0].numel() * (M - K) * min(N, K) < ENOUGH:
        return NOTHING
    basis = torch.linalg.qr(matrix).Q
    return error - basis @ (basis.mT @ error)


def exact_operand(task: Task, arguments: Mapping[str, Any], run: Operation, truth: Tensor, got: Tensor) -> str:
    """The operands that a result shows to be exact, as one word, or "".

    Args:
        arguments: all of the call's, in float64, defaults included.
        run: evaluates the operation on such arguments.
        truth: the operation without quantization, in float64.
        got: the result.
    """
    for own, rest, trace in _traces(task, arguments):

        def size(error: Tensor, trace: Callable[..., Tensor] = trace) -> Tensor:
            return trace(error=error, **select(trace, arguments)).square()

        def rounded(names: Sequence[str], size: Callable[[Tensor], Tensor] = size) -> float:
            if not names:
                return 0.0
            moved = [_rounded(task, arguments, names, seed) for seed in range(DRAWS)]
            return float(torch.stack([size(run(each) - truth) for each in moved]).mean())

        seen = size(got.to(torch.float64) - truth)
        if not seen.numel():
            continue
        expected = rounded(own)
        if float(seen.mean()) < LEAST**2 * expected and rounded(rest) <= LEAKS**2 * expected:
            return " and ".join(own)
    return ""


def _traces(task: Task, arguments: Mapping[str, Any]) -> Iterator[tuple[list[str], list[str], Callable[..., Tensor]]]:
    """The operands that were passed, the other quantized ones, and their trace."""
    quantized = [name for name in task.scales or {} if arguments.get(name) is not None]
    for names, trace in (task.traces or {}).items():
        own = [name for name in quantized if name == names or name in names.split(" and ")]
        if own:
            yield own, [name for name in quantized if name not in own], trace


def _rounded(task: Task, arguments: Mapping[str, Any], names: Sequence[str], seed: int) -> Mapping[str, Any]:
    rng, scales, rounded = torch.Generator().manual_seed(seed), task.scales or {}, task.quantized.dither
    return {**arguments, **{name: rounded(arguments[name], scales[name], rng, GROUP) for name in names}}
