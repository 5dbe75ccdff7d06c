"""What the command line asks for, checked once."""

import hashlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

STAGES = ("compiles", "correct", "performs")
CASES = {"quick": 15, "standard": 50, "thorough": 300}  # drawn cases per candidate, by --kbx-effort
PROCESSES = 8  # at most, of one candidate: each holds a CUDA context
TIMEOUTS = {"compiles": 60.0, "correct": 120.0, "performs": 120.0}  # seconds


@dataclass(frozen=True)
class Settings:
    """Settings of one run.

    Attributes:
        device: "cpu" (Triton's interpreter) or "cuda".
        timeouts: by stage, the seconds that one call may take and after which no further case is drawn.
        memory: bytes that a candidate's processes may hold.
        effort: how many cases are drawn: quick, standard or thorough.
        seed: of the drawn cases.
        case: the only case to judge, as JSON.
        tasks: the folder of task files.
        candidates: the folder (or JSONL file) of candidates.
        methods: the methods to judge; empty for all.
        delegation: "report" or "forbid" that a part of the work is PyTorch's.
        processes: how many of a candidate's processes answer its cases at the same time.
    """

    device: str
    timeouts: Mapping[str, float]
    memory: int
    effort: str
    seed: int
    case: str | None
    tasks: Path
    candidates: Path
    methods: tuple[str, ...]
    processes: int = 1
    delegation: str = "report"

    @classmethod
    def of(cls, config: pytest.Config) -> "Settings":
        """Read the options; pytest.UsageError says what is wrong with one."""
        directories = config.hook.pytest_kbx_directories(config=config) or {}
        get = config.getoption
        where = device(get("kbx_device"))
        return cls(
            device=where,
            timeouts=timeouts(get("kbx_timeout")),
            memory=memory(get("kbx_memory")),
            effort=get("kbx_effort"),
            seed=seed(get("kbx_seed"), config.getoption("hypothesis_seed", None)),
            case=case(get("kbx_case")),
            tasks=tasks_path(config, directories),
            candidates=candidates_path(config, directories),
            methods=methods(get("kbx_method")),
            delegation=get("kbx_delegation"),
            processes=processes(where, getattr(config, "workerinput", {}).get("workercount", 1)),
        )


def _path(config: pytest.Config, option: str) -> Path | None:
    given = config.getoption(option)
    if given is None:
        return None
    path = Path(config.invocation_params.dir, given).resolve()
    if not path.exists():
        raise pytest.UsageError(f"--{option.replace('_', '-')}={given}: there is no {path}")
    return path


def tasks_path(config: pytest.Config, directories: Mapping[str, Path]) -> Path:
    """The folder of task files, whether it exists or not, unless it was named and does not."""
    path = _path(config, "kbx_tasks")
    if path is not None and not path.is_dir():
        given = config.getoption("kbx_tasks")
        raise pytest.UsageError(f"--kbx-tasks={given}: {path} is a file, wanted the folder with <category>/<task>.py")
    return path or Path(directories.get("tasks", config.rootpath / "tasks")).resolve()


def candidates_path(config: pytest.Config, directories: Mapping[str, Path]) -> Path:
    """The folder (or JSONL file) of candidates, whether it exists or not, unless it was named and does not."""
    return (
        _path(config, "kbx_candidates") or Path(directories.get("candidates", config.rootpath / "candidates")).resolve()
    )


def methods(given: list[str]) -> tuple[str, ...]:
    """Method names from repeated options and comma lists, each once."""
    return tuple(dict.fromkeys(name.strip() for text in given for name in text.split(",") if name.strip()))


def device(given: str) -> str:
    """The device to judge on: what was asked for, or a GPU where there is one."""
    if given == "cpu":
        return given
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if given == "cuda":
        build = "a build without CUDA" if torch.version.cuda is None else f"built for CUDA {torch.version.cuda}"
        raise pytest.UsageError(
            f"--kbx-device=cuda: torch {torch.__version__} ({build}) finds no GPU; "
            "--kbx-device=cpu judges stages one and two in Triton's interpreter"
        )
    return "cpu"


def processes(where: str, workers: int) -> int:
    """How many processes compile one candidate's kernels on a GPU, where `workers` share the cores with them."""
    return max(1, min(PROCESSES, len(os.sched_getaffinity(0)) // workers)) if where == "cuda" else 1


def timeouts(given: str | None) -> dict[str, float]:
    """Seconds by stage from `60` or `compiles=30,correct=120`."""
    limits = dict(TIMEOUTS)
    for part in (given or "").split(","):
        name, equals, text = part.rpartition("=")
        if not part:
            continue
        try:
            seconds = float(text)
        except ValueError:
            seconds = math.nan
        if not seconds > 0 or math.isinf(seconds) or (equals and name not in STAGES):
            raise pytest.UsageError(
                f"--kbx-timeout={given}: {part!r} is neither a number of seconds nor STAGE=SECONDS "
                f"with a stage of {', '.join(STAGES)}"
            )
        limits.update({name: seconds} if equals else dict.fromkeys(STAGES, seconds))
    return limits


def memory(given: float) -> int:
    """Bytes from GiB."""
    if not 0.25 <= given <= 4096:
        raise pytest.UsageError(f"--kbx-memory={given:g}: wanted GiB from 0.25 to 4096")
    return int(given * 2**30)


def seed(given: str | None, hypothesis: str | None = None) -> int:
    """The seed of the drawn cases: --kbx-seed (the plugin has put a number in place of `random`), or else
    --hypothesis-seed, which may be any text, or else 0.
    """
    if given is None:
        text = hypothesis or "0"
        return int(text) if text.isdecimal() else int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")
    if not given.isdecimal():
        raise pytest.UsageError(f"--kbx-seed={given}: wanted a whole number, or 'random'")
    return int(given)


def case(given: str | None) -> str | None:
    """The JSON of a case; whether it fits the task is known when the task is."""
    if given is not None:
        from pytest_kernelbenchx.cases import Case

        try:
            Case.from_json(given)
        except ValueError as error:
            raise pytest.UsageError(
                f"--kbx-case={given:.200}: {error}; wanted the JSON that a failure prints"
            ) from None
    return given
