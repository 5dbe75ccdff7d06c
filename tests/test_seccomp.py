"""The filter on system calls, run by hand: what it answers for which call, on both kinds of machine."""

import errno

import pytest

from pytest_kernelbenchx.sandbox import seccomp

OWN, OTHER = 4321, 99
ALLOW = seccomp._ALLOW
MACHINES = dict(seccomp._ARCHITECTURES)


def answer(machine, number, *arguments, architecture=None):
    """What the kernel would do: "allowed", or the error that the call gives (0: it seems to work)."""
    data = {seccomp._NUMBER: number, seccomp._ARCHITECTURE: architecture or MACHINES[machine]}
    data |= {seccomp._ARGUMENTS + 8 * place: value for place, value in enumerate([*arguments, 0, 0, 0])}
    program = list(seccomp.instructions(machine, OWN))
    place = loaded = 0
    while True:
        code, true, false, value = program[place]
        if code == seccomp._RETURN:
            return "allowed" if value == ALLOW else value & 0xFFFF
        if code == seccomp._LOAD:
            loaded = data[value]
        else:
            place += true if (loaded == value if code == seccomp._EQUAL else loaded >= value) else false
        place += 1


@pytest.fixture(params=MACHINES)
def machine(request):
    return request.param


@pytest.fixture
def column(machine):
    return list(MACHINES).index(machine)


def test_what_reaches_others_or_stays_is_refused(machine, column):
    for numbers in seccomp.REFUSED.values():
        assert answer(machine, numbers[column]) == errno.EPERM


def test_modes_and_owners_seem_to_change(machine, column):
    numbers = [pair[column] for pair in seccomp.PRETENDED.values() if pair[column] is not None]
    assert len(numbers) >= 6
    assert {answer(machine, number) for number in numbers} == {0}


def test_limits_and_priorities_are_its_own_alone(machine, column):
    for numbers in seccomp.OWN.values():
        said = [answer(machine, numbers[column], who) for who in (0, OWN, OTHER, 1)]
        assert said == ["allowed", "allowed", errno.EPERM, errno.EPERM]
    for entry in seccomp.RANKED.values():
        kind = entry[2]
        said = [answer(machine, entry[column], which, who) for which, who in ((kind, 0), (kind, OWN), (kind, OTHER))]
        assert said == ["allowed", "allowed", errno.EPERM]
        assert answer(machine, entry[column], kind + 2, 0) == errno.EPERM


def test_sockets_are_local(machine, column):
    said = [answer(machine, seccomp.SOCKET[column], family) for family in (1, 16, 2, 10, 17)]
    assert said == ["allowed", "allowed", errno.EPERM, errno.EPERM, errno.EPERM]


def test_every_other_call_is_allowed(machine, column):
    tables = (seccomp.REFUSED, seccomp.PRETENDED, seccomp.OWN, seccomp.RANKED)
    known = {entry[column] for table in tables for entry in table.values()} | {seccomp.SOCKET[column]}
    assert {answer(machine, number, OTHER) for number in range(480) if number not in known} == {"allowed"}


def test_calls_of_another_interface_are_not_there(machine):
    assert answer(machine, 0, architecture=0x40000003) == errno.ENOSYS
    assert answer(machine, 0x40000000 + 101) == errno.ENOSYS


def test_an_unknown_machine_has_no_filter(monkeypatch):
    monkeypatch.setattr(seccomp, "_drop_capabilities", lambda _: True)
    monkeypatch.setattr(seccomp.platform, "machine", lambda: "riscv64")
    assert seccomp.restrict() == ["capabilities_dropped"]
