"""The rules: what each is for, how much it weighs, and the dotted paths that break it.

The longest prefix decides: `gc` is harmless and `gc.get_objects` is not, `threading` is noted and `threading.Thread`
rejected. Rules that look at more than a path are in `structure`. `python -m pytest_kernelbenchx.judge.policy.rules`
prints the table of the rules that docs/integrity.md has.
"""

import sys
from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """What a finding is worth."""

    REJECT = "FORBIDDEN: the candidate is not run"
    CONFIRM = "goes into the record; explains a verdict where what was seen at run time fits"
    NOTE = "goes into the record"


@dataclass(frozen=True)
class Rule:
    """A rule: its weight and what it is for."""

    level: Level
    why: str


REJECT, CONFIRM, NOTE = Level
RULES = {
    "frames": Rule(REJECT, "a kernel has no business in the judge's objects and frames"),
    "code": Rule(REJECT, "code must stand in the file, where it can be read"),
    "computed": Rule(REJECT, "names must be written out, so that the source says what it calls"),
    "native": Rule(REJECT, "native code can forge times and results"),
    "process": Rule(REJECT, "a candidate runs in its own process alone"),
    "thread": Rule(REJECT, "work must be done when the call returns"),
    "judge": Rule(REJECT, "the judge is out of bounds"),
    "patch": Rule(REJECT, "a candidate may not change foreign modules"),
    "evasion": Rule(REJECT, "it hides operators from whoever watches them"),
    "lazy": Rule(REJECT, "an output must be a plain tensor that holds its result when the call returns"),
    "graph": Rule(REJECT, "a captured graph repeats earlier launches on earlier memory"),
    "compiler": Rule(REJECT, "the kernels that a compiler writes are not the candidate's"),
    "forbidden": Rule(REJECT, "the task rules it out"),
    "library": Rule(CONFIRM, "operators from a library are not the candidate's work"),
    "import": Rule(CONFIRM, "it is none of the modules that a kernel is known to need"),
    "compute": Rule(CONFIRM, "work that is left to PyTorch is not the candidate's"),
    "fallback": Rule(CONFIRM, "a launch that fails is answered by other means, so the kernel may never have run"),
    "no-kernel": Rule(CONFIRM, "the work is to be done by kernels under @triton.jit in the file"),
    "stream": Rule(CONFIRM, "work on another stream may not be done when the call returns"),
    "memo": Rule(CONFIRM, "a result that is remembered is not computed"),
    "counter": Rule(CONFIRM, "what a call does may depend on how many there were"),
    "setting": Rule(CONFIRM, "PyTorch's side of the comparison shares the setting"),
    "environment": Rule(CONFIRM, "other libraries read it, and it may tell one phase of judging from another"),
    "files": Rule(CONFIRM, "what one process leaves another may find"),
    "exit": Rule(CONFIRM, "a process that ends gives no answer"),
    "launcher": Rule(CONFIRM, "it reaches into how kernels are launched"),
    "table": Rule(NOTE, "long literal data may hold answers"),
    "assembly": Rule(NOTE, "inline assembly is not run in the interpreter"),
    "host-read": Rule(NOTE, "the host waits for values, and may decide by them"),
    "system": Rule(NOTE, "few kernels need it"),
}

PATHS = {
    "frames": """sys._getframe sys._getframemodulename sys._current_frames sys._current_exceptions sys.settrace
        sys.setprofile sys.monitoring sys.modules sys.meta_path sys.path_hooks sys.last_traceback
        threading.settrace threading.setprofile inspect.currentframe inspect.stack inspect.trace inspect.getouterframes
        inspect.getinnerframes inspect.getargvalues traceback.walk_stack traceback.walk_tb gc.get_objects
        gc.get_referrers gc.get_referents gc.callbacks tracemalloc _tracemalloc builtins.__builtins__ __main__
        sys.addaudithook pdb bdb""",
    "code": """builtins.exec builtins.eval builtins.compile builtins.__import__ importlib.__import__ importlib.reload
        importlib.machinery importlib.util.spec_from_file_location importlib.util.module_from_spec importlib.abc
        runpy code codeop marshal pickle dill
        cloudpickle shelve copyreg zipimport imp types.FunctionType types.CodeType torch.load torch.package torch.hub
        torch.serialization pkgutil site pip ensurepip""",
    "computed": "builtins.globals builtins.vars builtins.__dict__ operator.attrgetter operator.methodcaller",
    "native": """ctypes _ctypes cffi mmap _testcapi _testinternalcapi pycuda cupy numba cuda nvrtc pybind11 torch._C
        torch.utils.cpp_extension torch.cuda._compile_kernel torch.cuda.cudart torch.cuda.memory.CUDAPluggableAllocator
        numpy.ctypeslib torch.cuda.caching_allocator_alloc torch.classes
        torch.ops.load_library jax tensorflow tvm cutlass tilelang llvmlite""",
    "process": """subprocess multiprocessing _multiprocessing _posixsubprocess socket _socket asyncio pty signal _signal
        atexit socketserver selectors ssl ftplib smtplib telnetlib xmlrpc urllib urllib3 http requests httpx aiohttp
        os.fork os.forkpty os.system os.popen os.kill os.killpg os.posix_spawn os.posix_spawnp os.execl os.execle
        os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe os.spawnl os.spawnle os.spawnlp os.spawnlpe
        os.spawnv os.spawnve os.spawnvp os.spawnvpe os.setsid os.dup os.dup2 os.write os.pidfd_open os.getppid
        os.register_at_fork os.memfd_create posix torch.multiprocessing webbrowser
        resource.setrlimit resource.prlimit""",
    "thread": "threading.Thread threading.Timer _thread concurrent torch.futures torch.jit.fork torch.jit._fork",
    "judge": "pytest _pytest hypothesis xdist pytest_benchmark pytest_kernelbenchx pluggy",
    "patch": """torch.library.Library torch.library.impl torch.library.define torch.library.register_kernel
        torch.cuda.memory.change_current_allocator torch.overrides torch.utils._python_dispatch unittest.mock
        builtins.__build_class__""",
    "evasion": """torch.utils._python_dispatch._disable_current_modes torch._C._DisableTorchDispatch
        torch._C.DisableTorchFunction torch._C.DisableTorchFunctionSubclass torch._C._DisableFuncTorch""",
    "lazy": "torch.Tensor._make_subclass torch.Tensor._make_wrapper_subclass torch.Tensor.as_subclass torch.masked",
    "graph": "torch.cuda.CUDAGraph torch.cuda.graph torch.cuda.graphs torch.cuda.make_graphed_callables",
    "compiler": """torch.compile torch._dynamo torch._inductor.compile torch._inductor.compile_fx torch.export
        torch.fx.experimental torch.jit.trace
        torch.nn.attention.flex_attention torch_tensorrt tensorrt onnxruntime""",
    "library": """xformers flash_attn flash_attn_interface flash_attn_3 bitsandbytes apex liger_kernel flag_gems
        transformer_engine vllm sglang sgl_kernel flashinfer deep_gemm deepgemm torchao fla mamba_ssm
        causal_conv1d triton_kernels unsloth deepspeed torchvision torchaudio fbgemm_gpu nvidia cudnn cublas quack aiter
        natten scipy sklearn transformers diffusers xgboost thunderkittens cuequivariance""",
    "compute": "torch.ops",
    "stream": "torch.cuda.Stream torch.cuda.stream torch.cuda.ExternalStream torch.cuda.set_stream torch.Stream",
    "setting": """torch.backends torch.set_num_threads torch.set_num_interop_threads torch.set_default_dtype
        torch.set_default_device torch.set_default_tensor_type torch.set_float32_matmul_precision
        torch.use_deterministic_algorithms torch.set_deterministic_debug_mode torch.set_flush_denormal
        torch.cuda.set_per_process_memory_fraction numpy.seterr sys.setrecursionlimit sys.setswitchinterval
        torch.cuda.set_sync_debug_mode""",
    "environment": "os.environ os.putenv os.unsetenv os.getenv os.environb sys.path sys.argv sys.flags getpass",
    "files": """builtins.open os.open io.open io.FileIO pathlib shelve sqlite3 tempfile shutil torch.save numpy.save
        numpy.savez numpy.load numpy.memmap numpy.fromfile torch.from_file os.remove os.unlink os.rename os.replace
        os.mkdir os.makedirs os.listdir os.scandir os.walk glob torch.UntypedStorage.from_file""",
    "exit": "os._exit os.abort sys.exit builtins.exit builtins.quit builtins.SystemExit",
    "launcher": """triton.knobs triton.compile triton.compiler triton.runtime.JITFunction triton.runtime.jit.JITFunction
        triton.runtime.interpreter triton.backends triton.runtime.cache torch._inductor torch.jit.script triton.testing
        triton.runtime.driver.set_active triton.profiler""",
    "host-read": "torch.cuda.synchronize torch.cuda.Event torch.cuda.current_stream",
    "assembly": "triton.language.inline_asm_elementwise",
    "system": """gc inspect os sys threading io logging warnings traceback random numpy platform resource types
        importlib weakref time faulthandler base64 zlib hashlib struct json argparse pprint textwrap string re secrets
        uuid datetime ast dis csv tqdm tabulate pandas matplotlib einops packaging torch.distributed
        torch.testing torch.utils.benchmark torch.utils.checkpoint""",
}
INERT = """
    __future__ abc array bisect builtins collections contextlib contextvars copy dataclasses decimal enum fractions
    functools heapq itertools math cmath numbers operator statistics typing typing_extensions torch triton keyword
    torch.ops.aten torch.ops.prims torch.ops.triton sys.float_info sys.maxsize sys.version_info sys.version
    sys.platform importlib.metadata importlib.util.find_spec sys.stdout sys.stderr
    torch.cuda.memory.memory_allocated torch.cuda.memory.empty_cache torch.backends.cuda.is_built torch.utils.data
    torch.overrides.has_torch_function torch.backends.mps.is_available torch._C._cuda_getCurrentRawStream
    torch._C._NamedTuple
"""
STANDARD = frozenset(sys.stdlib_module_names)

BY_PATH: dict[str, str | None] = {
    **{path: rule for rule, text in PATHS.items() for path in text.split()},
    **dict.fromkeys(INERT.split()),
}

ATTRIBUTES = {
    name: rule
    for rule, text in {
        "frames": """f_back f_locals f_globals f_builtins f_code tb_frame tb_next gi_frame cr_frame ag_frame
            __subclasses__ __mro__ __bases__ __base__""",
        "code": "__code__ __globals__ __closure__ __builtins__ __loader__ __reduce__ __reduce_ex__ co_consts co_code",
        "computed": "__dict__ __getattribute__ __getattr__",
        "lazy": """__torch_function__ __torch_dispatch__ as_subclass _make_subclass _make_wrapper_subclass
            __cuda_array_interface__ __array_interface__""",
        "launcher": "launch_enter_hook launch_exit_hook jit_cache_hook add_pre_run_hook device_caches cache_results",
        "stream": "wait_stream record_stream",
        "memo": "_version",
        "host-read": "tolist numpy item",
    }.items()
    for name in text.split()
}
"""Attributes that tell by their name alone, whatever has them."""
DEFINED = {"__torch_function__": "lazy", "__torch_dispatch__": "lazy", "__reduce__": "code", "__reduce_ex__": "code"}
"""Methods that a class may not define."""


def rule_of(path: str) -> str | None:
    """The rule that a dotted path breaks; `import` for a module that nobody knows; None if none."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        prefix = ".".join(parts[:length])
        if prefix in BY_PATH:
            return BY_PATH[prefix]
    if parts[0] in STANDARD:
        return "system"
    return "import" if parts[0] else None  # a relative import finds nothing, and fails by itself


def table() -> str:
    """All rules with their level and what they are for, as a Markdown table."""
    levels = {REJECT: "reject", CONFIRM: "needs confirmation", NOTE: "note"}
    rows = [f"| `{name}` | {levels[rule.level]} | {rule.why} |" for name, rule in RULES.items()]
    return "\n".join(["| rule | level | what it is for |", "|---|---|---|", *rows])


if __name__ == "__main__":
    print(table())
