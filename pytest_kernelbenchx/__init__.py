"""pytest plugin that judges Triton kernels: do they compile, are they right, how fast are they.

What a task file imports:
"""

from pytest_kernelbenchx import fills
from pytest_kernelbenchx.drawing import Shapes
from pytest_kernelbenchx.task import Task, task

__all__ = ["Shapes", "Task", "fills", "task"]
