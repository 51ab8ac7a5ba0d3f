"""What a whole deployment holds at a moment, for its page in CloudWatch: targets, runs, spend."""

from datetime import datetime

from plimsoll.metrics.cloudwatch import embedded
from plimsoll.metrics.sink import FieldValue
from plimsoll.model.function_settings import FiguresSettings
from plimsoll.targets.janitor import targets_alive
from plimsoll.teams.limits import limits_of
from plimsoll.teams.room import MICRO, month_of


def tell_figures(settings: FiguresSettings, *, at: datetime) -> None:
    """Print, for CloudWatch, how many targets there are, and what each team's runs hold and cost.

    `targets_alive` counts those of the account and region. `spend_usd` is the team's in this month:
    runs that have ended as estimated, those under way at the most that they may cost.
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
