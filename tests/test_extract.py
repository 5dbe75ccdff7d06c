"""The way from a model's answer to the code in it."""

import pytest

from pytest_kernelbenchx.extract import extract

CODE = "import triton\n\n\n@triton.jit\ndef kernel(x):\n    pass\n\n\ndef relu(input):\n    return input\n"
NAMES = ["relu", "kernel_function"]


def fenced(code: str, tag: str = "python", fence: str = "```") -> str:
    return f"{fence}{tag}\n{code}{fence}\n"


DRAFT = CODE.replace("return input", "return -input")


@pytest.mark.parametrize("tag", ["python", "py", "Python3", "", " python title=x", "triton"])
@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_a_fenced_block(tag: str, fence: str) -> None:
    answer = f"Sure, here it is:\n\n{fenced(CODE, tag, fence)}\nLet me know.\n"
    assert extract(answer, NAMES) == (CODE, "taken from a Markdown block")


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (f"\ufeff{fenced(CODE)}", "taken from a Markdown block"),
        (fenced(CODE).replace("\n", "\r\n"), "taken from a Markdown block"),
        (f"Code:\n```python\n{CODE}", "taken from a Markdown block"),
        (f"~~~{{.python .numberLines}}\n{CODE}~~~", "taken from a Markdown block"),
        ("1. Do:\n\n" + "".join(f"   {line}\n" for line in fenced(CODE).splitlines()), "taken from a Markdown block"),
        (fenced(DRAFT) + "Wait.\n" + fenced(CODE), "last of 2 versions in Markdown blocks taken"),
        (f"```python\n{DRAFT}\nWait.\n" + fenced(CODE), "taken from one of 2 Markdown blocks"),
        (fenced(CODE) + "Use:\n" + fenced("relu(1)\n"), "taken from one of 2 Markdown blocks"),
        (fenced("pip install triton\n", "bash") + fenced(CODE), "taken from a Markdown block"),
        (fenced(CODE) + "Same as:\n" + fenced("def relu(x):\n    return x\n"), "taken from one of 2 Markdown blocks"),
        (f"<think>\n{fenced(DRAFT)}</think>\n{fenced(CODE)}", "thinking removed; taken from a Markdown block"),
        (f"{fenced(DRAFT)}</think>\n{fenced(CODE)}", "thinking removed; taken from a Markdown block"),
        (f"<think>\nhm\n</think>{CODE}", "thinking removed"),
        ("".join(f"    {line}\n" if line else "\n" for line in CODE.splitlines()), "indentation removed"),
        (f"\ufeff{CODE}", None),
        (CODE, None),
    ],
)
def test_the_code_in_an_answer(answer: str, note: str | None) -> None:
    code, told = extract(answer, NAMES)
    assert code.strip() == CODE.strip()
    assert told == note


def test_blocks_that_belong_together_are_joined() -> None:
    imports, rest = CODE.split("\n\n\n", 1)
    answer = fenced(imports + "\n") + "Kernel:\n" + fenced(rest) + "Usage:\n" + fenced("print(relu(1))\n")
    code, note = extract(answer, NAMES)
    assert (code, note) == (f"{imports}\n\n\n{rest}", "2 Markdown blocks joined")


@pytest.mark.parametrize(
    "marker", ["relu = make()", "class relu:\n    pass", "relu: object = make()", "kernel_function = 1"]
)
def test_what_counts_as_an_entry_point(marker: str) -> None:
    assert extract(fenced("y = 1\n") + fenced(f"{marker}\n"), NAMES)[0] == f"{marker}\n"


@pytest.mark.parametrize(
    "other", ["async def relu(x):\n    pass\n", "if 1:\n    def relu(x): pass\n", "relu: object\n"]
)
def test_what_does_not_count_as_an_entry_point(other: str) -> None:
    answer = fenced(other) + fenced("y = 1\n")
    wanted = "No Markdown block parses and defines relu or kernel_function, the text was left as it is"
    assert extract(answer, NAMES) == (answer, wanted)


def test_code_with_a_fence_in_its_docstring_is_left_alone() -> None:
    code = '"""Use it so:\n\n```python\ndef relu(x): ...\n```\n"""\n' + CODE
    assert extract(code, NAMES) == (code, None)
    assert extract(fenced(code.replace("```", "    ```"), fence="```"), NAMES)[0].endswith(CODE)


def test_broken_code_is_not_replaced_by_the_example_in_its_docstring() -> None:
    code = '"""Use it so:\n\n```python\nrelu(x)\n```\n"""\n' + CODE + "def broken(:\n"
    assert extract(code, NAMES)[0] == code


def test_one_block_with_another_name_or_an_error_is_taken_for_the_right_verdict() -> None:
    wanted = "No Markdown block parses and defines relu or kernel_function, the only one was taken"
    for code in (CODE.replace("relu", "triton_relu"), CODE.replace("def relu(", "def torch.relu(")):
        assert extract(f"Here:\n{fenced(code)}", NAMES) == (code, wanted)


def test_endless_thinking_is_no_answer() -> None:
    answer = f"<think>\n{fenced(CODE)}"
    assert extract(answer, NAMES) == (answer, "The answer ends inside its thinking, so there is no code to judge.")


def test_without_a_kernel_the_last_version_is_taken_too() -> None:
    first, last = ("def relu(x):\n    return x\n", "def relu(x):\n    return +x\n")
    assert extract(fenced(first) + fenced(last), NAMES) == (last, "last of 2 versions in Markdown blocks taken")


@pytest.mark.filterwarnings("error")
def test_a_warning_of_the_parser_is_no_error() -> None:
    code = "x = '\\d'\ny = '''\n```\n'''\n"
    assert extract(code, NAMES) == (code, None)


@pytest.mark.parametrize(
    "code", ["x = '\\d'\n```\n", "(" * 5000 + "\n```\n", "-" * 100_000 + "1\n```\n", "```\n" * 5000]
)
def test_odd_text_does_no_harm(code: str) -> None:
    assert extract(code, NAMES)[0] == code
