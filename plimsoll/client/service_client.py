"""The service's resources, as typed methods."""

import ssl
from collections.abc import Callable, Iterator
from http.client import HTTPException
from typing import Any
from urllib.parse import quote
from urllib.request import HTTPSHandler, ProxyHandler, build_opener
from urllib.request import Request as Fetch

from pydantic import ValidationError

from plimsoll.checks.schedules import ScheduledCheck, ScheduledChecks
from plimsoll.client.http import READ_TIMEOUT_S, Http, Reply, find_authorities
from plimsoll.errors import PlimsollError
from plimsoll.model.base import AnyModel, Model
from plimsoll.model.request.check import CheckDefinition
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.request.request import Request
from plimsoll.model.run.check_history import History
from plimsoll.model.run.experiment_record import (
    ExperimentDetail,
    ExperimentRecord,
    ExperimentSubmitted,
)
from plimsoll.model.run.quote import ExperimentQuote, Quote
from plimsoll.model.run.results import StepResult
from plimsoll.model.service.answers import (
    Health,
    ReportLinks,
    RunDetail,
    Runs,
    RunSummary,
    Steps,
    Submitted,
)
from plimsoll.model.validation import describe_first_error, read_foreign_value

_PAGE = 50
MAX_BYTES = 256 * 2**20  # largest file of a run


class Service:
    """The service. Every method may raise what `Http.ask` raises."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def health(self) -> Health:
        """Return the service's health and version."""
        return parse_reply(Health, self._http.ask("GET", "/health"))

    def submit(self, request: Request, key: str | None = None) -> Submitted:
        """Start a run. The service fills in what the request leaves open, such as the team."""
        reply = self._http.ask("POST", "/runs", body=dump_as_written(request), key=key)
        return parse_reply(Submitted, reply)

    def quote(self, request: Request) -> Quote:
        """Estimate the time and cost of a run. Creates nothing."""
        body = dump_as_written(request)
        return parse_reply(Quote, self._http.ask("POST", "/quotes", body=body, harmless=True))

    def quote_experiment(self, experiment: Experiment) -> ExperimentQuote:
        """Estimate the time and cost of an experiment. Creates nothing."""
        body = dump_as_written(experiment)
        reply = self._http.ask("POST", "/quotes/experiments", body=body, harmless=True)
        return parse_reply(ExperimentQuote, reply)

    def run(self, run_id: str) -> RunDetail:
        """Return the state of a run."""
        return parse_reply(RunDetail, self._http.ask("GET", _run_path(run_id)))

    def runs(
        self,
        *,
        most: int,
        team: str | None = None,
        state: str | None = None,
        tag: str | None = None,
        left_out: Callable[[int], None] = lambda _: None,
    ) -> Iterator[RunSummary]:
        """Yield runs, newest first.

        Args:
            most: The highest number of runs.
            team: The caller's own team; None means the same.
            state: Only runs in this state.
            tag: Only runs with this tag, as `name=value`.
            left_out: Called with the number of records of a page that the service cannot read, if
                any.
        """
        query: dict[str, str | int | None] = {"team": team, "state": state, "tag": tag}
        query["limit"] = min(most, _PAGE)
        while most > 0:
            page = parse_reply(Runs, self._http.ask("GET", "/runs", query=query))
            if page.unreadable:
                left_out(page.unreadable)
            yield from page.runs[:most]
            most -= len(page.runs)
            if page.next_cursor is None:
                return
            query["cursor"] = page.next_cursor

    def steps(self, run_id: str, *, after: int = 0) -> Iterator[StepResult]:
        """Yield a run's finished steps after a number."""
        following: int | None = after
        while following is not None:
            query = {"after": following}
            page = parse_reply(
                Steps, self._http.ask("GET", f"{_run_path(run_id)}/steps", query=query)
            )
            yield from page.steps
            if page.next_after is not None and page.next_after <= following:
                raise PlimsollError("the service's list of steps does not go on")
            following = page.next_after

    def stop(self, run_id: str) -> RunSummary:
        """Stop a run and have its target deleted."""
        return parse_reply(RunSummary, self._http.ask("DELETE", _run_path(run_id)))

    def report_links(self, run_id: str) -> ReportLinks:
        """Return links to the files of an ended run."""
        return parse_reply(ReportLinks, self._http.ask("GET", f"{_run_path(run_id)}/report"))

    def start_experiment(
        self, experiment: Experiment, key: str | None = None
    ) -> ExperimentSubmitted:
        """Start an experiment."""
        reply = self._http.ask("POST", "/experiments", body=dump_as_written(experiment), key=key)
        return parse_reply(ExperimentSubmitted, reply)

    def experiment(self, experiment_id: str) -> ExperimentDetail:
        """Return the state of an experiment, and its result."""
        return parse_reply(
            ExperimentDetail, self._http.ask("GET", _build_experiment_path(experiment_id))
        )

    def stop_experiment(self, experiment_id: str) -> ExperimentRecord:
        """Stop every run of an experiment and have their targets deleted."""
        return parse_reply(
            ExperimentRecord, self._http.ask("DELETE", _build_experiment_path(experiment_id))
        )

    def put_schedule(self, name: str, definition: CheckDefinition) -> ScheduledCheck:
        """Create or replace a check."""
        reply = self._http.ask("PUT", _build_schedule_path(name), body=dump_as_written(definition))
        return parse_reply(ScheduledCheck, reply)

    def schedules(self) -> ScheduledChecks:
        """Return the team's checks."""
        return parse_reply(ScheduledChecks, self._http.ask("GET", "/schedules"))

    def schedule(self, name: str) -> ScheduledCheck:
        """Return a check."""
        return parse_reply(ScheduledCheck, self._http.ask("GET", _build_schedule_path(name)))

    def delete_schedule(self, name: str) -> None:
        """Delete a check."""
        self._http.ask("DELETE", _build_schedule_path(name), deletes=True)

    def history(self, name: str) -> History:
        """Return the history of a check."""
        return parse_reply(History, self._http.ask("GET", f"{_build_schedule_path(name)}/history"))


def dump_as_written(request: Model) -> dict[str, Any]:
    """Return a request without defaults that were not set."""
    return request.model_dump(mode="json", exclude_unset=True)


def parse_reply(model: type[AnyModel], reply: Reply) -> AnyModel:
    """Parse a response; fields that a newer service adds are ignored.

    Raises:
        PlimsollError: The response does not have the form that this version knows.
    """
    value = reply.json()
    try:
        return read_foreign_value(model, value, ignores_unknown=True)
    except ValidationError as error:
        what = describe_first_error(error, whole="the answer")
        raise PlimsollError(f"the service answers in another version's way: {what}") from None


def download(url: str) -> bytes:
    """Download from a link of the service, without credentials.

    Raises:
        PlimsollError: The download failed.
    """
    here = url.startswith("http://127.0.0.1:")
    if not (here or url.startswith("https://")):
        raise PlimsollError("the service gave a link that is not https: it is not opened")
    try:
        opener = build_opener(ProxyHandler({}) if here else _make_tls_handler())
        with opener.open(Fetch(url), timeout=READ_TIMEOUT_S) as response:  # noqa: S310 - see above
            body: bytes = response.read(MAX_BYTES + 1)
    except (OSError, HTTPException) as error:
        raise PlimsollError(f"the run's files cannot be fetched: {error}") from None
    if len(body) > MAX_BYTES:
        raise PlimsollError(f"a file of the run is longer than {MAX_BYTES // 2**20} MiB")
    return body


def _make_tls_handler() -> HTTPSHandler:
    """Return what connects by TLS, and trusts whom the calls of the service trust."""
    return HTTPSHandler(context=ssl.create_default_context(cafile=find_authorities()))


def _build_experiment_path(experiment_id: str) -> str:
    return f"/experiments/{quote(experiment_id, safe='')}"


def _build_schedule_path(name: str) -> str:
    return f"/schedules/{quote(name, safe='')}"


def _run_path(run_id: str) -> str:
    return f"/runs/{quote(run_id, safe='')}"
