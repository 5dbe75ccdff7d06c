"""Whose kernels took the time on a GPU: by the launch that they belong to, never by their names."""

from types import SimpleNamespace

import pytest
import torch

from pytest_kernelbenchx.sandbox.device_time import Event, attribute, event_of

SPANS = [(1000, 1100), (2000, 2100)]


def kernel(name, nanoseconds, launched, number, operator=0):
    """A kernel and the driver's call that launched it."""
    return [
        Event("launch", "cuLaunchKernelEx", launched, 5, number, operator),
        Event("kernel", name, launched + 500, nanoseconds, number, operator),
    ]


def operator(name, number):
    return Event("operator", name, 0, 10**6, number, 0)


@pytest.mark.parametrize(
    ("events", "found"),
    [
        (kernel("_relu", 30, 1050, 1), {"own": 30}),
        (kernel("_relu", 30, 1100, 1), {"own": 30}),
        (kernel("_relu", 30, 999, 1), {"_relu": 30}),
        (kernel("_relu", 30, 1101, 1), {"_relu": 30}),
        (kernel("ampere_sgemm_128x64_tn", 30, 2001, 1), {"own": 30}),
        ([*kernel("sgemm", 30, 1500, 1, 7), operator("aten::mm", 7)], {"aten::mm": 30}),
        ([*kernel("own in an operator", 30, 1010, 1, 7), operator("mine::op", 7)], {"own": 30}),
        ([*kernel("copy", 30, 1500, 1, 7), operator("aten::copy_", 7)], {"moves": 30}),
        ([*kernel("fill", 30, 1500, 1, 7), operator("aten::fill_", 7)], {"moves": 30}),
        ([*kernel("other", 30, 1500, 1, 7), operator("mine::copy_", 7)], {"mine::copy_": 30}),
        ([Event("copy", "Memcpy DtoD", 10, 4, 9, 0)], {"moves": 4}),
        ([Event("kernel", "replayed", 10, 4, 9, 0)], {"replayed": 4}),
        (kernel("a", 30, 1050, 1) + kernel("b", 12, 2050, 2), {"own": 42}),
        (kernel("a", 30, 1050, 1) + kernel("a", 12, 1500, 2), {"own": 30, "a": 12}),
    ],
)
def test_time_is_attributed(events, found):
    assert attribute(events, SPANS) == found


def record(name, device, number=3, linked=4, annotation=False):
    functions = {"name": name, "device_type": device, "start_ns": 5, "duration_ns": 6, "correlation_id": number}
    functions |= {"linked_correlation_id": linked, "is_user_annotation": annotation}
    return SimpleNamespace(**{key: lambda value=value: value for key, value in functions.items()})


@pytest.mark.parametrize(
    ("name", "device", "what"),
    [
        ("_relu", "CUDA", "kernel"),
        ("Memset (Device)", "CUDA", "copy"),
        ("cudaLaunchKernel", "CPU", "launch"),
        ("cuLaunchKernelEx", "CPU", "launch"),
        ("aten::mm", "CPU", "operator"),
    ],
)
def test_records(name, device, what):
    event = event_of(record(name, getattr(torch.autograd.DeviceType, device)))
    assert event == Event(what, name, 5, 6, 3, 4)


def test_annotations_are_no_kernels():
    assert event_of(record("ProfilerStep#1", torch.autograd.DeviceType.CUDA, annotation=True)) is None
    assert event_of(record("Activity Buffer Request", torch.autograd.DeviceType.CUDA)) is None  # met on an H200
