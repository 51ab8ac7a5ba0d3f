"""Downloads the result of a run on the service."""

import json
import time

from plimsoll.client.refusals import ServiceError
from plimsoll.client.service_client import Service, download
from plimsoll.errors import PlimsollError
from plimsoll.model.run.results import RunResult
from plimsoll.model.service.answers import ReportLinks

PATIENCE_S = 30.0  # the results are ready when a run ends, its page a little later
_LOOK_EVERY_S = 0.5


def fetch_result(service: Service, run_id: str) -> tuple[RunResult, bytes, ReportLinks]:
    """Download the result of an ended run; returns it parsed, as bytes, and the links to it.

    Raises:
        PlimsollError: The service does not have it, or it is of another version.
    """
    links = _await_links(service, run_id)
    body = download(links.result_url)
    try:
        return RunResult.model_validate(json.loads(body), extra="ignore"), body, links
    except ValueError as error:  # also pydantic's errors
        raise PlimsollError(f"{run_id}: its result is of another version: {error}") from None


def _await_links(service: Service, run_id: str) -> ReportLinks:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return service.report_links(run_id)
        except ServiceError as error:
            if error.kind != "no-report" or time.monotonic() > deadline:
                raise
        time.sleep(_LOOK_EVERY_S)
