"""A minimum and its place, where several elements are so close that rounding decides which of them is the least.

The value is compared like any other output. The place is right when the exact value there is the minimum, up to the
same allowed error: any of equal elements will do, whether they are equal exactly or only in the type of the result.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from pytest_kernelbenchx.judge.compare import allowed_error
from pytest_kernelbenchx.judge.mismatch import wide
from pytest_kernelbenchx.judge.properties import Residual
from pytest_kernelbenchx.task import select

Properties = Callable[[Mapping[str, Any], tuple[Tensor, ...]], list[Residual]]


def minimum_of(function: Callable[..., Tensor]) -> Properties:
    """The residuals of the minimum of `function`, which is elementwise in the argument `input`.

    The task has parameters `input`, `dim` and `keepdim`. It gives a tensor for `dim=None`, else values and places.
    """

    def properties(inputs: Mapping[str, Any], got: tuple[Tensor, ...]) -> list[Residual]:
        dim = inputs["dim"]
        exact = function(**select(function, {**inputs, "input": wide(inputs["input"])}))
        eager = function(**select(function, inputs))
        axes = {"dim": tuple(range(exact.ndim)) if dim is None else dim}
        keepdim = dim is not None and bool(inputs["keepdim"])
        least = exact.amin(**axes, keepdim=keepdim)
        allowed = allowed_error(least, got[0].dtype, eager=eager.amin(**axes, keepdim=keepdim))
        about = torch.finfo(got[0].dtype)
        allowed = allowed.clamp(min=about.smallest_normal * about.eps)  # smaller ones are equal in this type
        residuals = [_largest("minimum", wide(got[0]), least, allowed)]
        if dim is None:
            return residuals
        places = got[1] if keepdim else got[1].unsqueeze(dim)
        inside = (places >= 0) & (places < exact.shape[dim])
        there = exact.gather(dim, places.clamp(0, exact.shape[dim] - 1)).reshape(least.shape)
        residuals.append(Residual("places outside of the dimension", float((~inside).sum()), 0.0))
        residuals.append(_largest("value at the place of the minimum", there, least, allowed))
        return residuals

    return properties


def _largest(label: str, values: Tensor, want: Tensor, allowed: Tensor) -> Residual:
    """The error that is largest in relation to what is allowed; where NaN is wanted, NaN is right."""
    same = (values == want) | (torch.isnan(values) & torch.isnan(want))
    error = torch.where(same, 0.0, (values - want).abs()).flatten()
    if not error.numel():
        return Residual(label, 0.0, 0.0)
    allowed = allowed.expand(want.shape).flatten()
    tiny = torch.finfo(torch.float64).tiny
    place = torch.nan_to_num(error / (allowed + tiny), nan=torch.inf).argmax()
    return Residual(label, float(error[place]), float(allowed[place]))
