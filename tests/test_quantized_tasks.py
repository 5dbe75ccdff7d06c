"""The six quantization tasks on their own cases: honest schemes pass all of them, every broken one fails some.

What the judge says here is what `docs/quantization.md` publishes.
"""

import functools
import importlib
import subprocess
import sys

import pytest
import torch

from conftest import ROOT
from pytest_kernelbenchx.judge.oracle import expect

sys.path.insert(0, str(ROOT / "benchmarks"))
limits = importlib.import_module("quantization_limits")
schemes = importlib.import_module("quantization_schemes")

NOT_TOLD = {("attention_w8a8", "first operand exact"), ("attention_w8a8", "second operand exact")}
NOT_TOLD |= {("layernorm_w8a8", "truncated")}  # some draws tell
EXACT = ("unquantized", "bfloat16", "8 bits", "operand alone", "operand exact")


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small tensors: more threads only wait for each other when tests run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@functools.cache
def judged(name):
    return limits.judged(name, schemes.broken)


@pytest.mark.parametrize("name", limits.NAMES)
def test_honest_schemes_pass_every_case(name):
    found = limits.judged(name, schemes.honest)
    assert len(found) >= 7
    failed = [(scheme, case.to_json()) for scheme, all in found.items() for case, outcome in all if outcome != "PASSED"]
    assert not failed


@pytest.mark.parametrize("name", limits.NAMES)
def test_broken_schemes_fail_some_case(name):
    found = judged(name)
    passing = {scheme for scheme, verdicts in found.items() if all(outcome == "PASSED" for _, outcome in verdicts)}
    assert passing <= {scheme for task, scheme in NOT_TOLD if task == name}
    assert len(found) - len(passing) >= 14


@pytest.mark.parametrize("name", limits.NAMES)
def test_what_is_too_exact_is_not_quantized_and_what_is_wrong_is_wrong(name):
    for scheme, verdicts in judged(name).items():
        exact = scheme.endswith(EXACT) or "operand alone" in scheme or (name == "linear_w4a16" and scheme == "6 bits")
        wanted = {"PASSED", "NOT_QUANTIZED" if exact else "WRONG_VALUES"}
        assert {outcome for _, outcome in verdicts} <= wanted, scheme


@pytest.mark.parametrize("name", limits.NAMES)
def test_one_scale_per_tensor_passes_standard_values_of_long_sums(name):
    task = limits.task_of(name)
    for _, case in limits.table_cases(name):
        expected = expect(task, case)
        for scheme, got in schemes.per_tensor_of(task, expected).items() if case.fill == "standard" else ():
            assert schemes.verdict(task, case, expected, got).passed, scheme


def test_published_tables_are_what_the_judge_says():
    text = limits.DOCUMENT.read_text()
    for name in limits.NAMES:
        for scheme, verdicts in judged(name).items():
            row = next(line for line in text.splitlines() if line.startswith(f"| {scheme} |"))
            cell = row.split("|")[2 + limits.NAMES.index(name)].strip()
            count = f"{sum(outcome != 'PASSED' for _, outcome in verdicts)}/{len(verdicts)}"
            assert limits.agree(cell, count) or (name, scheme) in NOT_TOLD, (name, scheme)
    assert "\n".join(limits.limit_rows()) in text
    table = text.partition("<!-- honest -->")[2]
    rows = "\n".join(line for line in table.partition("<!-- end")[0].splitlines() if line.startswith("| bmm_w8a8"))
    assert limits.agree("\n".join(limits.error_rows("bmm_w8a8", schemes.honest)), rows)


def test_tables_that_differ_do_not_agree():
    assert limits.agree("| a | 0.123 | 1/2", "| a | 0.125 | 1/2")
    assert not limits.agree("| a | 0.123 | 1/2", "| a | 0.223 | 1/2")
    assert limits.agree("| a | 0.123 | 11/20", "| a | 0.123 | 15/20")
    assert not limits.agree("| a | 0.123 | 1/2", "| a | 0.123 | 0/2")
    assert not limits.agree("| a | 0.123 | 1/2", "| a | 0.123 | 1/9")
    assert not limits.agree("| a | 0.123 | 1/20", "| a | 0.123 | 6/20")
    assert not limits.agree("| a | 0.123 | 1/2", "| b | 0.123 | 1/2")


def test_command_says_what_honest_schemes_fail():
    command = [sys.executable, "benchmarks/quantization_limits.py", "--cases=3", "--task=bmm_w8a8"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("bmm_w8a8: ")
    assert done.stdout.endswith(" honest results judged\n")
