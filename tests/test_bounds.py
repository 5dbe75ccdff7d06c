"""In the interpreter a kernel may touch the tensors that it was given, and nothing else."""

import pytest

from conftest import RELU

TOLERANT = {
    "honest": RELU,
    "view": RELU.replace("input.contiguous().view(-1)", "torch.cat([input.reshape(-1)] * 2)[input.numel():]"),
    "integers": RELU.replace("(x, out, n,", "(address, out, n,").replace(
        "    i = tl", "    x = address.to(tl.pointer_type(out.dtype.element_ty))\n    i = tl", 1
    ).replace("](flat, out", "](flat.data_ptr(), out"),
}  # fmt: skip
READS = RELU.replace("tl.load(x + i, mask=i < n)", "tl.load(x + i)")
WRITES = RELU.replace("out.dtype.element_ty), mask=i < n)", "out.dtype.element_ty), mask=i <= n)")
BEFORE = RELU.replace("tl.load(x + i, mask=i < n)", "tl.load(x + i - 1, mask=i < n)")


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    from conftest import Tree

    tree = Tree(tmp_path_factory.mktemp("bounds"))
    for method, source in {**TOLERANT, "reads": READS, "writes": WRITES, "before": BEFORE}.items():
        assert method == "honest" or source != RELU
        tree.candidate(method, source)
    return tree.run("-m", "compiles or correct")


def test_what_reads_or_writes_outside_its_tensors_is_told_where(result):
    found = {record["method"]: record for record in result.records if record["verdict"] == "OUT_OF_BOUNDS"}
    assert set(found) == {"reads", "writes", "before"}
    first = "of 4 bytes outside its tensors, the first 0 bytes past the end"
    assert f"it read 1021 elements {first}" in found["reads"]["reason"]
    assert f"it wrote 1 element {first}" in found["writes"]["reason"]
    assert "the first 4 bytes before the start of one of 12 bytes" in found["before"]["reason"]
    assert all("is a mask missing, or too wide?" in record["reason"] for record in found.values())


@pytest.mark.parametrize("method", TOLERANT)
def test_what_stays_within_its_storages_passes(result, method):
    records = [record for record in result.records if record["method"] == method]
    assert [record["verdict"] for record in records] == ["PASSED"] * 2, records
