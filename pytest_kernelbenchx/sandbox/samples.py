"""Elements of outputs that are too large to send whole: which ones, described and sent alike by every process.

Which elements follows from a seed that the judge draws only after the outputs exist: the first and the last 1,024 and
65,536 at random. Outputs up to a given number of elements travel whole.
"""

from collections.abc import Mapping
from typing import Any

import numpy
import torch

from pytest_kernelbenchx.dtypes import DTYPES, NAMES
from pytest_kernelbenchx.sandbox.protocol import INDEX_LIMIT, RANK_LIMIT, Opaque, decode, encode, obstacle, pack, unpack
from pytest_kernelbenchx.sandbox.wire import ProtocolError, as_list, natural, text

EDGE, DRAWN = 1024, 65_536
AGAIN = 1000  # what is added to the number of an input set when it gets other values
PROBE = 1_000_000  # number of a set that is never timed
Groups = Mapping[str, list[Any]]


def positions(seed: int, count: int, whole: int) -> numpy.ndarray | None:
    """Flat indices into `count` elements, or None for all of them (if there are at most `whole`)."""
    if count <= max(whole, 2 * EDGE):
        return None
    drawn = numpy.random.default_rng([seed, count]).integers(0, count, DRAWN)
    return numpy.concatenate([numpy.arange(EDGE), numpy.arange(count - EDGE, count), drawn])


def describe(groups: Groups, seed: int, whole: int) -> tuple[dict[str, Any], list[memoryview]]:
    """Header and buffers for named lists of outputs: of every tensor its form and the sampled elements."""
    tensors: list[torch.Tensor] = []
    picked = {name: [_picked(leaf, seed, whole) for leaf in leaves] for name, leaves in groups.items()}
    tree = encode(picked, tensors, strict=False)
    rows, buffers = pack(tensors)
    header = {"forms": {name: [_form(leaf) for leaf in leaves] for name, leaves in groups.items()}, "groups": tree}
    return {**header, "tensors": rows, "storages": [len(buffer) for buffer in buffers]}, buffers


def _plain(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and obstacle(leaf) is None


def _form(leaf: Any) -> dict[str, Any] | None:
    if not _plain(leaf):
        return None
    return {"dtype": NAMES[leaf.dtype], "shape": list(leaf.shape), "device": leaf.device.type}


def _picked(leaf: Any, seed: int, whole: int) -> Any:
    if not _plain(leaf):
        return leaf
    chosen = positions(seed, leaf.numel(), whole)
    flat = leaf.detach().resolve_conj().resolve_neg().reshape(-1)
    return flat.clone() if chosen is None else flat[torch.from_numpy(chosen).to(flat.device)]


class Samples:
    """What `describe` sent, checked.

    Attributes:
        seed, whole: as given to `describe`.
        groups: by name, the leaves: one-dimensional samples, or tensors in their shape if they came whole.
        like: the same with tensors of the full form but without memory in place of the samples.
        devices: by name, where each tensor lies.
        partial: whether any tensor is a sample only.
    """

    def __init__(self, header: dict, payload: bytearray, seed: int, whole: int, limit: int):
        """Raises ProtocolError."""
        self.seed, self.whole, self.partial = seed, whole, False
        values = decode(header.get("groups"), unpack(header, payload, limit=limit))
        forms = header.get("forms")
        if type(values) is not dict or type(forms) is not dict or list(values) != list(forms):
            raise ProtocolError("outputs and their forms do not go together")
        self.groups: dict[str, list[Any]] = {}
        self.like: dict[str, list[Any]] = {}
        self.devices: dict[str, list[str]] = {}
        for name, leaves in values.items():
            described = as_list(forms[name], "forms")
            if type(leaves) is not list or len(leaves) != len(described):
                raise ProtocolError("outputs and their forms differ in number")
            pairs = [self._leaf(leaf, form) for leaf, form in zip(leaves, described, strict=True)]
            self.groups[name], self.like[name] = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            self.devices[name] = [text(form.get("device"), "device", 20) for form in described if form is not None]

    def _leaf(self, leaf: Any, form: Any) -> tuple[Any, Any]:
        if form is None:
            if isinstance(leaf, torch.Tensor):
                raise ProtocolError("an output has no form")
            return leaf, leaf
        if type(form) is not dict or not isinstance(leaf, torch.Tensor) or isinstance(leaf, Opaque):
            raise ProtocolError("the form of an output is not described as it must be")
        name = form.get("dtype")
        if type(name) is not str or DTYPES.get(name) is not leaf.dtype:
            raise ProtocolError("the elements of an output are not of its type")
        shape = [natural(size, "size", INDEX_LIMIT) for size in as_list(form.get("shape"), "shape", RANK_LIMIT)]
        count = int(numpy.prod([float(size) for size in shape]))
        if count > INDEX_LIMIT:
            raise ProtocolError("an output is too large")
        like = torch.empty(shape, dtype=leaf.dtype, device="meta")
        chosen = positions(self.seed, count, self.whole)
        if list(leaf.shape) != [count if chosen is None else len(chosen)]:
            raise ProtocolError("the sample of an output has another number of elements than was asked for")
        self.partial |= chosen is not None
        return (leaf.reshape(shape) if chosen is None else leaf), like

    def place(self, index: int, shape: torch.Size) -> list[int]:
        """Where in an output of that shape the sampled element number `index` stands."""
        chosen = positions(self.seed, shape.numel(), self.whole)
        flat = index if chosen is None else int(chosen[index])
        return [int(i) for i in numpy.unravel_index(flat, tuple(shape))] if shape else []
