"""Figures of a whole deployment, for its CloudWatch dashboard.

Apart from `publish.py`, whose imports would give the janitor a package several times as large.
"""

from datetime import datetime

from plimsoll.metrics.cloudwatch import format_embedded
from plimsoll.metrics.sink import FieldValue
from plimsoll.model.deployment.function_settings import FiguresSettings
from plimsoll.targets.janitor import count_targets
from plimsoll.teams.limits import find_team_limits
from plimsoll.teams.registry import list_teams
from plimsoll.teams.room import MICRO, spend_month


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
