"""What one of PyTorch's operators does: allocate, fill, move, view, look at something, or compute.

Reserving memory, filling it with a constant, copying, converting, gathering and viewing are what the host code of a
kernel may do. An operator that is in no table and makes or changes tensors computes. Work on a few elements is the
host's bookkeeping (a scalar, a seed) and computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch

KINDS = ("alloc", "fill", "move", "view", "meta", "compute")
SMALL = 16  # elements of all tensors of an operator that is bookkeeping

_ALLOC = "empty empty_like empty_strided empty_permuted new_empty new_empty_strided resize resize_ resize_as_"
_FILL = (
    "zeros ones full zeros_like ones_like full_like new_zeros new_ones new_full zero zero_ fill fill_ arange eye "
    "linspace scalar_tensor index_fill index_fill_ fill_diagonal_ tril_indices triu_indices lift_fresh_copy "
    "_efficientzerotensor"
)
_MOVE = (
    "clone copy copy_ _to_copy to contiguous cat concat stack hstack vstack block_diag pad constant_pad_nd repeat tile "
    "repeat_interleave reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d "
    "replication_pad3d index index_select index_put index_put_ _index_put_impl_ _unsafe_index _unsafe_index_put "
    "index_copy index_copy_ gather take take_along_dim put put_ scatter scatter_ masked_select masked_scatter "
    "masked_scatter_ masked_fill masked_fill_ where embedding flip fliplr flipud roll rot90 tril tril_ triu triu_ diag "
    "diag_embed im2col pixel_shuffle pixel_unshuffle native_channel_shuffle select_scatter slice_scatter "
    "diagonal_scatter as_strided_scatter complex _conj_physical conj_physical conj_physical_ to_dense one_hot "
    "_reshape_copy unfold_copy reshape flatten"
)
_VIEW = "_unsafe_view _reshape_alias set_ squeeze_ unsqueeze_ t_ transpose_ as_strided_ swapaxes_ detach_"
_TABLES = zip(KINDS, (_ALLOC, _FILL, _MOVE, _VIEW), strict=False)
TABLE = {name: kind for kind, names in _TABLES for name in names.split()}


def kind_of(operator: Any) -> str:
    """The kind of an operator that a dispatch mode sees, by the table, or else by what its schema says it returns."""
    schema = operator._schema
    kind = named(schema.name)
    if kind is not None:
        return kind
    returned = [value for value in schema.returns if "Tensor" in str(value.type)]
    if operator.is_view and returned:
        return "view"
    return "compute" if returned or schema.is_mutable else "meta"


def named(name: str) -> str | None:
    """The kind of an operator by its name (`aten::copy_`) alone; None if no table has it."""
    space, _, short = name.partition("::")
    if space != "aten":
        return None
    return TABLE.get(short, "move" if short.endswith("_copy") else None)


def leaves(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in arguments or results."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        yield from leaves(list(value.values()))


def elements(tensors: list[torch.Tensor]) -> int:
    return sum(tensor.numel() for tensor in {id(tensor): tensor for tensor in tensors}.values())


def flops(operator: Any, args: tuple, kwargs: dict, out: Any) -> int:
    """Additions and multiplications beyond one for every element: those of products, factorisations and transforms.

    Products by PyTorch's own counter; a factorisation or solution as n for every element of matrices with n columns,
    a Fourier transform as 5 log2(n) for every element; both are estimates.
    """
    from torch.utils.flop_counter import flop_registry

    count = flop_registry.get(operator._overloadpacket)
    if count is not None:
        return int(count(*args, **kwargs, out_val=out))
    name, found = operator._schema.name.partition("::")[2], [t for t in leaves((args, kwargs)) if t.dim()]
    largest = max(found, key=torch.Tensor.numel, default=None)
    if largest is None:
        return 0
    if "linalg" in name or any(word in name for word in ("cholesky", "triangular_solve", "lu_", "ormqr", "geqrf")):
        return largest.numel() * largest.shape[-1]
    if "fft" in name:
        return int(5 * largest.numel() * max(1.0, math.log2(max(largest.shape))))
    if name in ("mv", "addmv", "dot", "vdot", "addr"):
        return 2 * largest.numel()
    return 0
