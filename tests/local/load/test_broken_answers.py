"""A server that breaks the protocol: an error counted, never a crash, and the load goes on."""

import struct

import pytest

from tests.local.load.driving import drive, fake_target, latencies_us
from tests.support.fake_mysql_server import (
    EOF,
    OK,
    FakeMySqlServer,
    column,
    error_payload,
    one_row,
    packet,
)

_HUGE = b"y" * ((1 << 24) + 1000)


def huge_row() -> bytes:
    """A valid row of over 16 MiB: its packet goes on in a second one."""
    row = b"\x00\x00\xfe" + struct.pack("<Q", len(_HUGE)) + _HUGE
    limit = (1 << 24) - 1
    head = packet(1, b"\x01") + packet(2, column()) + packet(3, EOF)
    return head + packet(4, row[:limit]) + packet(5, row[limit:]) + packet(6, EOF)


# what goes back -> the codes that it may be counted under; none: it is a sound answer
BROKEN: dict[str, tuple[bytes, set[str]]] = {
    "an error": (packet(1, error_payload(1205, "Lock wait timeout exceeded")), {"1205"}),
    "an error with a text of no end": (packet(1, error_payload(9999, "x" * 60_000)), {"9999"}),
    "an error after the columns": (
        packet(1, b"\x01") + packet(2, column()) + packet(3, error_payload(1317, "interrupted")),
        {"1317", "protocol"},
    ),
    "an error between the rows": (
        one_row()[: -len(packet(5, EOF))] + packet(5, error_payload(1317, "interrupted")),
        {"1317"},
    ),
    "an error of two bytes": (packet(1, b"\xff\x01"), {"protocol"}),
    "nothing in a packet": (packet(1, b""), {"protocol"}),
    "an answer cut short": (one_row()[:7], {"timeout"}),
    "a header cut short": (b"\x05\x00", {"timeout"}),
    "a length that nothing fills": (b"\xff\xff\xff\x01\x00", {"timeout", "protocol"}),
    "another sequence number": (packet(77, OK), {"protocol"}),
    "more columns than ever come": (packet(1, b"\xfc\xff\xff"), {"timeout", "protocol"}),
    "columns beyond all bounds": (packet(1, b"\xfe" + b"\xff" * 8), {"timeout", "protocol"}),
    "a wish for a local file": (packet(1, b"\xfb/etc/passwd"), {"protocol"}),
    "noise": (b"\x07\x00\x00\x01\xde\xad\xbe\xef\xde\xad\xbe", {"timeout", "protocol"}),
    "two answers at once": (one_row() + one_row(), {"protocol"}),
    "a row of over 16 MiB": (huge_row(), set()),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_answers_are_errors_and_the_load_goes_on(what: str) -> None:
    wire, codes = BROKEN[what]
    broken = 0

    def answer(number: int, _statement: bytes) -> bytes | None:
        nonlocal broken
        if number != 5:
            return None
        broken += 1
        return wire

    with FakeMySqlServer(answer=answer) as server:
        report = drive(
            fake_target(server.port),
            connections=3,
            duration_s=120.0,
            operations_limit=30,  # a broken answer for each connection, and sound ones after it
            timeout_ms=1_500 if "timeout" in codes else 60_000,  # what waits for nothing waits so
        )
    read = report.operations["read"]
    assert report.ended == "operations"
    assert broken >= 3
    assert read.succeeded + sum(read.errors.values()) == 30
    assert set(read.errors) <= codes
    failed = sum(read.errors.values())
    if "timeout" not in codes:
        assert failed == (broken if codes else 0)
        return
    # a machine that stands still lets sound answers wait too long as well: each took its full time
    assert failed >= broken
    waited = sum(count for us, count in latencies_us(report).items() if us >= 1_500_000 * 0.999)
    assert waited == read.errors.get("timeout", 0)
    assert read.succeeded > 0


def test_a_server_that_never_answers_is_no_reason_to_hang() -> None:
    with FakeMySqlServer(answer=lambda _n, _s: b"") as server:
        report = drive(
            fake_target(server.port),
            connections=2,
            duration_s=120.0,
            operations_limit=20,
            timeout_ms=100,
        )
    read = report.operations["read"]
    assert read.succeeded == 0
    assert read.errors == {"timeout": 20}
    assert report.ended == "operations"
