"""Bad use of the command line, said in one line before anything runs, and what the line leaves to be guessed."""

import difflib
import itertools
import re
from collections.abc import Collection
from pathlib import Path

import pytest

from pytest_kernelbenchx.laboratory import laboratory
from pytest_kernelbenchx.loading import task_files

PATHS = ("--kbx-candidates", "--kbx-tasks", "--kbx-results")
WORDS = ("and", "or", "not", "True", "False", "None")


def check_arguments(config: pytest.Config, args: list[str]) -> None:
    """Refuse what would make pytest run or obey files in a candidates folder. Called before a conftest.py is loaded."""
    options, here = config.known_args_namespace, Path(config.invocation_params.dir).resolve()
    _check_separate_paths(args, here)
    folder = Path(here, options.kbx_candidates) if options.kbx_candidates else config.rootpath / "candidates"
    folder = folder.resolve()
    if not options.file_or_dir and folder in (here, *here.parents):
        raise pytest.UsageError(f"this folder lies in the candidates folder: run pytest from {config.rootpath}")
    named = [str(argument) for argument in options.file_or_dir] or list(config.getini("testpaths")) or [str(here)]
    for argument in named:
        path = Path(here, argument.split("::")[0]).resolve()
        if folder in (path, *path.parents):
            raise pytest.UsageError(
                f"{argument} lies in the candidates folder, which pytest must not run: "
                "choose candidates with --kbx-method=METHOD or --kbx-candidates=PATH, and tasks by files in tasks/"
            )
        if path == folder.parent and folder.name.startswith("test") and (folder / "conftest.py").exists():
            raise pytest.UsageError(
                f"{folder.name}/conftest.py lies in the candidates folder, and pytest runs it because the folder's "
                "name begins with 'test': rename the folder, or delete the file"
            )
    if config.inipath is not None and folder in config.inipath.resolve().parents:
        raise pytest.UsageError(f"{config.inipath} lies in the candidates folder, and pytest obeys it: delete it")


def _check_separate_paths(args: list[str], here: Path) -> None:
    """pytest looks for its settings before it knows our options, and takes `--option PATH` for a path to tests."""
    for option, value in itertools.pairwise(args):
        path = Path(here, value)
        if option in PATHS and path.exists() and here not in (path.resolve(), *path.resolve().parents):
            raise pytest.UsageError(
                f"write {option}={value}, with an equals sign: pytest takes a separate {value} for a folder of tests "
                "when it looks for its settings"
            )


def check_marks(config: pytest.Config, marks: Collection[str]) -> None:
    """A misspelt -m selects nothing, which old versions of pytest take for success."""
    registered = {re.split(r"[:(]", line)[0].strip() for line in config.getini("markers")}
    expression = re.sub(r"\([^()]*=[^()]*\)", "", config.getoption("markexpr") or "")  # arguments of marks
    for name in re.findall(r"[^\W\d]\w*", expression):
        if name not in registered and name not in WORDS:
            raise pytest.UsageError(
                f"unknown mark {name!r} in -m{_did_you_mean(name, marks)} (marks of tasks: {', '.join(marks)})"
            )


def check_tasks(config: pytest.Config, categories: Collection[str]) -> None:
    """A task file lies in the folder of a category, and its name is taken once."""
    lab = laboratory(config)
    named = config.getoption("kbx_tasks") or (config.hook.pytest_kbx_directories(config=config) or {}).get("tasks")
    if not named:
        return  # a folder called tasks/ may be anybody's
    first: dict[str, Path] = {}
    for path in task_files(lab.settings.tasks):
        if path.parent.name not in categories:
            hint = _did_you_mean(path.parent.name, categories)
            folder = lab.relative(path.parent)
            raise pytest.UsageError(f"{folder} is no category{hint} (categories: {', '.join(categories)})")
        other = first.setdefault(path.stem, path)
        if other is not path:
            both = f"{lab.relative(other)} and {lab.relative(path)}"
            raise pytest.UsageError(f"{both} are both named {path.stem}: a task's name is taken once, rename one")


def check_methods(config: pytest.Config) -> None:
    """Every method that --kbx-method names must be there."""
    lab = laboratory(config)
    wanted = lab.settings.methods
    if not wanted:
        if config.getoption("kbx_method"):
            raise pytest.UsageError("--kbx-method names no method: wanted a name, or several with commas between them")
        return
    folder = lab.relative(lab.settings.candidates)
    there = lab.found.methods
    for name in wanted:
        if name not in there:
            found = f"{folder} has {', '.join(there)}" if there else f"{folder} has no candidates yet"
            to = f"its kernels go to {folder}/{name}/<category>/<task>.py"
            if lab.settings.candidates.is_file():
                to = "a line's method is what its key `method` says, or else the file's name"
            raise pytest.UsageError(
                f"--kbx-method={name}: there is no method {name!r}{_did_you_mean(name, there)} ({found}); {to}"
            )


def _did_you_mean(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def run_named_tasks(config: pytest.Config) -> None:
    """With --kbx-tasks and no path to run, that folder's tasks run."""
    if config.getoption("kbx_tasks") and config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args = [str(laboratory(config).settings.tasks)]
