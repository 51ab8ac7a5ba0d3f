"""Sends a concluded run's answer to the metric sink, and a deployment's figures to CloudWatch.

These functions run inside the VPC.
"""

from datetime import datetime
from itertools import chain

from plimsoll.aws.run_files import CONCLUSION, SECONDS, files_of
from plimsoll.metrics import publish_from_environment
from plimsoll.metrics.cloudwatch import embedded
from plimsoll.metrics.points import answer_points, target_points
from plimsoll.metrics.sink import FieldValue
from plimsoll.model.deployment.function_settings import FiguresSettings, RunSettings
from plimsoll.model.run.results import Seconds
from plimsoll.targets.janitor import targets_alive
from plimsoll.teams.limits import limits_of
from plimsoll.teams.room import MICRO, month_of
from plimsoll.workflow.conclude import Conclusion


def publish_target(settings: RunSettings, run_id: str) -> None:
    """Send the answer and the target's samples, which `conclude` read outside the VPC.

    Clients and steps have sent their own points already. A failing sink becomes a note on the run.
    """
    files = files_of(settings, run_id)
    series, conclusion = files.get(SECONDS, Seconds), files.get(CONCLUSION, Conclusion)
    samples = target_points(series.target, run_id=run_id)
    published = publish_from_environment(chain(samples, answer_points(conclusion.capacity, series)))
    if published.problem is None:
        return
    notes = (*conclusion.notes, f"metrics: {published.problem}")
    files.put_model(CONCLUSION, conclusion.model_copy(update={"notes": notes}))


# Figures of a whole deployment, for its CloudWatch dashboard.


def tell_figures(settings: FiguresSettings, *, at: datetime) -> None:
    """Print, in CloudWatch's embedded metric format, the number of targets and each team's use.

    `targets_alive` counts the targets of the account and region. `spend_usd` is the team's spend
    this month: ended runs at their estimated cost, runs under way at the most they may cost.
    """
    namespace, now_ms = settings.metrics_namespace, round(at.timestamp() * 1000)

    def tell(of: dict[str, str], figures: dict[str, FieldValue]) -> None:
        print(embedded(namespace, now_ms, of, figures), flush=True)

    tell({"deployment": namespace}, {"targets_alive": targets_alive()})
    for team in settings.teams:
        limits = limits_of(settings, team)
        counted = limits.counted() if limits else {}
        spent = counted.get(f"usd_{month_of(at)}", 0)
        figures = {"runs_under_way": counted.get("runs", 0), "spend_usd": spent / MICRO}
        tell({"team": team}, figures)
