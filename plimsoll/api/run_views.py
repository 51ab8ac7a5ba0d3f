"""A run as the API shows it, from its record and its files."""

from collections.abc import Sequence
from datetime import timedelta

from plimsoll.aws.run_files import REPORT, REQUEST, RESULT, files_of, plan_path, step_path
from plimsoll.aws.run_records import now
from plimsoll.complaints import Complaint
from plimsoll.console.compared import ComparisonShown, show_comparison
from plimsoll.errors import UsageError
from plimsoll.model.deployment.function_settings import ApiSettings, RunSettings
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.results import RunResult, StepResult
from plimsoll.model.run.run_record import RunRecord
from plimsoll.model.service.answers import ReportLinks, RunDetail, Steps
from plimsoll.workflow.listing import list_summary_fields

LINK_S = 300  # how long a link to a report is valid
DRAWN_WITHIN = timedelta(seconds=20)  # after a run's end; drawing the page takes a few seconds


def show_run(settings: ApiSettings, record: RunRecord) -> RunDetail:
    """Return a run with its request."""
    files = files_of(settings, record.run_id)
    plan = None if record.step is None else files.find_model(plan_path(record.step), StepPlan)
    since, until = record.submitted_at, record.ended_at
    links = settings.dashboards.links(record.run_id, since=since, until=until)
    values = {**list_summary_fields(record, RunDetail), "links": links, "plan": plan}
    return RunDetail.model_validate({**values, "request": files.get(REQUEST, Request)})


def read_steps(settings: RunSettings, record: RunRecord, *, after: int, limit: int) -> Steps:
    """Return the finished steps of a run after a given one, up to the first gap."""
    files = files_of(settings, record.run_id)
    finished: list[StepResult] = []
    for number in range(after + 1, (record.step or 0) + 1):
        done = files.find_model(step_path(number), StepResult)
        if done is None or len(finished) == limit:
            return Steps(steps=tuple(finished), next_after=number - 1 if done else None)
        finished.append(done.without_seconds)
    return Steps(steps=tuple(finished), next_after=None)


def sign_report_links(settings: RunSettings, record: RunRecord) -> ReportLinks | None:
    """Return signed links to a run's report and results; None if there are none yet.

    The page is drawn right after a run's end. If it is missing then, it will never exist: the
    longest runs have results only.
    """
    files = files_of(settings, record.run_id)
    drawn = REPORT in files.paths(REPORT)
    if not drawn:
        drawing = record.ended_at is None or now() < record.ended_at + DRAWN_WITHIN
        if drawing or RESULT not in files.paths(RESULT):
            return None
    expires_at = now().replace(microsecond=0) + timedelta(seconds=LINK_S)
    return ReportLinks(
        url=files.link(REPORT, lasts_s=LINK_S) if drawn else None,
        result_url=files.link(RESULT, lasts_s=LINK_S),
        expires_at=expires_at,
    )


def find_result(settings: RunSettings, record: RunRecord) -> RunResult | None:
    """Read a run's result; None if it has none, or not yet."""
    return files_of(settings, record.run_id).find_model(RESULT, RunResult)


def compare_records(settings: RunSettings, records: Sequence[RunRecord]) -> ComparisonShown:
    """Compare runs that have ended.

    Raises:
        UsageError: One of them has no result yet, or will never have one.
    """
    results = []
    for record in records:
        found = find_result(settings, record)
        if found is None:
            problem = f"{record.run_id} has no results: it is {record.state}"
            raise UsageError(Complaint(("runs",), problem))
        results.append(found)
    return show_comparison(results)
