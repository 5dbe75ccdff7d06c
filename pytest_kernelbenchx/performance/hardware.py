"""What a GPU can do at most, by its vendor: `gpus.json`, found by the name that the driver gives the device.

Rates are dense (never 2:4 sparse), 16-bit and 8-bit floating point with float32 accumulation, at the rated clock. A GPU
that is not listed is no error: there is then no roofline, and records say so.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("gpus.json")
RATES = {"f16": "fp16", "bf16": "bf16", "tf32": "tf32", "f32": "fp32", "f64": "fp64", "int8": "int8", "f8": "fp8"}


@dataclass(frozen=True)
class Gpu:
    """Peaks of one GPU.

    Attributes:
        id: short name.
        bandwidth: of its memory, in bytes per second.
        rates: operations per second by class: f16, bf16, tf32, f32, f64, int8, f8; classes it lacks are left out.
        l2: bytes of its last-level cache.
        confidence: in these numbers: high, medium or low.
    """

    id: str
    bandwidth: float
    rates: dict[str, float]
    l2: int
    confidence: str


def find(name: str) -> Gpu | None:
    """The GPU of that device name (`torch.cuda.get_device_name()`); None if it is not listed."""
    for entry in _entries():
        if any(re.search(pattern, name) for pattern in entry["name_regex"]):
            return _gpu(entry)
    return None


def note(name: str) -> str:
    """Why there is no roofline for a GPU that `find` does not know."""
    return f"{name!r} is not in the table of GPUs, so bandwidth and compute utilisation are not known"


@cache
def _entries() -> list[dict[str, Any]]:
    return json.loads(TABLE.read_text("utf-8"))["gpus"]


def _gpu(entry: dict[str, Any]) -> Gpu:
    peaks = entry["peak_tflops_dense"]
    rates = {name: peaks[key] * 1e12 for name, key in RATES.items() if peaks.get(key)}
    if peaks.get("fp64_tensor"):
        rates["f64"] = max(rates.get("f64", 0.0), peaks["fp64_tensor"] * 1e12)
    return Gpu(entry["id"], entry["mem_bw_gbs"] * 1e9, rates, entry["l2_mb"] << 20, entry["confidence"])
