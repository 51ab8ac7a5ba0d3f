"""The audit of a workload's conditions after a load of this process."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from plimsoll.errors import PlimsollError
from plimsoll.load_line.conditions import audit_rows
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import load_workload

TARGET = parse_dsn("mysql://u:p@127.0.0.1:1/d")
TPCC = load_workload("tpcc").compile(1)


class Rows:
    """A database whose third query is interrupted by Ctrl-C."""

    read, lost = 0, False

    def read_number(self, _: str, longest_s: float | None = None) -> int:
        assert longest_s is not None
        self.read += 1
        if self.read == 3:
            os.kill(os.getpid(), signal.SIGINT)
        if self.lost:
            raise PlimsollError("the connection is lost")
        return 0

    def cut_off(self) -> None:
        self.lost = True

    @contextmanager
    def connect(self, _: EngineTarget) -> Iterator["Rows"]:
        yield self


def test_an_interrupt_ends_the_check_and_keeps_what_is_known() -> None:
    said: list[str] = []
    found = audit_rows(TARGET, TPCC, said.append, Rows().connect)
    assert [one.breaches for one in found] == [0, 0, *[None] * 10]
    assert {one.unknown for one in found[2:]} == {"interrupted"}
    assert said == [
        "checking 12 conditions of tpcc on all rows, for 5 min at most (Ctrl-C skips it)"
    ]
