"""Sends a concluded run's answer to the metric sink, and a deployment's figures to CloudWatch."""

from datetime import datetime
from itertools import chain

from plimsoll.aws.run_files import CONCLUSION, SECONDS, files_of
from plimsoll.metrics import publish_from_environment
from plimsoll.metrics.cloudwatch import format_embedded
from plimsoll.metrics.points import make_answer_points, make_target_points
from plimsoll.metrics.sink import FieldValue
from plimsoll.model.deployment.function_settings import FiguresSettings, RunSettings
from plimsoll.model.run.results import Seconds
from plimsoll.targets.janitor import count_targets
from plimsoll.teams.limits import find_team_limits
from plimsoll.teams.registry import list_teams
from plimsoll.teams.room import MICRO, spend_month
from plimsoll.workflow.result import Conclusion


def publish_target(settings: RunSettings, run_id: str) -> None:
    """Send the answer and the target's samples, which `conclude` read outside the VPC, from inside.

    Clients and steps have sent their own points already. A failing sink becomes a note on the run.
    """
    files = files_of(settings, run_id)
    series, conclusion = files.get(SECONDS, Seconds), files.get(CONCLUSION, Conclusion)
    samples = make_target_points(series.target, run_id=run_id)
    published = publish_from_environment(
        chain(samples, make_answer_points(conclusion.capacity, series))
    )
    if published.problem is None:
        return
    notes = (*conclusion.notes, f"metrics: {published.problem}")
    files.put_model(CONCLUSION, conclusion.model_copy(update={"notes": notes}))


def print_figures(settings: FiguresSettings, *, at: datetime) -> None:
    """Print, in CloudWatch's embedded metric format, the number of targets and each team's use.

    `targets_alive` counts the targets of the account and region. `spend_usd` is the team's spend
    this month: ended runs at their estimated cost, runs under way at the most they may cost.
    """
    namespace, now_ms = settings.metrics_namespace, round(at.timestamp() * 1000)

    def tell(of: dict[str, str], figures: dict[str, FieldValue]) -> None:
        print(format_embedded(namespace, now_ms, of, figures), flush=True)

    tell({"deployment": namespace}, {"targets_alive": count_targets()})
    for team in list_teams(settings):
        limits = find_team_limits(settings, team)
        counted = limits.read_counters() if limits else {}
        spent = counted.get(f"usd_{spend_month(at)}", 0)
        figures = {"runs_under_way": counted.get("runs", 0), "spend_usd": spent / MICRO}
        tell({"team": team}, figures)
