"""The service, as its callers meet it: on this machine, or deployed.

Without PLIMSOLL_API_URL a test meets the service of its worker on 127.0.0.1. With it, the same
tests call that address with the credentials of AWS_PROFILE, those of another team from the profile
PLIMSOLL_OTHER_PROFILE, and those of no team from PLIMSOLL_STRANGER_PROFILE.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner, Result

from plimsoll.cli.main import cli
from plimsoll.client.address import URL_VARIABLE, Address, read_address
from plimsoll.client.http import Http
from plimsoll.local.deploying import PRINCIPAL
from plimsoll.local.http_front import LocalService
from plimsoll.local.twin import LocalTwin
from tests.local.workflow.conftest import ANSWERED, tiny
from tests.local.workflow.pool import OTHER, assert_idle

Verb = Callable[..., Result]
HEADER = "X-Test-Principal"
STRANGER = "arn:aws:iam::123456789012:user/stranger"
PATIENCE_S = 600.0  # on AWS a database takes minutes
END_LOOK_S = 1.0  # between two looks whether a run has ended, each a call of a function


@dataclass(frozen=True)
class Told:
    """An answer."""

    status: int
    headers: Mapping[str, str]
    body: Any

    @property
    def kind(self) -> str:
        """What a problem document calls the problem."""
        assert self.headers["Content-Type"].startswith("application/problem+json"), self
        assert self.body["status"] == self.status
        return str(self.body["type"]).removeprefix("urn:plimsoll:problem:")


class Caller:
    """Somebody who calls the service; nothing is repeated, and no answer is an exception."""

    def __init__(self, address: Address, *, principal: str | None, profile: str | None) -> None:
        self.url = address.url
        with patch.dict(os.environ, {"AWS_PROFILE": profile} if profile else {}):
            self._http = Http(address, headers={HEADER: principal} if principal else {})

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, str | int | None] | None = None,
        key: str | None = None,
    ) -> Told:
        request = self._http._request(method, path, query, body, key)
        answer = self._http._send(self._http._sign(request))
        return Told(answer.status_code, answer.headers, json.loads(answer.content or "null"))

    def start(self, body: Mapping[str, Any], key: str | None = None) -> str:
        told = self("POST", "/runs", body, key=key)
        assert told.status == 202, told
        return str(told.body["run_id"])

    def until(self, run_id: str, true: Callable[[Any], bool], every_s: float = 0.3) -> Any:
        """Wait until a run is as it should be; gives it."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            run = self("GET", f"/runs/{run_id}").body
            if true(run):
                return run
            assert run["ended_at"] is None, run
            assert time.monotonic() < deadline, run
            time.sleep(every_s)

    def until_one_is_in_its_step(self, run_ids: Sequence[str]) -> str:
        """Wait until one of some runs, which may not have begun, is under load; gives its id."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for run_id in run_ids:
                told = self("GET", f"/runs/{run_id}")
                if told.status == 200 and told.body["phase"] == "step":
                    return run_id
            time.sleep(0.3)
        raise AssertionError(f"none of {run_ids} came to its step")

    def end(self, run_id: str) -> Any:
        return self.until(run_id, lambda run: run["ended_at"] is not None, END_LOOK_S)

    def links(self, run_id: str) -> Any:
        """Give the links to what a run has left, whose page is drawn after its end."""
        deadline = time.monotonic() + PATIENCE_S
        while (told := self("GET", f"/runs/{run_id}/report")).status != 200:
            assert told.kind == "no-report"
            assert time.monotonic() < deadline, told
            time.sleep(END_LOOK_S)
        return told.body


def body(name: str, **changes: Any) -> dict[str, Any]:
    """A run of seconds, as a caller writes it."""
    written = tiny(name, **changes).model_dump(mode="json", exclude_unset=True)
    assert "team" not in written
    return written


_twins: list[LocalTwin] = []  # at most one: what the service on this machine runs on


@pytest.fixture(scope="session")
def address(request: pytest.FixtureRequest) -> Iterator[Address]:
    """Where the service answers."""
    if URL_VARIABLE in os.environ:
        yield read_address(os.environ[URL_VARIABLE], source=URL_VARIABLE)
        return
    twin: LocalTwin = request.getfixturevalue("run_twin")
    with LocalService(twin, principal_header=HEADER) as service:
        _twins.append(twin)
        yield read_address(service.url, source="the service on this machine")
        _twins.clear()


@pytest.fixture(scope="module", autouse=True)
def leave_it_idle() -> Iterator[None]:
    """See that a module leaves no run and no target: the twin is there for others, too."""
    yield
    for twin in _twins:
        assert_idle(twin)


@pytest.fixture(scope="session")
def twin_of_service(address: Address) -> LocalTwin:
    """What the service on this machine runs on."""
    assert not address.signed, "this test looks inside: it is for a service on this machine"
    return _twins[0]


def _caller(address: Address, principal: str, variable: str) -> Caller:
    if not address.signed:
        return Caller(address, principal=principal, profile=None)
    assert variable in os.environ, f"set {variable} to call a deployed service"
    return Caller(address, principal=None, profile=os.environ[variable])


@pytest.fixture(scope="session")
def api(address: Address) -> Caller:
    """A caller of a team."""
    return _caller(address, PRINCIPAL, "AWS_PROFILE")


@pytest.fixture(scope="session")
def other(address: Address) -> Caller:
    """A caller of another team."""
    return _caller(address, OTHER, "PLIMSOLL_OTHER_PROFILE")


@pytest.fixture(scope="session")
def stranger(address: Address) -> Caller:
    """A caller of no team, whom AWS lets through."""
    return _caller(address, STRANGER, "PLIMSOLL_STRANGER_PROFILE")


@pytest.fixture(scope="session")
def finished(api: Caller) -> Any:
    """A run that has ended well; its window is wide enough for a client that starts late."""
    run = api.end(api.start(body("whole", tags={"kind": "whole"}, load__duration_s=5, **ANSWERED)))
    assert run["failure"] is None, run["failure"]
    return run


@pytest.fixture
def assert_gone() -> Callable[[Any], None]:
    """See that nothing is left of a run: by its record, and here with one's own eyes."""

    def check(run: Any) -> None:
        assert run["deleted_at"] is not None
        for twin in _twins:
            assert f"plimsoll-{run['run_id']}" not in twin.databases

    return check


@pytest.fixture
def verb(api: Caller, monkeypatch: pytest.MonkeyPatch) -> Verb:
    """Call a verb on the service."""
    monkeypatch.setenv(URL_VARIABLE, api.url)

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments, standalone_mode=False)

    return call
