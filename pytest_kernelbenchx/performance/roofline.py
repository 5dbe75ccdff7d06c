"""How close a time comes to what the GPU allows.

    IOU = bytes moved / time / peak bandwidth        MFU = operations / time / peak rate        efficiency: the larger

(KernelBenchX, arXiv 2605.04956). A time below three launch floors is bound by the launch, and its utilisation says
nothing about the kernel. A time far below the roofline is impossible: the work was not done, or not by then.
"""

from dataclasses import dataclass

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.performance.hardware import Gpu
from pytest_kernelbenchx.task import Task

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


def arithmetic(task: Task, case: Case) -> str:
    """The class of arithmetic that a task's operations belong to at this case: f16, bf16, f32, f64 or int8."""
    if task.quantized is not None:
        return "int8" if task.quantized.bits == 8 else "f16"
    names = [spec.dtype_name(case.dtype) for spec in task.inputs.values()]
    found = [name for name in names if name in ("f16", "bf16", "f32", "f64")]
    wide = {"c64": "f32", "c128": "f64"}
    found += [wide[name] for name in names if name in wide]
    return max(found, key=("f16", "bf16", "f32", "f64").index, default="f32")


def utilisation(gpu: Gpu | None, seconds: float, moved: int, flops: int, kind: str, floor: float) -> Utilisation:
    """Shares of the peaks that a call of `seconds` reaches.

    Args:
        gpu: None if it is not known.
        seconds: device time of one call.
        moved: bytes that must be moved at least.
        flops: operations; 0 if the task declares none.
        kind: class of the operations, see `arithmetic`.
        floor: seconds that launching an empty kernel takes in the same arrangement.
    """
    launch = seconds < LAUNCH_BOUND * floor
    if gpu is None:
        return Utilisation(bound="launch" if launch else "")
    iou = moved / seconds / gpu.bandwidth
    mfu = flops / seconds / gpu.rates[kind] if flops and kind in gpu.rates else None
    return Utilisation(iou, mfu, "launch" if launch else "compute" if mfu is not None and mfu > iou else "memory")


def least_seconds(gpu: Gpu, moved: int, flops: int, kind: str) -> float:
    """A time that no call can be below that moves `moved` bytes past the cache."""
    fastest = max((gpu.rates[name] for name in FASTER.get(kind, (kind,)) if name in gpu.rates), default=0.0)
    compute = COMPUTE_MARGIN * flops / fastest if fastest else 0.0
    return max(MEMORY_MARGIN * moved / gpu.bandwidth, compute)
