"""A database on this machine is one of the search's own processes, under whatever address."""

import os

import pytest

from plimsoll.finding import host as module
from plimsoll.finding.host import Host
from plimsoll.model.dsn import parse_dsn


@pytest.mark.parametrize(
    ("address", "name", "shared", "ours"),
    [
        ("127.0.0.1", "mariadbd", True, {os.getpid(), 77}),
        ("localhost", "mysqld", True, {os.getpid(), 77}),
        ("0.0.0.0", "mariadbd", True, {os.getpid(), 77}),
        ("127.0.0.1", "docker-proxy", True, set()),  # the server behind it is not known
        ("192.0.2.1", "mariadbd", False, {os.getpid()}),  # for documentation alone: RFC 5737
    ],
)
def test_whose_processor_time_is_no_others(
    monkeypatch: pytest.MonkeyPatch, address: str, name: str, shared: bool, ours: set[int]
) -> None:
    monkeypatch.setattr(module, "listeners", lambda _: {77})
    monkeypatch.setattr(module, "program", lambda _: name)
    seen = Host.before(parse_dsn(f"mysql://u@{address}/d"))
    assert (seen.shared, set(seen.ours)) == (shared, ours)
    if not ours:
        assert seen.figures()["host_others_percent"] is None
