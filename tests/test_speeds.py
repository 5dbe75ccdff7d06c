"""The table of speeds: who counts as timed, and what the shares and medians are taken over."""

import pytest

from pytest_kernelbenchx.report import speeds


def record(method="claude", task="relu", size="4k", speedup=2.0, efficiency=0.5, verdict="PASSED", **other):
    facts = {"speedup": speedup, "efficiency": efficiency} if verdict == "PASSED" else {}
    given = {"category": "activation", "round": None, "sample": None, "stage": "performs", **other}
    return {"method": method, "task": task, "size": size, "verdict": verdict, "facts": facts, **given}


def test_nothing_timed_no_table():
    assert speeds.table([]) == []
    assert speeds.table([record(stage="correct")]) == []
    assert speeds.table([record(verdict="SKIPPED"), record(verdict="WRONG_VALUES", size="1m")]) == []


def test_geometric_mean_over_sizes_and_median_over_candidates():
    records = [
        record(size="4k", speedup=0.5, efficiency=0.1),
        record(size="1m", speedup=8.0, efficiency=0.4),  # 2.00, 20 %
        record(task="tanh", speedup=0.5, efficiency=0.9),
        record(task="gelu", speedup=3.0, efficiency=0.6),
    ]
    assert speeds.rows(records) == [("claude", "activation", "3", "2/3 66.7%", "2.00x", "60.0%")]


def test_as_fast_as_eager_is_not_faster():
    ((_, _, _, faster, *_),) = speeds.rows([record(speedup=1.0), record(task="tanh", speedup=1.01)])
    assert faster == "1/2 50.0%"


@pytest.mark.parametrize("verdict", ["INCOMPLETE", "WRONG_VALUES", "TIMEOUT", "SKIPPED", "TOO_FAST"])
def test_one_size_that_is_not_passed_takes_the_candidate_out(verdict):
    slow = [record(size="4k", speedup=9.0), record(size="1m", verdict=verdict)]
    assert speeds.rows(slow) == []
    ((_, _, timed, faster, speedup, _),) = speeds.rows([*slow, record(task="tanh", speedup=0.5)])
    assert (timed, faster, speedup) == ("1", "0/1 0.0%", "0.50x")


def test_a_size_measured_again_counts_once_and_latest():
    assert speeds.rows([record(verdict="TIMEOUT"), record(speedup=4.0)])[0][2:5] == ("1", "1/1 100.0%", "4.00x")
    assert speeds.rows([record(speedup=4.0), record(verdict="TIMEOUT")]) == []


def test_rows_of_eager_are_left_out():
    ((method, _, timed, *_),) = speeds.rows([record("eager", speedup=1.0), record(speedup=2.0)])
    assert (method, timed) == ("claude", "1")


def test_rounds_samples_and_totals():
    numbered = [record("geak", round=n, speedup=float(n), category=c) for n in (2, 10) for c in ("loss", "activation")]
    assert [row[:3] for row in speeds.rows([*reversed(numbered), record("a")])] == [
        ("a", "activation", "1"),
        *[
            (f"geak r{n}", name, count)
            for n in (2, 10)
            for name, count in (("activation", "1"), ("loss", "1"), ("all", "2"))
        ],
    ]
    samples = [record(sample=n, speedup=n + 0.5) for n in range(4)]
    assert speeds.rows(samples)[0][2:5] == ("4", "3/4 75.0%", "2.00x")


def test_an_unknown_gpu_has_no_efficiency():
    assert speeds.rows([record(efficiency=None)])[0][-1] == "-"
    assert speeds.rows([record(efficiency=None), record(task="tanh", efficiency=0.25)])[0][-1] == "25.0%"
    assert speeds.rows([record(efficiency=None), record(size="1m", efficiency=0.25)])[0][-1] == "-"


def test_the_table_fits_in_120_columns():
    records = [record("deepseek-r1-distill", f"t{n}", speedup=123.456, category="matrix_multiply") for n in range(176)]
    assert max(map(len, speeds.table(records))) <= 120
