"""pytest plugin that judges Triton kernels: do they compile, are they right, how fast are they.

What a task file imports:
"""

from pytest_kernelbenchx import fills
from pytest_kernelbenchx.drawing import Shapes, dims, dims_or_none, some_dims, some_dims_or_none
from pytest_kernelbenchx.judge.binomial import Binomial
from pytest_kernelbenchx.judge.extrema import minimum_of
from pytest_kernelbenchx.judge.hidden import HiddenDropout
from pytest_kernelbenchx.judge.mixed import MixedDropout
from pytest_kernelbenchx.judge.pooling import fractional_max_pool_properties
from pytest_kernelbenchx.judge.properties import close, ordered, orthonormal, svd_properties, triangular
from pytest_kernelbenchx.judge.quantized import W4A16, W8A8
from pytest_kernelbenchx.judge.randomized import Dropout, Uniform
from pytest_kernelbenchx.task import Task, task

__all__ = [
    "W4A16",
    "W8A8",
    "Binomial",
    "Dropout",
    "HiddenDropout",
    "MixedDropout",
    "Shapes",
    "Task",
    "Uniform",
    "close",
    "dims",
    "dims_or_none",
    "fills",
    "fractional_max_pool_properties",
    "minimum_of",
    "ordered",
    "orthonormal",
    "some_dims",
    "some_dims_or_none",
    "svd_properties",
    "task",
    "triangular",
]
