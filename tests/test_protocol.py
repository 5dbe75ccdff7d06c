"""Values and messages between the judge and a candidate: what goes in comes out, and garbage is refused."""

import contextlib
import json
import math
import socket

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_kernelbenchx.dtypes import DTYPES
from pytest_kernelbenchx.sandbox.answer import loaded, returned
from pytest_kernelbenchx.sandbox.protocol import Opaque, decode, encode, pack, unpack
from pytest_kernelbenchx.sandbox.wire import HEADER_LIMIT, ProtocolError, Reader, clean, frame, parse_header

ROW = {"storage": 0, "dtype": "f32", "shape": [2, 3], "stride": [3, 1], "offset": 0}


def travel(value, **options):
    """The value after a journey through JSON and bytes."""
    tensors = []
    tree = json.loads(json.dumps(encode(value, tensors, **options)))
    rows, buffers = pack(tensors)
    header = {"tensors": rows, "storages": [len(buffer) for buffer in buffers]}
    return decode(tree, unpack(header, b"".join(buffers)))


def receive(data: bytes, limit: int = 1000) -> Reader:
    """Read one message of which `data` is all that ever comes."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        reader = Reader(limit)
        while not reader.read(ours):
            pass
        return reader


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -3,
        1 << 63,
        0.1,
        math.inf,
        -math.inf,
        1 + 2j,
        complex(math.inf, 0.0),
        "ünï\n\x00",
        [1, [2.5, ()], {"a": None, "": [True]}],
        torch.Size([2, 0]),
        torch.bfloat16,
        torch.device("cpu"),
    ],
)
def test_plain_values_come_back_with_their_types(value):
    back = travel(value)
    assert back == value
    assert type(back) is type(value)


def test_a_generator_comes_back_with_its_seed():
    back = travel(torch.Generator().manual_seed(2**40 + 1))
    assert type(back) is torch.Generator
    assert back.initial_seed() == 2**40 + 1
    assert travel([torch.Generator()], strict=False)[0].type == "torch._C.Generator"  # as a result it does not travel


def test_nan_comes_back():
    assert math.isnan(travel(math.nan))


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_every_element_type_comes_back_bit_for_bit(name, shape):
    tensor = (torch.arange(math.prod(shape)).reshape(shape) - 2).to(DTYPES[name])
    back = travel(tensor)
    assert (back.dtype, back.shape) == (tensor.dtype, tensor.shape)
    assert torch.equal(back, tensor)


@pytest.mark.parametrize(
    "view",
    [
        lambda base: base.t(),
        lambda base: base[1:, ::2],
        lambda base: base[0].expand(5, 6),
        lambda base: base.as_strided((2, 2), (1, 1), 3),
    ],
)
def test_strides_and_offsets_are_kept(view):
    tensor = view(torch.arange(24.0).reshape(4, 6))
    back = travel(tensor)
    assert (back.stride(), back.storage_offset()) == (tensor.stride(), tensor.storage_offset())
    assert torch.equal(back, tensor)


def test_shared_memory_stays_shared():
    base = torch.zeros(4, 4)
    whole, row, same, other = travel((base, base[1], base, torch.zeros(4, 4)))
    row += 1
    assert whole is same
    assert whole.sum() == 4
    assert other.sum() == 0


def test_conjugate_and_negative_bits_are_resolved():
    tensor = torch.tensor([1 + 2j, 3 - 4j])
    assert torch.equal(travel(tensor.conj()), tensor.conj().resolve_conj())
    assert torch.equal(travel(tensor.conj().imag), torch.tensor([-2.0, 4.0]))


@pytest.mark.parametrize("value", [object(), {1: 2}, {3}, torch.zeros(2, dtype=torch.uint16), 1 << 70, range(3)])
def test_the_judge_sends_nothing_else(value):
    with pytest.raises(ProtocolError, match="cannot be sent"):
        encode([value], [])


def test_what_a_candidate_returns_besides_is_named():
    class Lazy(torch.Tensor):
        pass

    found = travel([Lazy(), torch.eye(2).to_sparse(), torch.empty(2, device="meta"), object()], strict=False)
    assert all(isinstance(item, Opaque) for item in found)
    assert [item.type for item in found[1:]] == [
        "torch.Tensor with layout torch.sparse_coo",
        "torch.Tensor on device meta",
        "builtins.object",
    ]
    assert "Lazy" in found[0].type


def test_named_results_of_torch_are_tuples():
    values, indices = travel(torch.max(torch.eye(2), dim=0), strict=False)
    assert torch.equal(values, torch.ones(2))
    assert torch.equal(indices, torch.tensor([0, 1]))


def test_endless_structures_are_refused():
    endless, doubled = [], [1]
    endless.append(endless)
    for _ in range(30):
        doubled = [doubled, doubled]
    for value in (endless, doubled):
        with pytest.raises(ProtocolError, match="too deeply"):
            encode(value, [], strict=False)


@pytest.mark.parametrize(
    "change",
    [
        {"storage": 1},
        {"storage": -1},
        {"storage": True},
        {"dtype": "f8"},
        {"dtype": ["f32"]},
        {"dtype": "f64"},
        {"shape": [3, 3]},
        {"shape": [2, -3]},
        {"shape": [2, 3.0]},
        {"shape": [6]},
        {"shape": [1] * 65, "stride": [1] * 65},
        {"shape": [1 << 40], "stride": [0]},
        {"shape": [1 << 40, 0], "stride": [1, 1]},
        {"stride": [-3, 1]},
        {"stride": [4, 1]},
        {"stride": [1 << 47, 1]},
        {"offset": 1},
        {"offset": -1},
        {"offset": None},
    ],
)
def test_a_tensor_that_does_not_fit_its_storage_is_refused(change):
    good = {"storages": [24], "tensors": [ROW]}
    assert unpack(good, bytes(24))[0].shape == (2, 3)
    with pytest.raises(ProtocolError):
        unpack({"storages": [24], "tensors": [ROW | change]}, bytes(24))


@pytest.mark.parametrize("storages", [[23], [25], [24, 1], [-1, 25], ["24"], None, 24])
def test_storages_must_add_up_to_the_payload(storages):
    with pytest.raises(ProtocolError):
        unpack({"storages": storages, "tensors": []}, bytes(24))


def test_odd_booleans_become_true():
    header = {"storages": [3], "tensors": [{**ROW, "dtype": "bool", "shape": [3], "stride": [1]}]}
    [tensor] = unpack(header, b"\x00\x02\xff")
    assert torch.equal(tensor, torch.tensor([False, True, True]))


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"list": [], "tuple": []},
        {"list": 3},
        {"dict": [["a"]]},
        {"dict": [[1, 2]]},
        {"tensor": 0},
        {"tensor": "0"},
        {"complex": [1.0]},
        {"complex": [1.0, "x"]},
        {"float": "1"},
        {"float": []},
        {"dtype": "f8"},
        {"device": "cuda:7"},
        {"generator": -1},
        {"generator": "1"},
        {"generator": 1 << 63},
        {"size": [-1]},
        {"type": 3},
        {"what": 1},
        [1],
        float("nan"),
    ],
)
def test_trees_outside_the_protocol_are_refused(tree):
    with pytest.raises(ProtocolError):
        decode(tree, [])


def test_a_tree_nested_too_deeply_is_refused():
    tree = 1
    for _ in range(100):
        tree = {"list": [tree]}
    with pytest.raises(ProtocolError, match="too deeply"):
        decode(tree, [])


def test_a_message_is_read_piece_by_piece_and_no_further():
    data = b"".join(frame({"a": "ü"}, [b"12", memoryview(b"345")]))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        reader = Reader(5)
        for byte in data[:-1]:
            theirs.send(bytes([byte]))
            assert not reader.read(ours)
        theirs.send(data[-1:] + b"next")
        assert reader.read(ours)
        assert ours.recv(10) == b"next"
    assert (reader.header, reader.payload) == ({"a": "ü"}, b"12345")


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff",
        (HEADER_LIMIT + 1).to_bytes(4, "little"),
        b"\x00\x00\x00\x00",
        b"\x02\x00\x00\x00[]",
        b"\x02\x00\x00\x00{}" + (1001).to_bytes(8, "little"),
    ],
)
def test_lengths_are_checked_before_memory_is_taken(data):
    with pytest.raises(ProtocolError):
        receive(data)


def test_half_a_message_is_the_end_of_the_stream():
    with pytest.raises(EOFError):
        receive(b"".join(frame({}, [b"abc"]))[:-1])


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": "\\ud800"}',
        b'{"a": "\\\\\\ud800"}',
        b'{"a": "\xff"}',
        b"[" * 100_000,
        b"3",
        b'{"a": 1',
    ],
)
def test_headers_that_are_no_clean_json_object_are_refused(body):
    with pytest.raises(ProtocolError):
        parse_header(body)


def test_a_backslash_before_u_is_no_surrogate():
    assert parse_header(rb'{"a": "\\ud800"}') == {"a": r"\ud800"}
    assert parse_header(frame({"a": r"\ud800", "b": "x\ud800"})[0][4:-8]) == {"a": r"\ud800", "b": "x?"}


def test_terminal_escapes_are_written_out():
    assert clean("a\x1b[31mb\r\nc\u202e", 100) == "a\\x1b[31mb\\r\nc\\u202e"
    assert len(clean("x" * 1000, 100)) < 110


TAGS = ["list", "tuple", "dict", "tensor", "float", "complex", "dtype", "size", "device", "generator", "type"]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 1 << 66)
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["f32", "bool", "nan", "cpu"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(TAGS), inner, max_size=2),
    max_leaves=12,
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "storage": st.integers(-1, 2) | JSON,
            "dtype": st.sampled_from(["f32", "bool", "c128", "f8"]) | JSON,
            "shape": st.lists(st.integers(-1, 4) | st.integers(0, 1 << 50), max_size=3) | JSON,
            "stride": st.lists(st.integers(-1, 4) | st.integers(0, 1 << 50), max_size=3) | JSON,
            "offset": st.integers(-1, 9) | JSON,
        },
        optional={"device": JSON, "alias": JSON},
    ),
    max_size=3,
)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "ok": st.just(True) | JSON,
        "result": JSON,
        "after": st.builds(lambda n: {"list": [{"tensor": i} for i in range(n)]}, st.integers(0, 2)) | JSON,
        "tensors": ROWS | JSON,
        "storages": st.lists(st.integers(0, 9), max_size=3) | JSON,
        "launches": st.just([]) | JSON,
        "dropped": st.just(0) | JSON,
        "seconds": st.just(0.1) | JSON,
        "error": JSON | st.fixed_dictionaries({"verdict": JSON, "type": JSON, "message": JSON, "traceback": JSON}),
        "entry": JSON,
        "kernels": JSON,
        "configs": JSON,
    },
)


@settings(max_examples=200, deadline=None, database=None)
@given(HEADERS, st.binary(max_size=27), st.booleans())
def test_no_answer_whatever_raises_anything_but_a_protocol_error(header, payload, exact):
    if exact and isinstance(header.get("storages"), list) and all(type(s) is int for s in header["storages"]):
        payload = bytes(min(100, sum(map(abs, header["storages"]))))
    for read in (lambda: returned(header, bytearray(payload), [torch.zeros(2)], 1000), lambda: loaded(header)):
        with contextlib.suppress(ProtocolError):
            read()


@settings(max_examples=150, deadline=None, database=None)
@given(ROWS, st.lists(st.integers(0, 40), max_size=3))
def test_no_tensor_reaches_out_of_its_storage(rows, storages):
    try:
        tensors = unpack({"tensors": rows, "storages": storages}, bytes(sum(storages)), limit=10_000)
    except ProtocolError:
        return
    for tensor in tensors:
        assert tensor.untyped_storage().nbytes() in storages
        assert (tensor == 0).all()


@settings(max_examples=150, deadline=None, database=None)
@given(
    st.binary(max_size=60)
    | st.builds(lambda h, b: len(h).to_bytes(4, "little") + h + b, st.binary(max_size=30), st.binary(max_size=20))
)
def test_no_bytes_whatever_raise_anything_but_a_protocol_error_or_the_end(data):
    with contextlib.suppress(ProtocolError, EOFError):
        receive(data)


@settings(max_examples=100, deadline=None, database=None)
@given(st.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_header_whatever_raises_anything_but_a_protocol_error(body):
    with contextlib.suppress(ProtocolError):
        assert type(parse_header(body)) is dict
