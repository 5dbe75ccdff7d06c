"""On a GPU the share of the work that is left to PyTorch is one of device time; kernels are known by their launches."""

import pytest
import torch

from conftest import RELU

HEAD = RELU.replace("def relu", "def honest")
END = "    return input.copy_(out) if inplace else out\n"
NAMED = RELU.replace("@triton.jit\n", '@triton.jit(repr=lambda _: "ampere_sgemm_128x64_tn")\n')
CANDIDATES = {
    "whole": (RELU, "PASSED"),
    "named": (NAMED, "PASSED"),
    "moves": (f"{HEAD}\n\ndef relu(input, inplace=False):\n    out = honest(input.clone()).clone()\n{END}", "PASSED"),
    "part": (f"{HEAD}\n\ndef relu(input, inplace=False):\n    out = honest(input * 1.0)\n{END}", "PASSED"),
    "copies": (f"{HEAD}\n\ndef relu(input, inplace=False):\n    out = honest(torch.relu(input))\n{END}", "DELEGATED"),
}


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_shares_of_device_time(tree):
    for method, (source, _) in CANDIDATES.items():
        tree.candidate(method, source)
    result = tree.run("-k", "relu and not leaky and not fused", "-m", "correct", "--kbx-device=cuda")
    assert result.verdicts() == {method: verdict for method, (_, verdict) in CANDIDATES.items()}, result.text
    facts = {record["method"]: record["facts"] for record in result.records if record["stage"] == "correct"}
    assert {method: facts[method]["delegated_by"] for method in facts} == dict.fromkeys(CANDIDATES, "device time")
    assert [facts[method]["delegated_share"] for method in ("whole", "named", "moves")] == [0.0] * 3
    assert 0.1 < facts["part"]["delegated_share"] < 0.9
    assert facts["part"]["delegated"] == ["aten::mul"]
    assert "relu[part] " in result.text
