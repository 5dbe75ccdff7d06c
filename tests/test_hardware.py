"""The table of GPUs: names find exactly one entry, near misses none, and the numbers hang together."""

import json

import pytest

from pytest_kernelbenchx.performance import hardware

ENTRIES = json.loads(hardware.TABLE.read_text("utf-8"))["gpus"]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
def test_every_name_finds_its_own_entry(entry):
    found = hardware.find(entry["sample_name"])
    assert found is not None
    assert found.id == entry["id"]


@pytest.mark.parametrize(
    "name",
    ["NVIDIA GeForce RTX 4090 D", "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA A10G", "NVIDIA GH200 480GB", "cpu"],
)
def test_near_misses_find_none(name):
    assert hardware.find(name) is None
    assert name in hardware.note(name)


def test_h200():
    gpu = hardware.find("NVIDIA H200")
    assert (gpu.bandwidth, gpu.l2) == (4.8e12, 60 << 20)
    wanted = {"f16": 989.4e12, "bf16": 989.4e12, "tf32": 494.7e12, "f32": 66.9e12, "f64": 66.9e12, "int8": 1978.9e12}
    assert {name: gpu.rates[name] for name in wanted} == pytest.approx(wanted)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
def test_units_are_what_they_say(entry):
    gpu = hardware.find(entry["sample_name"])
    assert 1e11 < gpu.bandwidth < 2e13
    assert all(1e11 < rate < 1e16 for rate in gpu.rates.values())
    assert 1 << 20 < gpu.l2 < 1 << 30
    assert gpu.rates["f16"] >= gpu.rates["f32"]


def test_classes_that_a_gpu_lacks_are_left_out():
    assert "tf32" not in hardware.find("Tesla T4").rates
    assert "int8" not in hardware.find("Tesla V100-SXM2-16GB").rates
