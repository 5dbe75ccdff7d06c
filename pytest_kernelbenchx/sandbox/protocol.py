"""Values between the judge and a candidate's process: JSON trees and raw bytes, nothing that runs.

A value travels as a JSON tree whose tensors are rows of the header (element type, shape, strides, offset, storage)
over the payload, which is the storages' bytes one after the other (`wire` frames both). Tensors that share a storage
share it on the other side, too. The judge reads what a hostile process wrote, so the reading half trusts nothing:
every index, bound and type is checked before it is used, and whatever is off raises ProtocolError and nothing else.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import torch

from pytest_kernelbenchx.dtypes import DTYPES, NAMES
from pytest_kernelbenchx.sandbox.wire import NODE_LIMIT, PAYLOAD_LIMIT, ProtocolError, as_list, clean, natural, text

DEPTH_LIMIT = 32
RANK_LIMIT = 64
INT_LIMIT = 1 << 64
INDEX_LIMIT = 1 << 48
SEED_LIMIT = (1 << 63) - 1


@dataclass(frozen=True)
class Opaque:
    """Stands for a value that does not travel; `type` says what it was."""

    type: str


def encode(value: Any, tensors: list[torch.Tensor], *, strict: bool = True) -> Any:
    """The tree of `value`; its tensors are appended to `tensors`.

    With `strict` (the judge's side) a value outside the protocol raises ProtocolError, and one tensor met twice is one
    row. Without (the candidate's side) such a value becomes `{"type": name}`, and every tensor met is a row of its own.
    """
    return _Encoder(tensors, strict).tree(value, 0)


class _Encoder:
    def __init__(self, tensors: list[torch.Tensor], strict: bool):
        self.tensors, self.strict, self.nodes = tensors, strict, 0

    def tree(self, value: Any, depth: int) -> Any:
        self.nodes += 1
        if depth > DEPTH_LIMIT or self.nodes > NODE_LIMIT:
            raise ProtocolError("the value is nested too deeply or has too many parts")
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is int and -INT_LIMIT <= value <= INT_LIMIT:
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if kind is complex:
            return {"complex": [self.tree(value.real, depth + 1), self.tree(value.imag, depth + 1)]}
        if isinstance(value, torch.Tensor):
            return self.row(value)
        return self.container(value, kind, depth)

    def container(self, value: Any, kind: type, depth: int) -> Any:
        if kind is list:
            return {"list": [self.tree(item, depth + 1) for item in value]}
        if kind is torch.Size:
            return {"size": list(value)}
        if kind is tuple or (isinstance(value, tuple) and is_record(kind)):
            return {"tuple": [self.tree(item, depth + 1) for item in tuple.__iter__(value)]}
        if kind is dict and all(type(key) is str for key in value):
            return {"dict": [[key, self.tree(item, depth + 1)] for key, item in value.items()]}
        if kind is torch.dtype and value in NAMES:
            return {"dtype": NAMES[value]}
        if kind is torch.device:
            return {"device": True}
        if kind is torch.Generator and self.strict:
            return {"generator": value.initial_seed()}
        return self.opaque(f"{kind.__module__}.{kind.__qualname__}")

    def row(self, tensor: torch.Tensor) -> Any:
        fault = obstacle(tensor)
        if fault:
            return self.opaque(fault)
        index = len(self.tensors)
        if self.strict:
            index = next((i for i, known in enumerate(self.tensors) if known is tensor), index)
        if index == len(self.tensors):
            self.tensors.append(tensor)
        return {"tensor": index}

    def opaque(self, name: str) -> Any:
        if self.strict:
            raise ProtocolError(f"a {name} cannot be sent; send tensors, numbers, text, lists, tuples and dicts")
        return {"type": name[:200]}


def is_record(kind: type) -> bool:
    """Whether a tuple class is a namedtuple or one of torch's named results, which count as plain tuples."""
    return hasattr(kind, "_fields") or kind.__module__ == "torch.return_types"


def obstacle(tensor: torch.Tensor) -> str | None:
    """What keeps a tensor from being sent as bytes (subclass, sparse, meta, unknown element type); None if nothing."""
    kind = type(tensor)
    if kind is not torch.Tensor and kind is not torch.nn.Parameter:
        return f"tensor subclass {kind.__module__}.{kind.__qualname__}"
    if tensor.layout is not torch.strided:
        return f"torch.Tensor with layout {tensor.layout}"
    if tensor.device.type not in ("cpu", "cuda"):
        return f"torch.Tensor on device {tensor.device.type}"
    if tensor.is_quantized or tensor.dtype not in NAMES:
        return f"torch.Tensor of {tensor.dtype}"
    return None


def decode(tree: Any, tensors: Sequence[torch.Tensor], device: str = "cpu") -> Any:
    """The value of a tree; `{"type": ...}` becomes Opaque. Raises ProtocolError."""
    return _Decoder(tensors, device).value(tree, 0)


class _Decoder:
    def __init__(self, tensors: Sequence[torch.Tensor], device: str):
        self.tensors, self.device, self.nodes = tensors, device, 0

    def value(self, tree: Any, depth: int) -> Any:
        self.nodes += 1
        if depth > DEPTH_LIMIT or self.nodes > NODE_LIMIT:
            raise ProtocolError("a value is nested too deeply or has too many parts")
        kind = type(tree)
        if tree is None or kind in (bool, int, str):
            return tree
        if kind is float and math.isfinite(tree):
            return tree
        if kind is not dict or len(tree) != 1:
            raise ProtocolError(f"a value is a bare {kind.__name__}")
        [(tag, body)] = tree.items()
        if tag in ("list", "tuple", "dict", "complex"):
            return self.container(tag, body, depth + 1)
        return self.leaf(tag, body)

    def container(self, tag: str, body: Any, depth: int) -> Any:
        items = as_list(body, tag)
        if tag == "dict":
            pairs = [as_list(pair, "pair") for pair in items]
            if not all(len(pair) == 2 and type(pair[0]) is str for pair in pairs):
                raise ProtocolError("a dict has an entry that is no pair of text and value")
            return {key: self.value(item, depth) for key, item in pairs}
        values = [self.value(item, depth) for item in items]
        if tag == "complex":
            if [type(part) for part in values] != [float, float]:
                raise ProtocolError("a complex number is no pair of numbers")
            return complex(*values)
        return values if tag == "list" else tuple(values)

    def leaf(self, tag: str, body: Any) -> Any:
        if tag == "tensor":
            return self.tensors[natural(body, "tensor index", len(self.tensors) - 1)]
        if tag == "float" and body in ("nan", "inf", "-inf"):
            return float(body)
        if tag == "dtype" and type(body) is str and body in DTYPES:
            return DTYPES[body]
        if tag == "size":
            return torch.Size([natural(item, "size", INDEX_LIMIT) for item in as_list(body, "size", RANK_LIMIT)])
        if tag == "device" and body is True:
            return torch.device(self.device)
        if tag == "generator":
            return torch.Generator(self.device).manual_seed(natural(body, "seed", SEED_LIMIT))
        if tag == "type":
            return Opaque(text(body, "type", 200))
        raise ProtocolError(f"a value has the unknown tag {clean(tag, 40)!r}")


def pack(tensors: Iterable[torch.Tensor], first: int = 0) -> tuple[list[dict], list[memoryview]]:
    """Rows and buffers of tensors with the strides and offsets they have; storages are numbered from `first`."""
    numbers: dict[Any, int] = {}
    rows: list[dict] = []
    buffers: list[memoryview] = []
    plain = [tensor.detach().resolve_conj().resolve_neg() for tensor in tensors]
    for index, tensor in enumerate(plain):
        storage = tensor.untyped_storage()
        key = storage.data_ptr() if storage.nbytes() else ("empty", index)
        if key not in numbers:
            numbers[key] = first + len(buffers)
            buffers.append(storage_bytes(storage))
        rows.append(
            {
                "storage": numbers[key],
                "dtype": NAMES[tensor.dtype],
                "shape": list(tensor.shape),
                "stride": list(tensor.stride()),
                "offset": tensor.storage_offset(),
            }
        )
    return rows, buffers


def storage_bytes(storage: torch.UntypedStorage) -> memoryview:
    """The bytes of a storage, copied only when they are not in host memory."""
    flat = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
    return flat.cpu().numpy().data


def unpack(
    header: dict, payload: bytes | bytearray, device: str = "cpu", limit: int = PAYLOAD_LIMIT
) -> list[torch.Tensor]:
    """The tensors of a message, each storage in memory of its own on `device`.

    `limit` bounds the bytes that any one tensor may span once written out (an expanded one spans more than it stores).
    """
    view, position, storages = memoryview(payload), 0, []
    for size in as_list(header.get("storages"), "storages"):
        size = natural(size, "storage size", len(view) - position)
        flat = torch.empty(size, dtype=torch.uint8)
        flat.numpy()[:] = numpy.frombuffer(view[position : position + size], numpy.uint8)
        storages.append(flat.to(device).untyped_storage())
        position += size
    if position != len(view):
        raise ProtocolError(f"the payload has {len(view)} bytes, its storages {position}")
    return [_tensor(row, storages, limit) for row in as_list(header.get("tensors"), "tensors")]


def _tensor(row: Any, storages: list[torch.UntypedStorage], limit: int) -> torch.Tensor:
    if type(row) is not dict:
        raise ProtocolError("a tensor's description is no object")
    storage = storages[natural(row.get("storage"), "storage index", len(storages) - 1)]
    name = row.get("dtype")
    if type(name) is not str or name not in DTYPES:
        raise ProtocolError("a tensor has an unknown element type")
    dtype = DTYPES[name]
    capacity = storage.nbytes() // dtype.itemsize
    shape = [natural(size, "size", INDEX_LIMIT) for size in as_list(row.get("shape"), "shape", RANK_LIMIT)]
    stride = [natural(step, "stride", INDEX_LIMIT) for step in as_list(row.get("stride"), "stride", RANK_LIMIT)]
    offset = natural(row.get("offset"), "offset", capacity)
    count = math.prod(shape)
    if len(shape) != len(stride) or count * dtype.itemsize > limit or max(shape, default=0) > limit:
        raise ProtocolError("a tensor's shape does not fit its strides, or it is too large")
    if count and offset + sum((size - 1) * step for size, step in zip(shape, stride, strict=True)) >= capacity:
        raise ProtocolError("a tensor reaches past its storage")
    tensor = torch.empty(0, dtype=dtype, device=storage.device).set_(storage, offset, shape, stride)
    return _boolean(tensor) if dtype is torch.bool else tensor


def _boolean(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself, or a copy if a byte is neither 0 nor 1: torch's comparisons are undefined on such booleans."""
    raw = torch.empty(0, dtype=torch.uint8, device=tensor.device)
    raw = raw.set_(tensor.untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride())
    return tensor if not raw.numel() or int(raw.max()) <= 1 else raw != 0
