"""A task: the PyTorch function that defines an operation, and what the stages must know about it.

    @task(
        inputs={"input": "T[M, K]", "weight": "T[K, N]"},
        output="T[M, N]",
        dtypes=("f32", "f16"),
        sizes={"1k": dict(M=1024, N=1024, K=1024), "4k": dict(M=4096, N=4096, K=4096, dtype="f16")},
    )
    def matmul(input, weight):
        return torch.matmul(input, weight)

The notation of tensors is in `pytest_kernelbenchx.spec`, ready fills in `pytest_kernelbenchx.fills`.

What holds for every task, unless its docstring says otherwise:

- Its inputs share a floating-point type T; the result is a new tensor of that type.
  What is done to every element is done to tensors of any shape, and the result has that shape.
- Inputs may have any strides and are not changed. `dim` may be negative: then it counts from the end.
- `out`, whatever its strides, receives the result and is returned. With `inplace=True` the input does.
- Sums are taken in float32, those of float32 in full precision (TF32 is wrong); 16-bit results are rounded once.
- Dropout in training makes 0 of each element with probability `p`, independently, and multiplies the others by
  1 / (1 - p); `training=False` switches it off. Any random numbers do, if they change with the seed of
  torch.manual_seed and from call to call; upstream wants PyTorch's own stream. A `p` outside 0 to 1 raises ValueError.
- GELU is that of `tasks/activation/gelu.py`: x * Phi(x), or the form with tanh; else `approximate` is a RuntimeError.
  Convolution, with its `stride`, `padding`, `dilation` and `groups`, is that of `tasks/convolution/conv2d.py`.
- A quantized operation finds scales, which are its own choice, from the finite tensors that it is given, rounds these,
  multiplies int8 by int8 into int32 and scales the sums back. It is compared with the operation without quantization:
  the error is bounded from above, and from below, since full precision, which upstream accepts, is not the operation.
"""

import difflib
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_kernelbenchx.declaration import check
from pytest_kernelbenchx.fills import FILLS, Fill
from pytest_kernelbenchx.judge.policy.operators import GROUPS
from pytest_kernelbenchx.spec import Axes, TensorSpec

WORK = ("tensor", "vector", "linalg")
LAYOUTS = ("contiguous", "transposed", "strided", "offset")
USUAL = {"approximate": ("none", "tanh"), "reduction": ("mean", "sum", "none")}  # what PyTorch knows by these names
RATES = (0.5, 0.1, 0.3, 0.0)  # probabilities that dropout is drawn with
GRADS, STEPS = "grads", 3  # the input of an optimizer that is no parameter of its constructor; steps that are made


@dataclass(frozen=True, kw_only=True)
class Task:
    """The declaration of a task. Read-only; made by the decorator `task`.

    Attributes:
        reference: the PyTorch function that defines the operation; its name is the task's name.
        inputs: tensor parameters, in the order of the signature.
        output: what the reference returns, a tensor or several.
        sizes: labelled axes (and options, and `dtype`) to time at.
        dtypes: the element types that T stands for.
        axes: for an axis, what to draw its length from: lengths, a Hypothesis strategy, or a function of axes drawn
            before it; for *S, a `Shapes`, a list of shapes or a strategy, by default any shape of 0 to 4 dimensions.
        options: for every other parameter, what to draw it from: values, a strategy, or a function that gives either
            from the axes, `dtype` and options before it. Those that `usual` knows may be left out.
        fill: for an input, how it is filled.
        examples: explicit cases: axes, options, literal inputs (lists; a tensor keeps its own element type), `dtype`,
            `fill`. One with a tuple of dtypes, or with `fill="both"`, stands for a case of each.
        mutates: inputs that the operation may change.
        out: the parameter that takes the preallocated output, or a tuple of them, if the signature has one.
        aliases: other names that a candidate's entry point may have.
        layouts: memory layouts that inputs are drawn in.
        where: tells whether drawn axes, options, `dtype` and `present` (the optional tensors passed) go together.
        tolerance: overrides of the tolerance table, see `judge.tolerance`.
        quantized: limits of a quantized operation.
        reduction: for a quantized operation, the axis (or expression or function of axes) that it sums over.
        scales: for a quantized operation, by input that is quantized, the axis (or axes) along which a row of values
            shares a scale (None: the whole tensor does).
        traces: for a quantized operation, by operand ("query and key" for two), a linear function of the result's
            `error` and of arguments by name that is small as long as that operand is exact, see `judge.operands`.
        random: how an output that depends on random numbers is judged.
        properties: how an output that is not unique (a factorisation) is judged.
        truth: the operation in double precision, where the reference itself cannot compute it.
        forbid: groups of operators that a candidate may not call, see `judge.policy.operators`; of a quantized
            operation, all of them if it does not say.
        bytes: bytes moved, where it is not every input read once and every output written once.
        flops: operations by axes and options: a number of vector operations, or a dict with numbers for `tensor`
            (matrix products and convolutions), `vector` and `linalg` (factorisations and solves).
        mode: "call", or "optimizer": the entry point is a constructor over a list of tensors, and what it returns has
            `step()`. `inputs` then has `grads`, too, a list like the first one: STEPS of them are drawn, one for each
            step, and the tensors are judged after the last.
        extra: outside the 176 of the benchmark: judged like any other, but no part of the number of all tasks.
        doc: the docstring of the task file.
        category: the folder of the task file.
        path: the task file.
    """

    reference: Callable[..., Any]
    inputs: dict[str, TensorSpec]
    output: tuple[TensorSpec, ...]
    sizes: dict[str, dict[str, Any]]
    dtypes: tuple[str, ...] = ("f32",)
    axes: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    fill: dict[str, Fill] = field(default_factory=dict)
    examples: tuple[dict[str, Any], ...] = ()
    mutates: tuple[str, ...] = ()
    out: str | None = None
    aliases: tuple[str, ...] = ()
    layouts: tuple[str, ...] = LAYOUTS
    where: Callable[..., bool] | None = None
    tolerance: Any = None
    quantized: Any = None
    reduction: str | Callable[..., int] | None = None
    scales: dict[str, int | tuple[int, ...] | None] | None = None
    traces: dict[str, Callable[..., Any]] | None = None
    random: Any = None
    properties: Callable[..., Any] | None = None
    truth: Callable[..., Any] | None = None
    forbid: tuple[str, ...] = ()
    bytes: Callable[..., int] | None = None
    flops: Callable[..., int | dict[str, int]] | None = None
    mode: str = "call"
    extra: bool = False
    doc: str = ""
    category: str = ""
    path: str = ""

    @property
    def name(self) -> str:
        return self.reference.__name__

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.reference).parameters

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.reference(*args, **kwargs)

    def axis_names(self) -> list[str]:
        """Every axis that is drawn, in the order of the inputs, then those that only `axes=` names."""
        named = [axis for spec in self.inputs.values() for axis in spec.names()]
        return list(dict.fromkeys([*named, *self.axes]))

    def groups(self) -> set[str]:
        """The axes that stand for several (`*S`)."""
        axes = [axis for spec in self.inputs.values() for axis in spec.axes]
        return {axis.strip("*~") for axis in axes if axis.startswith("*")}

    def elements(self, axes: Axes) -> int:
        """Elements of the largest input, or output where its shape follows from the axes: the work of a case."""
        outputs = [spec.elements(axes) for spec in self.output if spec.known]
        return max([spec.elements(axes, name) for name, spec in self.inputs.items()] + outputs, default=0)

    def operations(self, known: Mapping[str, Any]) -> dict[str, int]:
        """Operations by class (`WORK`), from axes and options by name; empty where the task declares none.

        Raises:
            ValueError: a class that there is not.
        """
        if self.flops is None:
            return {}
        declared = self.flops(**select(self.flops, known))
        classes = declared if isinstance(declared, dict) else {"vector": declared}
        if strange := [name for name in classes if name not in WORK]:
            raise ValueError(f"task {self.name}: flops= gives {strange[0]!r}, wanted {', '.join(WORK)}")
        return {name: int(number) for name, number in classes.items()}


def expanded(example: dict[str, Any]) -> list[dict[str, Any]]:
    """The examples that one stands for: of every `dtype` in a tuple, and with `fill="both"` of both fills."""
    dtypes = example["dtype"] if isinstance(example.get("dtype"), tuple) else (None,)
    fills = FILLS[:2] if example.get("fill") == "both" else (None,)
    changes = [{"dtype": dtype, "fill": fill} for dtype in dtypes for fill in fills]
    return [{**example, **{key: value for key, value in change.items() if value}} for change in changes]


def usual(parameters: Mapping[str, inspect.Parameter], random: Any = None) -> dict[str, Any]:
    """What is drawn from where a task does not say: True and False, the names of `USUAL`, the rate of dropout."""
    found: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if isinstance(parameter.default, bool):
            found[name] = (parameter.default, not parameter.default)
        elif parameter.default in USUAL.get(name, ()):
            found[name] = USUAL[name]
        elif name == getattr(random, "p", None):
            found[name] = RATES
    return found


def select(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `values` that `function` takes by name."""
    return {name: values[name] for name in _parameters(function) if name in values}


@functools.cache
def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def task(
    *,
    inputs: Mapping[str, str],
    output: str | Sequence[str],
    sizes: Mapping[str, dict[str, Any]],
    dtypes: Sequence[str] = ("f32",),
    axes: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    fill: Mapping[str, Fill] | None = None,
    examples: Sequence[dict[str, Any]] = (),
    mutates: Sequence[str] = (),
    aliases: Sequence[str] = (),
    layouts: Sequence[str] = LAYOUTS,
    out: str | None = None,
    **judged: Any,
) -> Callable[[Callable[..., Any]], Task]:
    """Declare the decorated function as the reference of the task that its file is named after.

    Args: see `Task`. `out` is found by itself where the signature has a parameter called `out`. One that takes only
        some of the outputs, or comes with conditions, is an optional input that the operation mutates.

    Raises:
        TypeError, ValueError: the declaration does not fit the signature; the message says what was found and wanted.
    """

    known = [name for name in Task.__dataclass_fields__ if name not in ("reference", "doc", "category", "path")]
    for name in set(judged) - set(known):
        near = difflib.get_close_matches(name, known, 1)
        meant = f", did you mean {near[0]!r}?" if near else ";"
        raise TypeError(f"task has no keyword {name!r}{meant} It takes {', '.join(known)}")

    def declare(reference: Callable[..., Any]) -> Task:
        parameters = inspect.signature(reference).parameters
        given = dict(options or {})
        unsaid = usual({name: p for name, p in parameters.items() if name not in given}, judged.get("random"))
        found = "out" in parameters and "out" not in inputs
        preallocated = "out" if out is None and found else out
        outputs = (output,) if isinstance(output, str) else output
        forbidden = {"forbid": tuple(GROUPS)} if judged.get("quantized") is not None else {}
        declared = Task(
            reference=reference,
            inputs={name: TensorSpec.parse(text) for name, text in inputs.items()},
            output=tuple(TensorSpec.parse(text) for text in outputs),
            sizes=dict(sizes),
            dtypes=tuple(dtypes),
            axes=dict(axes or {}),
            options={**unsaid, **given},
            fill=dict(fill or {}),
            examples=tuple(each for example in examples for each in expanded(example)),
            mutates=tuple(mutates),
            aliases=tuple(aliases),
            layouts=tuple(layouts),
            out=preallocated,
            doc=inspect.cleandoc(reference.__globals__.get("__doc__") or ""),
            path=reference.__code__.co_filename,
            **{**forbidden, **judged},
        )
        check(declared)
        return declared

    return declare
