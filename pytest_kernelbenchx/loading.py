"""Load task files."""

import importlib.util
import traceback
from pathlib import Path

from pytest_kernelbenchx.task import Task


class TaskError(Exception):
    """A task file that declares no task, or a faulty one; the message says what and where."""


def task_files(folder: Path) -> list[Path]:
    """The task files of a folder, sorted: tasks/<category>/<name>.py."""
    return sorted(path for path in folder.glob("*/*.py") if path.name[0] not in "_.")


def load_task(path: Path) -> Task:
    """The task that a file declares; TaskError if it does not declare exactly one, named like the file.

    The module is kept out of sys.modules: a task may be called like a module (`random/copy.py`), and Hypothesis draws
    constants from the modules it finds there, so that cases would depend on which tasks were loaded before.
    """
    spec = importlib.util.spec_from_file_location(f"kbx_tasks.{path.parent.name}.{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise TaskError(f"{path}{_line(error, path)}: {type(error).__name__}: {error}") from error
    declared = [value for value in vars(module).values() if isinstance(value, Task)]
    if [task.name for task in declared] != [path.stem]:
        names = ", ".join(task.name for task in declared) or "nothing"
        raise TaskError(f"{path} declares {names}, wanted exactly one task, named {path.stem} like its file")
    object.__setattr__(declared[0], "category", path.parent.name)
    return declared[0]


def _line(error: BaseException, path: Path) -> str:
    if isinstance(error, SyntaxError) and error.lineno:
        return f":{error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f":{frames[-1].lineno}" if frames else ""
