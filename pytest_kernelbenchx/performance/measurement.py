"""What stage three measures at one size."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Measurement:
    """Paired device times of a candidate and of PyTorch, at one size, on one GPU, in one process.

    Attributes:
        size: label of the size.
        seconds: device time per call of the candidate, one value per block.
        reference_seconds: the same for PyTorch, in the same blocks.
        speedup: median over blocks of reference time / candidate time.
        low, high: its 95 % interval.
        mode: "graph" (replays of a CUDA graph of several calls) or "events" (single calls between events).
        stopped: why no more blocks were measured: "precise", "blocks" or "budget".
        moved: bytes that must be moved at least. flops: floating-point operations.
        iou: bandwidth utilisation of the candidate, moved / time / peak bandwidth; None where the GPU is unknown.
        mfu: compute utilisation, flops / time / peak rate; None where the GPU or the flops are unknown.
        efficiency: the larger of the two.
        bound: "memory", "compute" or "launch".
        latency: seconds of one eager call of the candidate, launch included. reference_latency: of PyTorch.
        compile_seconds: of the first call of the candidate at this size.
        facts: GPU, clocks, peaks, versions and whatever else explains the numbers.
    """

    size: str
    seconds: list[float]
    reference_seconds: list[float]
    speedup: float
    low: float
    high: float
    mode: str
    stopped: str
    moved: int
    flops: int
    iou: float | None = None
    mfu: float | None = None
    efficiency: float | None = None
    bound: str = ""
    latency: float = 0.0
    reference_latency: float = 0.0
    compile_seconds: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)

    def as_facts(self) -> dict[str, Any]:
        """Everything but the single times, for a record."""
        facts = asdict(self)
        return {key: value for key, value in facts.items() if key not in ("seconds", "reference_seconds", "size")}
