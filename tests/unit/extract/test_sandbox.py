"""The filter program, interpreted for both architectures; what it does to a process is in hostile/."""

from __future__ import annotations

import pytest

from runvil.extract import sandbox

KILL, REFUSE, ALLOW = sandbox._KILL_PROCESS, sandbox._REFUSE, sandbox._ALLOW
MACHINES = list(sandbox._ARCHITECTURES)


def numbers(machine: str) -> list[int]:
    return [row[MACHINES.index(machine)] for row in sandbox._CALLS.values()]


def verdict(machine: str, number: int, architecture: int | None = None) -> int:
    """What the kernel's interpreter makes of a call (linux/filter.h: load a word, compare and skip, return)."""
    data = {0: number, 4: sandbox._ARCHITECTURES[machine] if architecture is None else architecture}
    rows, at, held = sandbox._filter(sandbox._ARCHITECTURES[machine], numbers(machine)), 0, 0
    while True:
        code, if_true, if_false, value = rows[at]
        at += 1
        match code:
            case sandbox._LOAD:
                held = data[value]
            case sandbox._EQUAL:
                at += if_true if held == value else if_false
            case sandbox._AT_LEAST:
                at += if_true if held >= value else if_false
            case sandbox._RETURN:
                return value
            case _:
                pytest.fail(f"no such instruction: {code:#x}")


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_on_the_list_is_allowed_and_nothing_else(machine: str) -> None:
    for number in range(600):
        assert verdict(machine, number) == (ALLOW if number in numbers(machine) else REFUSE), number


@pytest.mark.parametrize("machine", MACHINES)
def test_the_second_table_of_x86_is_no_way_around(machine: str) -> None:
    for number in (*numbers(machine), 0, 1, 500):
        assert verdict(machine, number | 0x40000000) == REFUSE
    assert verdict(machine, 0xFFFFFFFF) == REFUSE


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("architecture", [0, 0x40000003, 0x40000028, 0xC00000F3])  # none, i386, arm, riscv64
def test_a_foreign_architecture_is_the_end(machine: str, architecture: int) -> None:
    assert {verdict(machine, number, architecture) for number in numbers(machine)} == {KILL}


@pytest.mark.parametrize("machine", MACHINES)
def test_no_number_is_there_twice(machine: str) -> None:
    assert len(set(numbers(machine))) == len(sandbox._CALLS)


def test_a_lock_that_cannot_be_put_on_is_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(_: int) -> bool:
        raise OSError

    monkeypatch.setattr(sandbox, "LOCKS", {"yes": lambda _: True, "no": lambda _: False, "fails": cannot})
    assert sandbox.lock(1) == ("yes",)
