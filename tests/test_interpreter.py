"""The repaired interpreter computes what a GPU computes, and every repair is needed.

The checks live in two scripts, run in processes of their own because TRITON_INTERPRET must be set before Triton is
imported: `interpreter_table.py` (one expression a kernel, against PyTorch in float64; the table itself was checked on
an H200) and `interpreter_launches.py` (grids, loops, tuning, atomics, pointers, and whose fault a failure is).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# Wrong in every supported version of Triton without the repairs.
BITES = [
    "bf16_add", "bf16_mul", "bf16_neg", "bf16_less", "bf16_where", "bf16_sum_narrow", "bf16_dot", "bf16_from_f32",
    "bf16_from_f16", "bf16_from_int", "bf16_to_int", "bf16_full", "bf16_constant", "bf16_scan", "f16_scalar",
    "e4m3_round", "e4m3_saturates", "e5m2_round", "e5m2_bits", "f32_imported", "f32_negative_axis", "f32_tf32",
    "f32_to_int", "f32_nan_to_int", "py_and", "py_or", "py_not", "py_max", "py_min", "lib_tanh", "lib_full_path",
]  # fmt: skip


def interpret(script, *arguments):
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(TESTS.parent), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(TESTS / script), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])["report"]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


def test_operations_are_right(directory):
    report = interpret("interpreter_table.py", directory)
    assert len(report) > 100
    assert {name: wrong for name, wrong in report.items() if wrong} == {}


def test_each_repair_bites(directory):
    report = interpret("interpreter_table.py", directory, "unrepaired")
    assert [name for name in BITES if not report[name]] == []


@pytest.fixture(scope="module")
def launches():
    return interpret("interpreter_launches.py")


def test_launches_are_right(launches):
    wrong = {name: text for name, text in launches.items() if text and not name.startswith("failure_")}
    assert wrong == {}, "\n".join(wrong.values())


def test_limits_are_told_from_faults(launches):
    wrong = {name: text for name, text in launches.items() if text and name.startswith("failure_")}
    assert wrong == {}, "\n".join(wrong.values())


def test_self_test_finds_a_broken_repair(directory):
    script = directory / "broken.py"
    script.write_text(
        "import json, triton\n"
        "from pytest_kernelbenchx.sandbox import interpreter, formats\n"
        "interpreter.repair()\n"
        "formats.BF16.__class__.round = staticmethod(formats.BFloat16.truncate)\n"
        "print(json.dumps({'report': interpreter.self_test()}))\n"
    )
    report = interpret(script)
    assert report == ["The interpreter is wrong: bf16 is multiplied and added with one rounding each."]


def test_repair_needs_the_interpreter():
    code = "from pytest_kernelbenchx.sandbox.interpreter import repair; repair()"
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment["PYTHONPATH"] = str(TESTS.parent)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert "RuntimeError: The interpreter can be repaired only where TRITON_INTERPRET=1" in done.stderr
