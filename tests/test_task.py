"""Declaring a task: what can be said, and that a faulty declaration is told at once, with what was found and wanted."""

import pytest
import torch

from pytest_kernelbenchx import W8A8, Dropout, Shapes, fills, task
from pytest_kernelbenchx.cases import from_size
from pytest_kernelbenchx.judge.policy import GROUPS
from pytest_kernelbenchx.loading import TaskError, load_task
from pytest_kernelbenchx.performance import cost
from pytest_kernelbenchx.spec import TensorSpec, evaluate
from pytest_kernelbenchx.task import RATES


def declared(function, **changes):
    form = {"inputs": {"x": "f32[M, K]"}, "output": "f32[M, K]", "sizes": {"small": {"M": 8, "K": 8}}}
    return task(**{**form, **changes})(function)


def double(x, times=2, out=None):
    return x * times


def same(x):
    return x


def test_shape_of_every_notation():
    axes = {"M": 3, "C": 4, "G": 2, "S": [5, 6], "S~y": [6], "N_i": [7, 8]}
    assert TensorSpec.parse("f32[M, G * C, 3]").shape(axes) == [3, 8, 3]
    assert TensorSpec.parse("T[*S, C // G]").shape(axes) == [5, 6, 2]
    assert TensorSpec.parse("T[*S~]").shape(axes, "y") == [6]
    assert TensorSpec.parse("T[*S~]").shape(axes, "z") == [5, 6]
    many = TensorSpec.parse("list[T[M, N_i]]")
    assert [many.shape(axes, element=i) for i in range(many.count(axes))] == [[3, 7], [3, 8]]
    assert many.elements(axes) == 45
    assert TensorSpec.parse("T[]").shape({}) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("fp32[M]", "element type 'fp32' is none of T, f64"),
        ("f32(M)", "is not of the form"),
        ("f32[m]", "must begin with a capital"),
        ("f32[M] | maybe", "stands 'maybe', wanted None or number"),
        ("f32[M ** 2]", "Pow is not allowed"),
        ("f32[len(M)]", "Call is not allowed"),
        ("f32[1.5]", "Constant is not allowed"),
    ],
)
def test_faulty_notation_is_told(text, wanted):
    with pytest.raises(ValueError, match="tensor") as caught:
        TensorSpec.parse(text)
    assert wanted in str(caught.value)


def test_axis_expressions():
    assert evaluate("H + KH - 1", {"H": 5, "KH": 3}) == 7
    assert evaluate("C // G * 2", {"C": 9, "G": 2}) == 8


@pytest.mark.parametrize(
    ("function", "changes", "wanted"),
    [
        (same, {"inputs": {"y": "f32[M, K]"}}, "inputs= names 'y'; the reference takes: x"),
        (double, {}, "parameter 'times' is in none of inputs=, options=, out="),
        (double, {"options": {"scale": [1]}}, "options= names 'scale'; the reference takes"),
        (same, {"fill": {"y": fills.bernoulli()}}, "fill= names 'y'; the inputs are: x"),
        (same, {"mutates": ["y"]}, "mutates= names 'y'"),
        (same, {"forbid": ["sums"]}, "forbid= names 'sums'; the groups are: quantize, matmul"),
        (same, {"layouts": ["reversed"]}, "layouts= names 'reversed'; known layouts are"),
        (same, {"dtypes": ["f8"]}, "dtypes= names 'f8'"),
        (same, {"dtypes": []}, "dtypes= is empty"),
        (same, {"dtypes": ["f32", "f16"]}, "but no tensor is T[...]"),
        (same, {"sizes": {}}, "sizes= is empty"),
        (same, {"sizes": {"4k": {"M": 4}}}, "leaves out axis 'K'"),
        (same, {"sizes": {"4k": {"M": 4, "K": 4, "Q": 1}}}, "size '4k' names 'Q'"),
        (same, {"sizes": {"4-k": {"M": 4, "K": 4}}}, "size label '4-k'"),
        (same, {"sizes": {"4k": {"M": 4, "K": 4, "dtype": "f16"}}}, "names 'f16'; dtypes= has: f32"),
        (same, {"examples": [{"z": 1}]}, "example 0 names 'z'"),
        (same, {"examples": [{"M": 1, "fill": "odd"}]}, "fill is 'odd', wanted standard, outlier, edge or both"),
        (same, {"examples": [{"M": 1, "raises": "ValueError"}]}, "wanted an exception class"),
        (same, {"inputs": {"x": "f32[...]"}}, "'...' and '?' are for outputs alone"),
        (same, {"output": "f32[?]"}, "is data-dependent: declare bytes="),
        (same, {"output": "f32[Q]"}, "output 'f32[Q]' names 'Q'"),
        (same, {"quantized": object()}, "quantized= needs reduction="),
        (same, {"reduction": "K"}, "given without quantized="),
        (same, {"traces": {"x": abs}}, "traces= is given without quantized="),
        (same, {"quantized": object(), "reduction": "K", "scales": {"y": 0}}, "scales= names 'y'"),
        (
            same,
            {"quantized": object(), "reduction": "K", "scales": {"x": 0}, "traces": {"x and y": abs}},
            "traces= names 'y'",
        ),
        (same, {"quantized": object(), "random": object()}, "wanted one way to judge"),
        (same, {"mode": "loop"}, "mode is 'loop'"),
        (same, {"inputs": {"x": "f32[M]", "grads": "f32[M]"}}, "inputs= names 'grads'; the reference takes: x"),
        (same, {"mode": "optimizer"}, "the input 'grads' are lists of one form; x is 'f32[M, K]' and grads None"),
        (
            same,
            {
                "inputs": {"x": "list[f32[M, N_i]]", "grads": "list[f32[M, K]]"},
                "mode": "optimizer",
                "sizes": {"s": {"M": 1, "N_i": [1], "K": 1}},
            },
            "x is 'list[f32[M, N_i]]' and grads 'list[f32[M, K]]'",
        ),
        (lambda x, **more: x, {}, "is in none of"),
    ],
)
def test_faulty_declaration_is_told(function, changes, wanted):
    with pytest.raises((TypeError, ValueError), match="task ") as caught:
        declared(function, **changes)
    assert wanted in str(caught.value)


def test_usual_options_are_drawn_where_a_task_does_not_say():
    def pool(x, reduction="mean", approximate="none", rate=0.5, training=True, inplace=False):
        return x

    options = {"inplace": [False], "rate": [0.5]}
    found = declared(pool, options=options).options
    assert list(found) == ["reduction", "approximate", "training", "inplace", "rate"]  # declared ones see others
    assert found["reduction"] == ("mean", "sum", "none")
    assert found["approximate"] == ("none", "tanh")
    assert found["training"] == (True, False)
    assert found["inplace"] == [False]
    assert declared(pool, random=Dropout("rate")).options["rate"] == RATES
    with pytest.raises(TypeError, match="'rate' is in none of"):
        declared(pool)


def test_axis_may_not_be_called_like_a_parameter():
    with pytest.raises(TypeError, match="axis 'A' is also a parameter"):
        task(inputs={"A": "f32[A]"}, output="f32[A]", sizes={"s": {"A": 1}})(lambda A: A)


def test_misspelt_keyword_is_a_type_error():
    with pytest.raises(TypeError, match=r"no keyword 'fills', did you mean 'fill'\? It takes inputs, output, sizes"):
        declared(same, fills={})
    with pytest.raises(TypeError, match="no keyword 'dtype', did you mean 'dtypes'"):
        declared(same, dtype=("f32",))


def test_out_is_found_and_defaults_are_kept():
    found = declared(double, options={"times": [2, 3]})
    assert found.out == "out"
    assert found.name == "double"
    assert torch.equal(found(torch.ones(2)), torch.full((2,), 2.0))


def test_out_may_be_an_input_that_is_mutated():
    tensors = {"x": "f32[M, K]", "out": "f32[M, K] | None"}
    found = declared(double, inputs=tensors, mutates=["out"], options={"times": [2, 3]})
    assert found.out is None
    assert found.mutates == ("out",)


def test_an_example_may_stand_for_several():
    wanted = [("f16", "standard"), ("f16", "outlier"), ("bf16", "standard"), ("bf16", "outlier")]
    found = declared(double, options={"times": [2, 3]}, examples=[dict(M=2, K=3, dtype=("f16", "bf16"), fill="both")])
    assert [(example["dtype"], example["fill"]) for example in found.examples] == wanted
    assert {(example["M"], example["K"]) for example in found.examples} == {(2, 3)}
    assert declared(double, options={"times": [2, 3]}, examples=[dict(M=2, K=3)]).examples == (dict(M=2, K=3),)


def test_bytes_moved_and_flops():
    plain = declared(double, options={"times": [2, 3]})
    assert cost.moved(plain, from_size(plain, "small")) == 2 * 8 * 8 * 4
    assert cost.operations(plain, from_size(plain, "small")) == {}
    told = declared(same, bytes=lambda M, itemsize: M * itemsize, flops=lambda M, K: 2 * M * K)
    assert cost.moved(told, from_size(told, "small")) == 8 * 4
    assert cost.operations(told, from_size(told, "small")) == {"f32": 2 * 8 * 8}


def test_outputs_of_unknown_shape_are_measured():
    pooled = task(
        inputs={"x": "T[N, L]", "bias": "T[N] | None"}, output="T[...]", dtypes=("f16",), sizes={"s": {"N": 4, "L": 10}}
    )(lambda x, bias=None: torch.nn.functional.avg_pool1d(x, 2))
    assert cost.moved(pooled, from_size(pooled, "s")) == (40 + 20) * 2


def test_task_file_must_declare_its_own_name(tmp_path):
    path = tmp_path / "math" / "twice.py"
    path.parent.mkdir()
    body = (
        "from pytest_kernelbenchx import task\n@task(inputs={'x': 'f32[M]'}, output='f32[M]', sizes={'s': dict(M=1)})\n"
    )
    path.write_text(body + "def twice(x):\n    return 2 * x\n")
    assert load_task(path).category == "math"
    path.write_text(body + "def thrice(x):\n    return 3 * x\n")
    with pytest.raises(TaskError, match="declares thrice, wanted exactly one task, named twice"):
        load_task(path)
    path.write_text("x = 1\n")
    with pytest.raises(TaskError, match="declares nothing"):
        load_task(path)
    path.write_text(body.replace("'x'", "'y'") + "def twice(x):\n    return 2 * x\n")
    with pytest.raises(TaskError, match=r"twice\.py:\d+: TypeError: task twice .* inputs= names 'y'"):
        load_task(path)
    path.write_text("def twice(x:\n")
    with pytest.raises(TaskError, match=r"twice\.py:1: SyntaxError"):
        load_task(path)


def test_shapes_stay_in_their_room():
    from hypothesis import given, settings

    @settings(max_examples=200, database=None, deadline=None)
    @given(shape=Shapes(0, 4, min_side=0).within(500))
    def check(shape):
        product = 1
        for side in shape:
            product *= side
        assert len(shape) <= 4
        assert product <= 500

    check()


def test_a_quantized_task_rules_out_what_would_do_it():
    how = {"quantized": W8A8, "reduction": "K", "scales": {"x": -1}}
    assert set(declared(same, **how).forbid) == set(GROUPS)
    assert declared(same, **how, forbid=("conv",)).forbid == ("conv",)
    assert declared(same).forbid == ()
