"""Candidates that leave work to PyTorch: all of it is DELEGATED, a part is told, honest host code is neither."""

import shutil
from pathlib import Path

import pytest

from conftest import RELU
from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge.delegation import delegated, device_share, judge_delegation
from pytest_kernelbenchx.judge.watched import Watched
from pytest_kernelbenchx.sandbox.evidence import Evidence, Memory

CONTROLS = Path(__file__).parent / "controls"
HEAD = RELU.replace("def relu", "def honest")
ONES = """

@triton.jit
def _ones(out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.full((BLOCK,), 1, out.dtype.element_ty), mask=i < n)

"""
END = "    return input.copy_(out) if inplace else out\n"
TILE = """
def relu(input, inplace=False):
    flat = input.contiguous().view(-1)
    out = torch.empty_like(flat)
    out[:32] = honest(flat[:32])
    out[32:] = torch.relu(flat[32:])
    out = out.view(input.shape)
"""
CHEATS = {
    "copies": (f"def relu(input, inplace=False):\n    out = honest(torch.relu(input))\n{END}", "aten::relu computed"),
    "reads-nothing": (
        f"{ONES}def relu(input, inplace=False):\n    out = torch.empty(input.shape, dtype=input.dtype)\n"
        "    _ones[(max(1, triton.cdiv(out.numel(), 1024)),)](out, out.numel(), BLOCK=1024)\n"
        f"    out *= torch.relu(input)\n{END}",
        "its kernels read nothing that comes from the inputs, and PyTorch computes (aten::",
    ),
}
PARTS = {
    "tile": f"{TILE}{END}",
    "squares": f"def relu(input, inplace=False):\n    out = honest(input * 1.0)\n{END}",
}
HONEST = {
    "two-casts": f"def relu(input, inplace=False):\n    out = honest(input.to(torch.float64)).to(input.dtype)\n{END}",
    "plain": f"def relu(input, inplace=False):\n    out = honest(input)\n{END}",
    "selects": f"def relu(input, inplace=False):\n    out = torch.stack([honest(input), input])[0]\n{END}",
}
CONTROLLED = [
    "in_place",
    "repacking",
    "scratch",
    "split_k",
    "transposed_result",
    "workspace_class",
    "zeros_accumulator",
]


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """The records of stage two of relu by method."""
    from conftest import Tree

    tree = Tree(tmp_path_factory.mktemp("delegation"))
    sources = {**{name: source for name, (source, _) in CHEATS.items()}, **PARTS, **HONEST}
    for method, source in sources.items():
        tree.candidate(method, f"{HEAD}\n\n{source}")
    result = tree.run("-k", "relu and not leaky and not fused", "-m", "correct")
    found = {record["method"]: record for record in result.records if record["stage"] == "correct"}
    assert set(found) == set(sources), result.text
    return found | {"text": result.text}


@pytest.mark.parametrize("method", CHEATS)
def test_kernels_that_do_none_of_the_work(records, method):
    record = records[method]
    assert record["verdict"] == "DELEGATED", record["reason"]
    assert CHEATS[method][1] in record["reason"]
    assert record["reason"].endswith("they do none of the work")
    assert record["facts"]["call"].startswith("relu(")


@pytest.mark.parametrize("method", PARTS)
def test_a_part_is_told(records, method):
    record = records[method]
    assert record["verdict"] == "PASSED", record["reason"]
    assert 0.2 < record["facts"]["delegated_share"] < 1
    assert record["facts"]["delegated_by"] == "estimate"
    assert record["facts"]["delegated"] == ["aten::relu" if method == "tile" else "aten::mul"]
    assert f"relu[{method}] {record['facts']['delegated_share']:.0%} (aten::" in records["text"]


@pytest.mark.parametrize("method", HONEST)
def test_host_code_that_moves(records, method):
    record = records[method]
    assert record["verdict"] == "PASSED", record["reason"]
    facts = record["facts"]
    assert facts["delegated_share"] == 0.0
    assert facts["audit"]["inputs_read"] == {"input": 1.0}
    assert facts["audit"]["output_by_kernels"] == 1.0
    assert f"relu[{method}]" not in records["text"].split("left to PyTorch")[-1]


def test_the_share_of_a_tile_is_its_own(records):
    """All but 32 elements are PyTorch's."""
    facts = records["tile"]["facts"]
    assert facts["delegated_share"] > 0.9
    assert facts["audit"]["output_by_kernels"] < 0.1


def test_honest_controls_delegate_nothing(tree):
    shutil.copytree(CONTROLS / "tasks", tree.path / "tasks")
    categories = {path.stem: path.parent.name for path in (CONTROLS / "tasks").rglob("*.py")}
    for name in CONTROLLED:
        source = (CONTROLS / "honest" / f"{name}.py").read_text()
        task = source.partition("task: ")[2].split()[0]
        tree.candidate(name, source, task, categories[task])
    result = tree.run("-m", "correct", "--kbx-tasks=tasks", "--kbx-delegation=forbid")
    found = {record["method"]: record for record in result.records if record["stage"] == "correct"}
    assert {method: record["verdict"] for method, record in found.items()} == dict.fromkeys(CONTROLLED, "PASSED")
    for record in found.values():
        assert record["facts"]["delegated_share"] == 0.0
        assert record["facts"]["audit"]["output_by_kernels"] == 1.0
        assert "not_audited" not in record["facts"]["audit"]


def seen(launches, **fields):
    """Watched calls of one candidate, one for each number of launches."""
    memory = Memory(8, fields.pop("data_loads", 8), 8, 0, 0, {}, 1.0, [1.0])
    evidence = Evidence(compute={"aten::exp": (1, 100, 0)}, memory=memory, **fields)
    calls = [(Case(), evidence) for _ in launches]
    return Watched(calls, elements=200, launches=launches)


@pytest.mark.parametrize(
    ("watched", "share", "more", "found"),
    [
        (seen([1, 1]), 0.5, {}, None),
        (seen([1, 1]), 0.5, {"forbid": True}, "50.0% of the work"),
        (seen([1, 1]), 0.0, {"forbid": True}, None),
        (seen([1, 1]), None, {"forbid": True}, None),
        (seen([1, 1], data_loads=0), 0.9, {}, "its kernels read nothing"),
        (seen([1, 0], data_loads=0), 0.9, {}, None),
        (seen([], data_loads=0), 0.9, {}, None),
        (seen([1, 1], data_loads=0), 0.9, {"drawn": True}, None),
        (seen([1, 1], copied="aten::exp"), 0.5, {}, "its kernels hand on what aten::exp computed"),
        (seen([1, 1], copied=""), 0.5, {}, None),
        (seen([1, 0], copied="aten::exp"), 0.5, {}, None),
        (seen([1, 1]), 1.0, {}, "all of the work is in aten::exp"),
        (seen([1, 0]), 1.0, {}, None),
        (seen([1, 1]), 1.0, {"by": "device time"}, None),
    ],
)
def test_what_is_held_against_a_candidate(watched, share, more, found):
    """Calls without a launch prove nothing about kernels: another size may have one."""
    arguments = {"names": ["aten::exp"], "by": "estimate", "forbid": False, "drawn": False, **more}
    outcome = judge_delegation(watched, share, **arguments)
    assert (outcome is None) == (found is None)
    assert outcome is None or (outcome.verdict.name == "DELEGATED" and outcome.reason.startswith(found))


def test_shares():
    one = Evidence(
        compute={"aten::exp": (1, 30, 0), "aten::mm": (1, 10, 60)}, memory=Memory(10, 10, 10, 40, 0, {}, 1.0, [])
    )
    assert delegated([(Case(), one)]) == (0.5, "estimate", ["aten::mm", "aten::exp"])
    assert delegated([(Case(), Evidence())])[0] is None
    assert device_share(Evidence(device={"own": 3.0, "moves": 5.0, "aten::mm": 1.0})) == (
        0.25,
        "device time",
        ["aten::mm"],
    )
    assert device_share(Evidence(device={"moves": 5.0}))[0] is None
