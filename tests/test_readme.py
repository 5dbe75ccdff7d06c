"""The README's examples are real: its kernel passes, its task passes the audit."""

import re

from conftest import ROOT

BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def test_the_kernel_passes(tree):
    (kernel,) = [block for block in BLOCKS if block.startswith("# candidates/claude/activation/relu.py")]
    tree.candidate("claude", kernel)
    result = tree.run("-k", "relu and not leaky and not fused")
    assert result.verdicts("compiles") == {"claude": "PASSED"}
    assert result.verdicts() == {"claude": "PASSED"}
    tree.candidate("claude", kernel.replace("input.copy_(out) if inplace else out", "out"))
    assert "relu(f32[3], inplace=True)" in tree.run("-k", "relu and not leaky and not fused").text


def test_the_task_loads(tmp_path):
    from pytest_kernelbenchx.loading import load_task

    (task,) = [block for block in BLOCKS if "def cube" in block]
    path = tmp_path / "math" / "cube.py"
    path.parent.mkdir()
    path.write_text(task)
    assert load_task(path).name == "cube"
