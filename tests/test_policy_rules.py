"""Every rule on the source bites, by whatever name the thing is called, and honest code is not rejected."""

import pytest

from pytest_kernelbenchx.judge.policy import GROUPS, RULES, Level, examine, parse
from pytest_kernelbenchx.judge.policy.rules import PATHS, rule_of

HEAD = "import torch, triton, os, sys, gc, time, threading, importlib, functools, operator, types, inspect\n"
KERNEL = """
import triton.language as tl
from torch.nn import functional as F

@triton.jit
def _kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.softmax(tl.load(x + i, mask=i < n)), mask=i < n)

def relu(x):
    _kernel[(1,)](x, x, 4, BLOCK=4)
"""


def found(source, forbid=(), head=HEAD):
    seen = examine(parse(head + source), head + source, forbid, ("relu",))
    return {(finding.rule, finding.what) for finding in seen.findings if finding.line > head.count("\n")}


BITES = [
    ("frames", "f = sys._getframe(1)", "calls sys._getframe"),
    ("frames", "from sys import _getframe as g", "imports sys._getframe"),
    ("frames", "import inspect as i\ni.stack()", "calls inspect.stack"),
    ("frames", "def f(e): return e.tb_frame", "uses .tb_frame"),
    ("frames", "objects = gc.get_objects", "uses gc.get_objects"),
    ("frames", "m = sys.modules['torch']", "uses sys.modules"),
    ("code", "exec('x = 1')", "calls exec"),
    ("code", "y = eval('1')", "calls eval"),
    ("code", "run = [exec]", "uses exec"),
    ("code", "m = __import__('os')", "calls __import__"),
    ("code", "from pickle import loads", "imports pickle"),
    ("code", "def f(k): return k.__code__", "uses .__code__"),
    ("code", "class B:\n    def __reduce__(self): return (print, ())", "defines __reduce__"),
    ("code", "torch.load('x')", "calls torch.load"),
    ("code", "list(map(importlib.import_module, ['os']))", "uses importlib.import_module"),
    ("computed", "f = getattr(torch, 'soft' + 'max')", "takes attribute 'soft' + 'max' of torch"),
    ("computed", "def f(name): return getattr(os, name)", "takes attribute name of os"),
    ("computed", "importlib.import_module('py' + 'test')", "imports 'py' + 'test'"),
    ("computed", "f = vars(torch)['mm']", "calls vars"),
    ("computed", "f = torch.__dict__['mm']", "uses .__dict__"),
    ("computed", "globals()['x'] = 1", "calls globals"),
    ("computed", "operator.attrgetter('mm')(torch)", "calls operator.attrgetter"),
    ("computed", "from torch import *", "imports everything from torch"),
    ("native", "import ctypes", "imports ctypes"),
    ("native", "try:\n    from ctypes import CDLL\nexcept ImportError:\n    pass", "imports ctypes"),
    ("native", "from torch.utils.cpp_extension import load_inline", "imports torch.utils.cpp_extension.load_inline"),
    ("native", "torch.ops.load_library('x.so')", "calls torch.ops.load_library"),
    ("process", "pid = os.fork()", "calls os.fork"),
    ("process", "import subprocess as s", "imports subprocess"),
    ("process", "import urllib.request", "imports urllib"),
    ("thread", "threading.Thread(target=print).start()", "calls threading.Thread"),
    ("thread", "from threading import Thread as T", "imports threading.Thread"),
    ("thread", "from concurrent.futures import ThreadPoolExecutor", "imports concurrent"),
    ("judge", "importlib.import_module('pytest')", "imports pytest"),
    ("judge", "import pytest_kernelbenchx.judge", "imports pytest_kernelbenchx"),
    ("patch", "torch.allclose = lambda *a: True", "assigns to torch.allclose"),
    ("patch", "t = torch.testing\nt.assert_close = print", "assigns to torch.testing.assert_close"),
    ("patch", "triton.cdiv, y = 1, 2", "assigns to triton.cdiv"),
    ("patch", "time.perf_counter = lambda: 0", "assigns to time.perf_counter"),
    ("patch", "for torch.x in range(3): pass", "assigns to torch.x"),
    ("patch", "del torch.Tensor.__eq__", "deletes torch.Tensor.__eq__"),
    ("patch", "setattr(torch.Tensor, 'add', print)", "calls setattr on torch.Tensor"),
    ("patch", "for m in (torch, triton):\n    setattr(m, 'x', 1)", "calls setattr on torch"),
    ("patch", "type.__setattr__(torch.Tensor, 'add', 1)", "calls __setattr__ on builtins.type"),
    ("patch", "torch.library.Library('aten', 'IMPL')", "calls torch.library.Library"),
    ("patch", "def f(m=torch):\n    m.equal = print", "assigns to torch.equal"),
    ("evasion", "from torch._C import _DisableTorchDispatch", "imports torch._C._DisableTorchDispatch"),
    ("lazy", "class L(torch.Tensor): pass", "class L is a subclass of torch.Tensor"),
    ("lazy", "class L:\n    def __torch_function__(self): pass", "defines __torch_function__"),
    ("lazy", "def f(x): return x.as_subclass(L)", "uses .as_subclass"),
    ("lazy", "def f(x): x.__class__ = L", "assigns to x.__class__"),
    ("lazy", "L = type('L', (torch.Tensor,), {})", "makes a class of torch.Tensor"),
    ("graph", "g = torch.cuda.CUDAGraph()", "calls torch.cuda.CUDAGraph"),
    ("compiler", "@torch.compile\ndef f(x): return x", "uses torch.compile"),
    ("compiler", "from torch import compile as c", "imports torch.compile"),
    ("library", "import flash_attn", "imports flash_attn"),
    ("library", "try:\n    from xformers.ops import swiglu\nexcept ImportError:\n    pass", "imports xformers"),
    ("import", "import no_such_module", "imports no_such_module"),
    ("compute", "def f(a, b): return a @ b", "uses @"),
    ("compute", "from torch import matmul as m\ndef f(a): return m(a, a)", "calls torch.matmul"),
    ("compute", "def f(a): return F.gelu(a)", "calls torch.nn.functional.gelu"),
    ("compute", "def f(a): return a.bmm(a)", "calls a.bmm"),
    ("compute", "f = getattr(torch, 'mm')(x, x)", "calls torch.mm"),
    ("fallback", "def f(x):\n    try:\n        relu(x)\n    except Exception:\n        return x", "catches Exception "),
    ("fallback", "def f(x):\n    try:\n        _kernel[(1,)](x)\n    except: pass", "catches everything "),
    ("stream", "s = torch.cuda.Stream()", "calls torch.cuda.Stream"),
    ("memo", "def f(c, x): return c[x.data_ptr()]", "looks up c[x.data_ptr()] by a tensor's address"),
    ("memo", "def f(c, x): return c.get((x.data_ptr(), 1))", "looks up c.get((x.data_ptr(), 1)) by "),
    ("memo", "@functools.lru_cache(None)\ndef f(x): return x", "remembers what f returned"),
    ("counter", "n = 0\ndef f():\n    global n\n    n += 1", "counts in n"),
    ("setting", "torch.backends.cudnn.enabled = False", "assigns to torch.backends.cudnn.enabled"),
    ("setting", "torch.set_num_threads(1)", "calls torch.set_num_threads"),
    ("environment", "os.environ['TRITON_INTERPRET'] = '1'", "assigns to os.environ['TRITON_INTERPRET']"),
    ("environment", "sys.path.append('x')", "calls sys.path.append"),
    ("files", "open('x', 'w')", "calls open"),
    ("exit", "def f(): os._exit(0)", "calls os._exit"),
    ("launcher", "_kernel.fn(1)", "calls the Python function under _kernel"),
    ("launcher", "triton.knobs.runtime.launch_enter_hook.calls.clear()", "uses .launch_enter_hook"),
    ("launcher", "@triton.jit(repr=str)\ndef k(x): pass", "passes repr= to triton.jit"),
    ("table", f"T = {list(range(300))}", "holds a table of 300 entries"),
    ("table", f"T = {'x' * 3000!r}", "holds a text of 3000 characters"),
    ("assembly", "@triton.jit\ndef k(x): tl.inline_asm_elementwise(x)", "calls triton.language.inline_asm_elementwise"),
    ("host-read", "def f(x): return x.item()", "uses .item"),
    ("system", "import random", "imports random"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "source", "what"), BITES, ids=[f"{r}: {s.splitlines()[-1][:40]}" for r, s, _ in BITES]
)
def test_a_rule_bites(rule, source, what):
    assert [w for r, w in found(KERNEL + source) if r == rule and w.startswith(what)]
    commented = "\n".join(f"# {line}" for line in source.splitlines())
    assert rule not in {r for r, _ in found(f"{KERNEL}{commented}\nTEXT = {source[:1900]!r}\n")}


def test_every_rule_has_a_line_that_it_bites():
    assert {rule for rule, _, _ in BITES} | {"no-kernel", "forbidden"} == set(RULES)
    assert set(PATHS) < set(RULES)


def test_a_kernel_must_be_reached_from_the_entry_point():
    idle = KERNEL.replace("    _kernel[(1,)](x, x, 4, BLOCK=4)", "    return x")
    assert "no-kernel" in {rule for rule, _ in found(idle)}
    assert "no-kernel" not in {rule for rule, _ in found(KERNEL)}
    through = "def _launch(x): _kernel[(1,)](x)\nclass Plan:\n    def go(self, x): _launch(x)\nrelu = Plan().go\n"
    assert "no-kernel" not in {rule for rule, _ in found(idle.replace("def relu", "def other") + through)}
    made = idle.replace("return x", "made[(1,)](x)") + "made = triton.jit(lambda x: x)\n"
    assert "no-kernel" not in {rule for rule, _ in found(made)}


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_operators_that_a_task_rules_out(group):
    for name in GROUPS[group]:
        forms = (
            f"def f(a, b): return torch.{name}(a, b)",
            f"def f(a): return a.{name}(a)",
            f"g = torch.ops.aten.{name}",
            f"from torch import {name}",
            f"def f(a, g=F.{name}): return g(a)",
        )
        for source in forms:
            assert "forbidden" in {rule for rule, _ in found(KERNEL + source, (group,))}, source
            assert "forbidden" not in {rule for rule, _ in found(KERNEL + source)}, source
        own = f"def {name}(a): return a.{name}\nclass M:\n    def {name}(self, x): return self.{name}(x)\n{name}(1)"
        assert "forbidden" not in {rule for rule, _ in found(KERNEL + own, (group,))}, "its own function of that name"


@pytest.mark.parametrize(
    ("group", "source"),
    [
        ("matmul", "def f(a, b): return a @ b"),
        ("matmul", "layer = torch.nn.Linear(3, 3)"),
        ("matmul", "@torch.jit.script\ndef f(a, b):\n    return a @ b"),
        ("matmul", "f = operator.matmul"),
        ("conv", "layer = torch.nn.Conv2d(3, 3, 1)"),
        ("attention", "layer = torch.nn.MultiheadAttention(8, 2)"),
        ("quantize", "from torch.ao.quantization import quantize_dynamic"),
        ("quantize", "def f(x): return torch.ops.quantized.add(x)"),
    ],
)
def test_other_ways_to_what_a_task_rules_out(group, source):
    assert "forbidden" in {rule for rule, _ in found(KERNEL + source, (group,))}
    assert "forbidden" not in {rule for rule, _ in found(KERNEL + source, tuple(set(GROUPS) - {group}))}


HONEST = {
    "names that sound bad": "eval_mode, exec_stream, gc_cache, time_now = True, None, {}, 0\ndef f(m): return m.eval()",
    "own attributes": "def f(x):\n    x.grad = None\n    x.data = x\nclass S:\n    def __init__(self): self.torch = 0",
    "a dtype by name": "def f(bits): return getattr(torch, f'float{bits}'), getattr(tl, str(bits))",
    "garbage collection": "gc.collect()",
    "signatures": "inspect.signature(print)",
    "a lock": "lock = threading.Lock()",
    "frozen": "class A:\n    def __init__(self): object.__setattr__(self, 'x', 1)",
    "triton in a kernel": "@triton.jit\ndef k(x): return tl.add(x, x)",
    "modules": "import math, numpy, typing, dataclasses, itertools, warnings, contextlib",
    "own name of a builtin": "def f(eval, vars): return eval(vars)\ncompile = f\ncompile(1, 2)",
    "retry with smaller blocks": "def f(x):\n    try:\n        relu(x)\n    except Exception:\n        relu(x)",
    "is it installed": "import importlib.util\nHAS = importlib.util.find_spec('x') is not None",
    "alignment": "def f(x): return x.data_ptr() % 16 == 0",
    "partial": "f = functools.partial(_kernel, 1)\nf.note = 2",
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_is_neither_rejected_nor_suspected(name):
    rules = {rule for rule, _ in found(KERNEL + HONEST[name], tuple(GROUPS))}
    assert {rule for rule in rules if RULES[rule].level is not Level.NOTE} == set()


def test_longest_path_decides():
    assert rule_of("gc.collect") == "system"
    assert rule_of("gc.get_objects.x") == "frames"
    assert rule_of("torch.anything") is None
    assert rule_of("tomllib.loads") == "system"
    assert rule_of(".helpers.relu") is None
