"""A client of a search that fails says why."""

import resource
from typing import Any

import pytest

from plimsoll.load_line import clients
from plimsoll.model.run.fleet import FailedClient
from plimsoll_engine import EngineError
from tests.unit.fleet.test_merge import planned


def test_a_client_that_a_limit_ends_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise EngineError("epoll: Too many open files (os error 24)")

    unused: Any = NotImplemented
    monkeypatch.setattr(clients, "send_and_sample", refuse)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (14, resource.RLIM_INFINITY))
    failed = clients._run_client(planned(), 0, unused, unused, unused)
    assert isinstance(failed, FailedClient)
    assert failed.cause.endswith(
        "(os error 24): a process may have 14 open files at most (ulimit -n)"
    )
