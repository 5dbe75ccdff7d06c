"""What Landlock does not cover: system calls that reach other processes, files' modes, or memory that outlives all.

A filter in the kernel refuses them, to this process and to all that it starts, for good, without privileges. It can
look at numbers alone, not at paths. Numbers of calls are from <asm/unistd.h>, the form of a filter from
<linux/filter.h> and <linux/seccomp.h>. A superuser gives up privileges, too: limits, clocks and names are the system's.
"""

import ctypes
import errno
import os
import platform
import socket
from collections.abc import Iterator

LAYERS = ("seccomp", "capabilities_dropped")

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_*
_FOREIGN = 0x40000000  # from here on x86-64 has the calls of another interface
# By name, the numbers on x86-64 and on ARM64; None where there is no such call.
REFUSED: dict[str, tuple[int | None, int | None]] = {
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271)},
    **{"pidfd_getfd": (438, 438), "io_uring_setup": (425, 425)},
    **{"shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180)},
    **{"add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219)},
    **{"setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463)},
    **{"removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466)},
}
"""Memory and files of other processes, and what stays in the kernel after the process."""
PRETENDED: dict[str, tuple[int | None, int | None]] = {
    **{"chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452)},
    **{"chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54)},
    **{"utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88)},
}
"""Do nothing, and say that they did: compilers and copies call them on their own files, and need not."""
OWN: dict[str, tuple[int, int]] = {
    **{"prlimit64": (302, 261), "sched_setparam": (142, 118), "sched_setscheduler": (144, 119)},
    **{"sched_setaffinity": (203, 122), "sched_setattr": (314, 274)},
}
"""On the process itself alone, which is their first argument."""
RANKED: dict[str, tuple[int, int, int]] = {"setpriority": (141, 140, 0), "ioprio_set": (251, 30, 1)}
"""The first argument must be the last number here (one process, no group or user), the second the process itself."""
SOCKET = (41, 198)
FAMILIES = (socket.AF_UNIX, socket.AF_NETLINK)
KEPT_CAPABILITIES = 1 << 1 | 1 << 2  # files of other users stay readable to root: Landlock says which

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_SET_SECCOMP, _FILTER = 22, 2
_CAPABILITIES_3 = 0x20080522

Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def restrict() -> list[str]:
    """Restrict this process and what it starts; it must have no_new_privs. Gives the layers that took effect."""
    libc = ctypes.CDLL(None, use_errno=True)
    layers = [LAYERS[1]] if _drop_capabilities(libc) else []
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        return layers
    program = assemble(list(instructions(machine, os.getpid())))
    pointer = ctypes.byref(_Program(len(program) // 8, program))
    done = libc.prctl(_SET_SECCOMP, ctypes.c_ulong(_FILTER), pointer, ctypes.c_ulong(0), ctypes.c_ulong(0)) == 0
    return [LAYERS[0], *layers] if done else layers


def assemble(program: list[Instruction]) -> bytes:
    return b"".join(
        code.to_bytes(2, "little") + bytes((true, false)) + value.to_bytes(4, "little")
        for code, true, false, value in program
    )


def instructions(machine: str, own: int) -> Iterator[Instruction]:
    """The filter, for a machine of that kind and the process `own`."""
    column = list(_ARCHITECTURES).index(machine)
    yield from ((_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, _ARCHITECTURES[machine]), _refuse(errno.ENOSYS))
    yield from ((_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _FOREIGN), _refuse(errno.ENOSYS))
    for calls, answer in ((REFUSED, errno.EPERM), (PRETENDED, 0)):
        for numbers in calls.values():
            if (number := numbers[column]) is not None:
                yield from ((_EQUAL, 0, 1, number), _refuse(answer))
    for pair in OWN.values():
        yield from _only(pair[column], ((0, own),))
    for entry in RANKED.values():
        yield from _only(entry[column], ((entry[2],), (0, own)))
    yield from _only(SOCKET[column], (FAMILIES,))
    yield (_RETURN, 0, 0, _ALLOW)


def _refuse(error: int) -> Instruction:
    return (_RETURN, 0, 0, _ERROR | error)


def _only(number: int, allowed: tuple[tuple[int, ...], ...]) -> list[Instruction]:
    """The call passes where every argument, from the first, is one of the numbers that are allowed for it."""
    body: list[Instruction] = []
    for place, values in enumerate(allowed):
        body.append((_LOAD, 0, 0, _ARGUMENTS + 8 * place))
        body += [(_EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
        body.append(_refuse(errno.EPERM))
    body.append((_RETURN, 0, 0, _ALLOW))
    return [(_EQUAL, 0, len(body), number), *body]


def _drop_capabilities(libc: ctypes.CDLL) -> bool:
    """Give up all but KEPT_CAPABILITIES, for good; what a process never had it does not get."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0)
    held = (ctypes.c_uint32 * 6)()  # twice effective, permitted, inheritable
    if libc.capget(header, held) != 0:
        return False
    kept = held[1] & KEPT_CAPABILITIES
    return libc.capset(header, (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0)) == 0
