"""How close a time comes to what the GPU allows.

    IOU = bytes moved / time / peak bandwidth        MFU = operations / time / peak rate        efficiency: the larger

(KernelBenchX, arXiv 2605.04956). A time below three launch floors is bound by the launch, and its utilisation says
nothing about the kernel. A time far below the roofline is impossible: the work was not done, or not by then.
"""

from dataclasses import dataclass

from pytest_kernelbenchx.performance.hardware import Gpu

LAUNCH_BOUND = 3.0  # times the floor of one launch
MEMORY_MARGIN = 0.9  # a datasheet bandwidth is not exceeded; the rest is the clock's resolution
COMPUTE_MARGIN = 0.4
"""Of the time that peak compute allows: Winograd's F(2x2, 3x3) needs 2.25 times fewer multiplications, and consumer
cards clock 1.2 times as high as rated."""
FASTER = {"f32": ("f32", "tf32"), "f16": ("f16", "f8"), "bf16": ("bf16", "f8"), "int8": ("int8", "f8")}
"""Classes of arithmetic that a result of a class may have been computed in (float32 also as several TF32 products)."""


@dataclass(frozen=True)
class Utilisation:
    """Shares of the peaks, None where a peak or the operations are not known; `bound` is "memory", "compute",
    "launch" or "" """

    iou: float | None = None
    mfu: float | None = None
    bound: str = ""

    @property
    def efficiency(self) -> float | None:
        """The larger share."""
        return max((share for share in (self.iou, self.mfu) if share is not None), default=None)


def utilisation(gpu: Gpu | None, seconds: float, moved: int, operations: dict[str, int], floor: float) -> Utilisation:
    """Shares of the peaks that a call of `seconds` reaches; of several classes of arithmetic, that of the busiest.

    Args:
        gpu: None if it is not known.
        seconds: device time of one call.
        moved: bytes that must be moved at least.
        operations: by class of arithmetic, see `cost.operations`; empty if the task declares none.
        floor: seconds that launching an empty kernel takes in the same arrangement.
    """
    launch = seconds < LAUNCH_BOUND * floor
    if gpu is None:
        return Utilisation(bound="launch" if launch else "")
    iou = moved / seconds / gpu.bandwidth
    shares = [number / seconds / gpu.rates[kind] for kind, number in operations.items() if kind in gpu.rates]
    mfu = max(shares) if shares and len(shares) == len(operations) else None
    return Utilisation(iou, mfu, "launch" if launch else "compute" if mfu is not None and mfu > iou else "memory")


def least_seconds(gpu: Gpu, moved: int, operations: dict[str, int]) -> float:
    """A time that no call can be below that moves `moved` bytes past the cache."""
    compute = max((_least_of(gpu, kind, number) for kind, number in operations.items()), default=0.0)
    return max(MEMORY_MARGIN * moved / gpu.bandwidth, compute)


def _least_of(gpu: Gpu, kind: str, number: int) -> float:
    fastest = max((gpu.rates[name] for name in FASTER.get(kind, (kind,)) if name in gpu.rates), default=0.0)
    return COMPUTE_MARGIN * number / fastest if fastest else 0.0
