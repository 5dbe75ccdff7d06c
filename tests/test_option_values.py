"""Options that take a number or a word: what does not fit is refused in one line."""

import pytest
import torch

from conftest import RELU
from pytest_kernelbenchx import settings


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_cuda_without_a_gpu(inline):
    said = inline.complaint("--kbx-device=cuda")
    assert "finds no GPU" in said
    assert "--kbx-device=cpu" in said


def test_unknown_device_and_effort(inline):
    for option, words in {
        "--kbx-device=tpu": ("'tpu'", "auto", "cpu", "cuda"),
        "--kbx-effort=hasty": ("'hasty'", "quick", "standard", "thorough"),
        "--kbx-memory=lots": ("float", "'lots'"),
    }.items():
        result = inline.run(option)
        (line,) = [line for line in result.text.splitlines() if "error: argument" in line]
        assert result.status == 4
        assert all(word in line for word in words), line


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--kbx-timeout=soon", "'soon' is neither a number of seconds nor STAGE=SECONDS"),
        ("--kbx-timeout=compile=3", "with a stage of compiles, correct, performs"),
        ("--kbx-timeout=-1", "'-1'"),
        ("--kbx-timeout=0", "'0'"),
        ("--kbx-timeout=inf", "'inf'"),
        ("--kbx-timeout=correct=nan", "'correct=nan'"),
        ("--kbx-memory=0.1", "wanted GiB from 0.25 to 4096"),
        ("--kbx-memory=nan", "wanted GiB from 0.25 to 4096"),
        ("--kbx-seed=-3", "wanted a whole number, or 'random'"),
        ("--kbx-seed=0x10", "wanted a whole number, or 'random'"),
    ],
)
def test_values_out_of_range(inline, option, words):
    said = inline.complaint(option)
    assert option in said
    assert words in said


def test_timeouts_by_stage():
    assert settings.timeouts(None) == settings.TIMEOUTS
    assert settings.timeouts("7") == dict.fromkeys(settings.STAGES, 7.0)
    assert settings.timeouts("9,compiles=3,correct=4.5") == {"compiles": 3.0, "correct": 4.5, "performs": 9.0}


def test_memory_and_seed():
    assert settings.memory(0.5) == 2**29
    assert settings.seed("12") == 12


def test_the_seed_of_hypothesis_is_used_where_there_is_no_other(tree):
    """It may be any text, as Hypothesis itself takes it."""
    assert [settings.seed(None), settings.seed(None, "7"), settings.seed("3", "7")] == [0, 7, 3]
    assert settings.seed(None, "lucky") == settings.seed(None, "lucky") != settings.seed(None, "unlucky")
    tree.candidate("one", RELU)
    chosen = ("-k", "relu and not leaky and not fused", "-m", "correct")
    given, own, both = (
        tree.run(*chosen, *options).one()
        for options in (["--hypothesis-seed=7"], ["--kbx-seed=7"], ["--kbx-seed=7", "--hypothesis-seed=5"])
    )
    assert given["seed"] == own["seed"] == both["seed"] == 7
    assert given["facts"]["cases_sha256"] == own["facts"]["cases_sha256"] == both["facts"]["cases_sha256"]


def test_a_random_seed_is_a_number_that_is_told(tree):
    tree.candidate("one", RELU)
    first, second = (tree.run("--kbx-seed=random", "-k", "relu and not leaky and not fused") for _ in range(2))
    seeds = [result.one()["seed"] for result in (first, second)]
    assert all(isinstance(seed, int) for seed in seeds)
    assert seeds[0] != seeds[1]
    assert f"seed {seeds[0]}" in first.text
