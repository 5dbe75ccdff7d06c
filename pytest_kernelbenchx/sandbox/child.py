"""What runs in the fork: it confines itself, loads the candidate, runs its calls and sends bytes back.

Nothing here judges. From the moment the candidate is imported this process is the candidate's: what it says is checked
by the judge, and what it says of itself can only count against the candidate.
"""

import ast
import contextlib
import faulthandler
import os
import random
import signal
import socket
import sys
import tempfile
import time
import traceback
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn, TextIO

import numpy
import torch

from pytest_kernelbenchx.dtypes import NAMES
from pytest_kernelbenchx.sandbox import (
    device_memory,
    failures,
    interpreter,
    landlock,
    processes,
    seccomp,
    watching,
    witness,
)
from pytest_kernelbenchx.sandbox.held import Held
from pytest_kernelbenchx.sandbox.protocol import decode, encode, obstacle, pack, storage_bytes, unpack
from pytest_kernelbenchx.sandbox.wire import CHANNEL_LOST, ProtocolError, Reader, frame

REQUEST_LIMIT = 1 << 40


def run(
    channel: int, output: int, directory: Path, environment: dict[str, str], device: str, memory: int, parent: int
) -> NoReturn:
    """Never returns, whatever happens: the code that forked must not go on here."""
    try:
        layers = enter(channel, output, directory, environment, memory if device == "cpu" else None, parent)
        serve(socket.socket(fileno=channel), Runner(directory, device, layers, memory))
    except BaseException:  # even a KeyboardInterrupt that the candidate arranged must not reach the zygote's code
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(1)


def enter(
    channel: int, output: int, directory: Path, environment: dict[str, str], memory: int | None, parent: int
) -> list[str]:
    """Confine this process and give it a private directory, a clean environment and an output pipe.

    `environment` is what differs from the usual one: where compiled kernels are kept, and with which C compiler.
    """
    layers = processes.confine(parent, memory)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    processes.close_descriptors({0, 1, 2, channel})
    for name in ("home", "tmp", "cache", "work"):
        (directory / name).mkdir()
    os.environ.update(
        HOME=str(directory / "home"),
        TMPDIR=str(directory / "tmp"),
        XDG_CACHE_HOME=str(directory / "cache"),
        TRITON_CACHE_DIR=str(directory / "cache" / "triton"),
        TORCHINDUCTOR_CACHE_DIR=str(directory / "cache" / "inductor"),
    )
    os.environ.update(environment)
    tempfile.tempdir = str(directory / "tmp")
    os.chdir(directory / "work")
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__ = _writer(1), _writer(2)  # type: ignore[misc, assignment]
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)  # the judge asks where a call hangs
    torch.set_num_threads(1)
    torch.backends.cudnn.allow_tf32 = False  # as for the reference: what a candidate leaves to PyTorch is as exact
    layers += landlock.restrict(readable(), [directory, Path(os.environ["TRITON_CACHE_DIR"])])
    layers += seccomp.restrict()
    return [*layers, "private_dirs", "scrubbed_env", "subreaper"]


def readable() -> list[Path]:
    """Where Python, what it has imported, compilers and GPU libraries lie; not the tasks, nor other candidates."""
    listed = [os.environ.get(name, "") for name in ("PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "CUDA_HOME")]
    listed += [str(Path(os.environ.get(name, "")).parent) for name in ("CC", "CXX", "TRITON_PTXAS_PATH")]
    paths = [sys.prefix, sys.base_prefix, Path(__file__).parents[1], *sys.path, *":".join(listed).split(":")]
    return [Path(path) for path in dict.fromkeys(map(str, paths)) if path not in ("", ".", "/")]


def _writer(descriptor: int) -> TextIO:
    return open(descriptor, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)


def serve(channel: socket.socket, runner: "Runner") -> NoReturn:
    me = os.getpid()
    while True:
        reader = Reader(REQUEST_LIMIT)
        try:
            while not reader.read(channel):
                pass
        except EOFError:
            os._exit(0)
        except OSError:
            os._exit(CHANNEL_LOST)
        nonce = reader.header.pop("nonce")
        reply, buffers = runner.answer(reader.header, reader.payload)
        if os.getpid() != me:  # the candidate forked, and this is its copy
            os._exit(0)
        try:
            for piece in frame({**reply, "nonce": nonce}, buffers):
                channel.sendall(piece)
        except OSError:
            os._exit(CHANNEL_LOST)


class Runner:
    """One candidate: its module, its entry point, its launch log."""

    def __init__(self, directory: Path, device: str, layers: list[str], memory: int):
        self.directory, self.device, self.layers, self.memory = directory, device, layers, memory
        self.file = directory / "work" / "candidate.py"
        self.entry: Any = None
        self.timing: Any = None
        self.tuners: list[tuple[Any, list]] = []
        self.held = Held()
        self.log = witness.Log("")

    def answer(self, header: dict, payload: bytearray) -> tuple[dict, Sequence[Any]]:
        do = header["do"]
        if do == "call":
            return self.call(header, payload)
        if do == "load":
            return self.load(header), ()
        if do == "again":
            return self.again(header["limit"])
        if do != "self_test":
            return self.timed().answer(header)
        faults = interpreter.self_test() if self.device == "cpu" else []
        return {"ok": True, "faults": faults, "layers": self.layers}, ()

    def timed(self) -> Any:
        """What answers the requests of stage three; imported where it is needed, before the candidate is."""
        if self.timing is None:
            from pytest_kernelbenchx.sandbox.timed import Timing

            self.timing = Timing(self)
        return self.timing

    def load(self, header: dict) -> dict:
        """Import the source as module `candidate` and find its entry point."""
        self.file = self.directory / "work" / Path(header["file"]).name
        self.file.write_text(header["source"], encoding="utf-8", errors="replace")
        try:
            ast.parse(header["source"])
            code = compile(header["source"], str(self.file), "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return {"error": {**failures.describe(error, "SYNTAX", self.file), "verdict": "SYNTAX"}}
        self.log = witness.install(str(self.file), self.device)
        module = types.ModuleType("candidate")
        module.__file__ = str(self.file)
        sys.modules["candidate"] = module
        try:
            exec(code, module.__dict__)
        except BaseException as error:  # sys.exit, pytest.skip and KeyboardInterrupt are failures like any other
            return {"error": failures.describe(error, "IMPORT_ERROR", self.file)}
        return self.find(module, header["entries"])

    def find(self, module: types.ModuleType, entries: list[str]) -> dict:
        kernels = {name: value for name, value in vars(module).items() if _kernel_file(value) == str(self.file)}
        entry = next((n for n in entries if callable(vars(module).get(n)) and not _kernel_file(vars(module)[n])), None)
        if entry is None:
            found = [n for n, v in vars(module).items() if callable(v) and getattr(v, "__module__", "") == "candidate"]
            other = next(("a Triton kernel" for n in entries if n in kernels), None)
            return {"error": failures.no_entry_point(entries, [n for n in found if n not in kernels], other)}
        self.entry = vars(module)[entry]
        tuners = [tuner for tuner in map(_tuner, kernels.values()) if tuner is not None]
        # one that prunes its configurations does so by shape: none of them may be forced on it
        free = [tuner for tuner in tuners if getattr(tuner, "early_config_prune", None) is None]
        self.tuners = [(tuner, list(tuner.configs)) for tuner in free]
        count = max((len(configs) for _, configs in self.tuners), default=1)
        return {"ok": True, "entry": entry, "kernels": sorted(kernels), "configs": count, "fault": self.log.fault}

    def call(self, header: dict, payload: bytearray) -> tuple[dict, Sequence[Any]]:
        """Rebuild the inputs, run the entry point, wait for the device, and send the result and the inputs back."""
        self.log.clear()
        self.choose(header["configs"])
        try:
            device_memory.cap(self.device, self.memory)
            tensors = unpack(header, payload, self.device, REQUEST_LIMIT)
            tensors = self.held.renewed(tensors) if header["reuse"] else tensors
            args, kwargs, grads = (decode(header[key], tensors, self.device) for key in ("args", "kwargs", "grads"))
            if header["seed"] is not None:
                _seed(header["seed"])
            watched = watching.watch(header["audit"], tensors, self.log, self.device)
            start = time.perf_counter()
            with watched, self.idling() if header["idle"] else contextlib.nullcontext():
                result = self.entry(*args, **kwargs) if grads is None else self.optimise(grads, *args, **kwargs)
            if self.device == "cuda":
                torch.cuda.synchronize()
            seconds = time.perf_counter() - start
            if header["hold"]:
                self.held.keep(tensors, result)
            reply, buffers = _report(result, tensors, header["limit"], len(payload))
            reply["audit"] = watched.report(result)
        except BaseException as error:  # sys.exit, pytest.skip and KeyboardInterrupt are failures like any other
            return {"error": failures.describe(error, "RUNTIME_ERROR", self.file), **self.log.report()}, ()
        return {"ok": True, "seconds": seconds, **reply, **self.log.report()}, buffers

    @contextlib.contextmanager
    def idling(self) -> Iterator[None]:
        """No kernel is launched, and what `torch.empty` gives holds NaN or the largest integer."""
        self.log.idle = True
        torch._C._set_deterministic_algorithms(True, warn_only=True)  # the public function imports inductor
        try:
            yield
        finally:
            self.log.idle = False
            torch._C._set_deterministic_algorithms(False)

    def again(self, limit: int) -> tuple[dict, Sequence[Any]]:
        """What the held calls returned, as it is now."""
        if self.device == "cuda":
            torch.cuda.synchronize()
        reply, buffers = _report(self.held.results, [], limit, 0)
        return {"ok": True, **reply}, buffers

    def choose(self, number: int | None) -> None:
        """Leave every autotuner the configuration of that number, or all of them, and let it forget what it chose."""
        for tuner, configs in self.tuners:
            wanted = configs if number is None else [configs[number % len(configs)]]
            if tuner.configs != wanted:
                tuner.configs = list(wanted)
                tuner.cache.clear()

    def optimise(self, grads: list[list], tensors: list, *args: Any, **kwargs: Any) -> list[torch.Tensor]:
        """Construct an optimizer over the tensors, make one step for each list of gradients, return the parameters."""
        parameters = [torch.nn.Parameter(tensor) for tensor in tensors]
        optimizer = self.entry(parameters, *args, **kwargs)
        for step in grads:
            for parameter, grad in zip(parameters, step, strict=True):
                parameter.grad = grad
            optimizer.step()
        return [parameter.detach() for parameter in parameters]


def _seed(seed: int) -> None:
    torch.manual_seed(seed)
    random.seed(seed)
    numpy.random.seed(seed % (1 << 32))


def _tuner(kernel: Any) -> Any:
    """The autotuner in a chain of decorators over a kernel, if there is one."""
    while kernel is not None and not hasattr(kernel, "configs"):
        kernel = getattr(kernel, "fn", None)
    return kernel


def _kernel_file(value: Any) -> str | None:
    """The file of the function under a Triton kernel, whatever decorators are on it; None for anything else."""
    if not type(value).__module__.startswith("triton.runtime"):
        return None
    for _ in range(10):
        value = getattr(value, "fn", None)
        if isinstance(value, types.FunctionType):
            return value.__code__.co_filename
    return None


def _report(result: Any, inputs: list[torch.Tensor], limit: int, given: int) -> tuple[dict, list[memoryview]]:
    """The header and the buffers that describe what was returned, and the inputs as they are now.

    Args:
        limit: bytes that the result may have; a larger one is described instead.
        given: bytes that the inputs had when they came.
    """
    found: list[torch.Tensor] = []
    try:
        tree = encode(result, found, strict=False)
    except ProtocolError:
        tree, found = {"type": "a result with too many parts"}, []
    size = sum(tensor.numel() * tensor.element_size() for tensor in found)
    if size > limit:
        tree, found = {"type": f"a result of {size} bytes, {limit} are allowed"}, []
    rows = [{**_row(tensor, index), **_alias(tensor, inputs)} for index, tensor in enumerate(found)]
    buffers = [_contiguous_bytes(tensor) for tensor in found]

    both = list(found)
    trees = encode(inputs, both, strict=False)
    more, bytes_after = pack(both[len(found) :], first=len(buffers))
    if sum(map(len, bytes_after)) > given + limit:
        trees, more, bytes_after = {"type": "inputs that were replaced by larger ones"}, [], []
    buffers += bytes_after
    sizes = [len(buffer) for buffer in buffers]
    return {"result": tree, "after": trees, "tensors": rows + more, "storages": sizes}, buffers


def _row(tensor: torch.Tensor, storage: int) -> dict:
    stride: list[int] = []
    step = 1
    for size in reversed(tensor.shape):
        stride.insert(0, step)
        step *= max(size, 1)
    layout = {"storage": storage, "dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "stride": stride}
    return {**layout, "offset": 0, "device": tensor.device.type}


def _contiguous_bytes(tensor: torch.Tensor) -> memoryview:
    flat = tensor.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    return storage_bytes(flat.untyped_storage())[: tensor.numel() * tensor.element_size()]


def _alias(tensor: torch.Tensor, inputs: list[torch.Tensor]) -> dict:
    """{"alias": index} of the input that the tensor is, or else the first one it shares memory with; {} if none."""
    for index, other in enumerate(inputs):
        if other is tensor:
            return {"alias": index}
    mine = _span(tensor)
    for index, other in enumerate(inputs):
        its = _span(other) if obstacle(other) is None else range(0)
        if max(mine.start, its.start) < min(mine.stop, its.stop):
            return {"alias": index}
    return {}


def _span(tensor: torch.Tensor) -> range:
    """The addresses of a tensor's whole storage."""
    storage = tensor.untyped_storage()
    return range(storage.data_ptr(), storage.data_ptr() + storage.nbytes())
