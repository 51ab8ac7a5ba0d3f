"""A run as the API shows it, from its record and its files."""

from datetime import timedelta

from plimsoll.aws.run_files import REPORT, REQUEST, RESULT, files_of, plan_path, step_path
from plimsoll.aws.run_records import now
from plimsoll.model.api_answers import Progress, ReportLinks, RunDetail, RunSummary, Steps
from plimsoll.model.fleet import StepPlan
from plimsoll.model.function_settings import ApiSettings, RunSettings
from plimsoll.model.request import Request
from plimsoll.model.results import StepResult
from plimsoll.model.run_record import RunRecord

LINK_S = 300  # how long a link to a report holds
DRAWN_WITHIN = timedelta(seconds=20)  # of a run's end, its page; it takes a second or a few


def summary(record: RunRecord) -> RunSummary:
    """Show a run as a list of runs does."""
    return RunSummary.model_validate(_shown(record, RunSummary))


def detail(settings: ApiSettings, record: RunRecord) -> RunDetail:
    """Show a run with what it was asked for."""
    files = files_of(settings, record.run_id)
    plan = None if record.step is None else files.find_model(plan_path(record.step), StepPlan)
    links = settings.dashboards.links(
        record.run_id, since=record.submitted_at, until=record.ended_at
    )
    shown = {**_shown(record, RunDetail), "links": links, "plan": plan}
    return RunDetail.model_validate({**shown, "request": files.get(REQUEST, Request)})


def _shown(record: RunRecord, model: type[RunSummary]) -> dict[str, object]:
    values = {name: getattr(record, name) for name in model.model_fields if hasattr(record, name)}
    figure = record.capacity_ops_per_second
    values["capacity_ops_per_second"] = None if figure is None else float(figure)
    values["progress"] = Progress(step=record.step, steps_finished=record.steps_finished)
    return values


def steps(settings: RunSettings, record: RunRecord, *, after: int, limit: int) -> Steps:
    """Read the finished steps of a run that come after one of them, as far as they follow."""
    files = files_of(settings, record.run_id)
    finished: list[StepResult] = []
    for number in range(after + 1, (record.step or 0) + 1):
        done = files.find_model(step_path(number), StepResult)
        if done is None or len(finished) == limit:
            return Steps(steps=tuple(finished), next_after=number - 1 if done else None)
        finished.append(done.without_seconds)
    return Steps(steps=tuple(finished), next_after=None)


def report_links(settings: RunSettings, record: RunRecord) -> ReportLinks | None:
    """Sign links to a run's report and results; None where there are none yet.

    The page is drawn right after a run's end. Where it is not there by then, it never will be: of
    the longest runs there are the results alone.
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
