"""What a person reads when a candidate fails: the smallest case, the worst element, a command that reproduces it."""

import shlex
import subprocess
import sys

import pytest

from conftest import RELU, Tree

HEAD = RELU.replace("def relu", "def honest")
CALL = "\ndef relu(input, inplace=False):\n    out = honest(input, inplace)\n"
SKEWED = RELU.replace("value = tl.load(x + i, mask=i < n)", "value = tl.load(x + i, mask=i < n) + SKEW")
FAULTY = {
    # the last element is off where it stands in a partial block after a full one
    "last-block": SKEWED.replace("SKEW", "tl.where((n > BLOCK) & (i % BLOCK < BLOCK - 1) & (i == n - 1), 3, 0)"),
    # every block but the first is off: the example of 256 x 256 fails
    "later-blocks": SKEWED.replace("SKEW", "tl.where(i >= BLOCK, 3, 0)"),
    "shape": HEAD + CALL + "    return out.reshape(-1, 1)\n",
    "dtype": HEAD + CALL + "    return out.double()\n",
    "none": HEAD + CALL + "    return None\n",
    "nan": HEAD + CALL + "    return out / torch.zeros(())\n",
    "raises": HEAD + CALL + "    if not input.dim():\n        raise ValueError('\\x1b[3mtoo\\nflat')\n    return out\n",
    "talks": HEAD + CALL + "    print('a line of talk\\x1b]0;title\\x07\\r\\n' * 500)\n    return out + 1\n",
}  # fmt: skip
MUTATING = """
def tanh(input_tensor, out_tensor=None):
    out = honest(input_tensor)
    input_tensor.fill_(7)
    return out
"""


def message(result, method):
    """The lines of a method's failure in stage two."""
    lines = result.text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("___") and f"test_correct[{method}]" in line)
    end = next(i for i in range(start + 1, len(lines)) if lines[i].startswith(("___", "===")))
    return lines[start + 1 : end]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    tree = Tree(tmp_path_factory.mktemp("failures"))
    for method, source in FAULTY.items():
        tree.candidate(method, source)
    tree.candidate("mutates", HEAD + MUTATING, "tanh")
    return tree


@pytest.fixture(scope="module")
def result(tree):
    return tree.run("-m", "compiles or correct", "--junitxml=out.xml")


def test_verdicts(result):
    """A NaN everywhere is a wrong value, whatever else it is; each of the others is its own kind of wrong."""
    assert result.verdicts() == {
        "last-block": "WRONG_VALUES",
        "later-blocks": "WRONG_VALUES",
        "mutates": "INPUT_MUTATED",
        "shape": "WRONG_OUTPUT",
        "dtype": "WRONG_OUTPUT",
        "none": "WRONG_OUTPUT",
        "nan": "WRONG_VALUES",
        "raises": "RUNTIME_ERROR",
        "talks": "WRONG_VALUES",
    }
    assert set(result.verdicts("compiles").values()) == {"PASSED"}


def test_one_wrong_element_in_the_last_partial_block(result):
    lines = message(result, "last-block")
    assert lines[0].startswith("WRONG_VALUES: relu[last-block]: output: 1 of 1025 elements are wrong")
    (worst,) = [line for line in lines if "worst at output[1024]" in line]
    for word in ("got ", "expected ", "(error ", "allowed "):
        assert word in worst
    assert "case: relu(f32[1025])" in lines


def test_an_example_that_fails_is_made_smaller(result):
    """The example of 65,536 elements fails first; what is shown is one element in the second block."""
    lines = message(result, "later-blocks")
    assert lines[0].startswith("WRONG_VALUES: relu[later-blocks]: output: 1 of 1025 elements are wrong")


def test_the_command_reproduces_it(tree, result):
    first = message(result, "last-block")
    (command,) = [line.removeprefix("reproduce: ") for line in first if line.startswith("reproduce: ")]
    assert command.startswith("pytest ")
    plugin = f"{shlex.quote(sys.executable)} -m pytest -p pytest_kernelbenchx.plugin -p no:cacheprovider"
    again = subprocess.run(
        command.replace("pytest", plugin, 1),
        shell=True,
        cwd=tree.path,
        env=tree.environment(),
        capture_output=True,
        text=True,
    )
    from conftest import Result

    assert again.returncode == 1, again.stdout + again.stderr
    assert message(Result(1, again.stdout, []), "last-block") == first
    assert "1 failed" in again.stdout


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("mutates", ["changed its input 'input_tensor'", "does not allow"]),
        ("shape", ["output has the wrong shape: got f32[3, 1], expected f32[3]"]),
        ("dtype", ["output has the wrong", "got f64", "expected f32"]),
        ("none", ["output has the wrong type: got NoneType, expected f32[3]"]),
        ("nan", ["elements are wrong"]),
        ("raises", ["RUNTIME_ERROR", "ValueError: \\x1b[3mtoo"]),
    ],
)
def test_first_line(result, method, words):
    first = message(result, method)[0]
    for word in words:
        assert word in first


def test_an_exception_shows_the_candidates_own_line(result):
    lines = message(result, "raises")
    at = next(i for i, line in enumerate(lines) if 'File "relu.py", line ' in line)
    assert "in relu" in lines[at]
    assert lines[at + 1].strip().startswith("raise ValueError(")


def test_what_it_printed_is_shown_and_bounded(result):
    lines = message(result, "talks")
    assert "    the candidate printed:" in lines
    assert any("lines left out" in line for line in lines)
    assert sum("a line of talk" in line for line in lines) <= 40


def test_messages_are_short_and_harmless(result):
    for method in (*FAULTY, "mutates"):
        lines = message(result, method)
        assert len(lines) <= 60
        assert all(c.isprintable() or c == "\t" for line in lines for c in line), method


def test_junitxml_holds_the_message(tree, result):
    from xml.etree import ElementTree

    cases = {case.get("name"): case for case in ElementTree.parse(tree.path / "out.xml").iter("testcase")}
    failure = cases["test_correct[last-block]"].find("failure")
    assert "WRONG_VALUES: relu[last-block]: output: 1 of 1025" in failure.text
    assert "reproduce: pytest" in failure.text
    assert cases["test_compiles[last-block]"].find("failure") is None
