"""What is wrong with an output, in numbers and in words."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Mismatch:
    """What is wrong with one output.

    Args:
        count, total: elements that are wrong, elements in all.
        index: of the worst element, by error over allowed error.
        got, expected: the values there.
        allowed: the error allowed there.
        max_abs: the largest finite absolute error.
        errors: cosine, relative L1 and relative RMSE of the whole output.
        where: which part is wrong.
        hint: what it looks like, or "".
    """

    count: int
    total: int
    index: tuple[int, ...]
    got: complex | float | int | bool
    expected: complex | float | int | bool
    allowed: float
    max_abs: float
    errors: dict[str, float]
    where: str
    hint: str = ""

    @property
    def fraction(self) -> float:
        return self.count / self.total

    def message(self, name: str) -> str:
        """Two to four lines for a person."""
        share = f"{self.count} of {self.total} elements are wrong ({100 * self.fraction:.3g} %)"
        place = f"[{', '.join(map(str, self.index))}]" if self.index else ""
        error = "" if isinstance(self.got, bool) else f" (error {abs(self.got - self.expected):.6g})"
        lines = [
            f"{name}: {share}: {self.where}",
            f"worst at {name}{place}: got {show(self.got)}, expected {show(self.expected)}{error}, "
            f"allowed {self.allowed:.3g}",
            f"cosine {self.errors['cosine']:.6f}, relative L1 {self.errors['relative_l1']:.3g}, "
            f"relative RMSE {self.errors['relative_rmse']:.3g}, largest error {self.max_abs:.6g}",
        ]
        return "\n".join([*lines, f"hint: {self.hint}"] if self.hint else lines)


def show(value: complex | float | int | bool) -> str:
    """A number with as many digits as tell two float32 values apart."""
    if isinstance(value, complex):
        return f"{value.real:.9g}{value.imag:+.9g}j"
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def errors(got: Tensor, truth: Tensor) -> dict[str, float]:
    """Cosine, relative L1 and relative RMSE over the elements that are finite in both.

    Two vectors of zeros have cosine 1 and errors 0; any other pair with a zero truth has cosine 0 and infinite errors.
    """
    a, b = wide(got).flatten(), wide(truth).flatten()
    keep = torch.isfinite(a) & torch.isfinite(b)
    a, b = a[keep], b[keep]
    top = max(float(a.abs().max()), float(b.abs().max())) if a.numel() else 0.0
    if top == 0:
        return {"cosine": 1.0, "relative_l1": 0.0, "relative_rmse": 0.0}
    a, b = a / top, b / top  # keeps the squares of float64 values in range
    size_a, size_b = float(torch.linalg.vector_norm(a)), float(torch.linalg.vector_norm(b))
    if size_b == 0:
        return {"cosine": 0.0, "relative_l1": math.inf, "relative_rmse": math.inf}
    cosine = float(torch.vdot(b, a).real) / (size_a * size_b) if size_a else 0.0
    l1 = float((a - b).abs().sum() / b.abs().sum())
    return {
        "cosine": cosine,
        "relative_l1": l1,
        "relative_rmse": float(torch.linalg.vector_norm(a - b)) / size_b,
    }


def wide(values: Tensor) -> Tensor:
    """In float64, or complex128."""
    return values.detach().to(torch.complex128 if values.is_complex() else torch.float64)
