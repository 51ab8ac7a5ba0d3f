"""What a run needs of its team's limits, and whether there is room for it.

No I/O: the counters of `limits.py` tell what is in use.
"""

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from plimsoll import words
from plimsoll.complaints import FieldPath, Range
from plimsoll.errors import LimitReachedError
from plimsoll.model.base import Model
from plimsoll.model.deployment.deployment import Team
from plimsoll.model.request.request import Request
from plimsoll.model.run.quote import Quote
from plimsoll.quoting.times import count_clients_at_once

MICRO = 1_000_000  # units of a dollar
_IOPS_PATH: FieldPath = ("target", "volume", "iops")
_USD_PATH: FieldPath = ("budget_usd",)  # budget_usd limits what a run may cost


class Ask(Model):
    """What a run needs of its team's limits, besides being one run."""

    clients: int  # most clients at a time: of its largest step or its relay, or its loaders
    clients_path: FieldPath = ("search", "clients")  # the field of the request that sets them
    iops: int  # provisioned IOPS of the volume
    usd_most: float | None  # None if a price is missing
    missing: tuple[str, ...] = ()  # names of the missing prices


class Grant(Model):
    """What a run holds."""

    clients: int
    iops: int
    usd_micro: int
    month: str  # such as 2026_11, the month whose spend it counts in
    at: datetime
    begins_within_s: int = 3600  # after that, its workflow counts as never started; see `reconcile`


def spend_month(moment: datetime) -> str:
    """Return the month in which spending at a moment counts, as counters name it."""
    return f"{moment:%Y_%m}"


def compute_ask(request: Request, quote: Quote) -> Ask:
    """Return the most that a run needs."""
    usd = quote.usd.most if quote.usd else None
    if usd is not None and request.budget_usd is not None:
        usd = min(usd, request.budget_usd)
    volume = getattr(request.target, "volume", None)
    stepping, loading = count_clients_at_once(request), request.prepare.clients
    of_search = "clients" if request.search.strategy == "steps" else "clients_max"
    return Ask(
        clients=max(stepping, loading),
        clients_path=("search", of_search) if stepping >= loading else ("prepare", "clients"),
        iops=(volume.iops or 0) if volume is not None else 0,
        usd_most=usd,
        missing=quote.missing,
    )


class Room:
    """Checks whether a team's limits leave room for a run."""

    def __init__(self, team: str, limits: Team) -> None:
        self._team = team
        self._limits = limits

    def require_possible(self, ask: Ask) -> None:
        """Refuse a run that exceeds a limit even if nothing else runs.

        Raises:
            LimitReachedError: It exceeds one, or a price that a limit needs is missing.
        """
        may = self._limits
        for name, path, asked, most in (
            ("clients", ask.clients_path, ask.clients, may.clients),
            ("provisioned_iops", _IOPS_PATH, ask.iops, may.provisioned_iops),
        ):
            if most is not None and asked > most:
                raise LimitReachedError(
                    f"team {self._team}: {name}: the run asks for {asked:,}, the limit is {most:,}",
                    waiting_helps=False,
                    path=path,
                    value=asked,
                    allowed=Range(most=most),
                )
        for name, limit in (
            ("usd_per_run", may.usd_per_run),
            ("spend_usd_per_month", may.spend_usd_per_month),
        ):
            if limit is None:
                continue
            if ask.usd_most is None:
                raise LimitReachedError(
                    f"team {self._team}: {name}: {words.format_usd(limit)} cannot be enforced: a"
                    " price of"
                    f" the run is not known: {', '.join(ask.missing)}",
                    waiting_helps=False,
                    path=("target",),
                )
            if ask.usd_most > limit:
                raise LimitReachedError(
                    f"team {self._team}: {name}: the run may cost {words.format_usd(ask.usd_most)},"
                    f" the limit is {words.format_usd(limit)}; a budget_usd or a shorter"
                    " time_limit_s"
                    " bounds it",
                    waiting_helps=False,
                    path=_USD_PATH,
                    allowed=_make_range(limit),
                )

    def require_room(
        self, item: Mapping[str, Any], grant: Grant, ask: Ask, held: Iterable[Grant]
    ) -> None:
        """Refuse a run for which there is no room at the moment.

        Args:
            item: The team's counters.
            grant: The share that the run would hold.
            ask: The needs of the run.
            held: The shares of all runs; each may return dollars when its run ends.

        Raises:
            LimitReachedError: There is no room; names the limit.
        """
        fields: dict[str, tuple[FieldPath, str | int | None]] = {
            "concurrent_runs": (("team",), self._team),
            "clients": (ask.clients_path, grant.clients),
            "provisioned_iops": (_IOPS_PATH, grant.iops),
            "spend_usd_per_month": (_USD_PATH, None),
        }
        for name, counter, most, asked in self.bounds(grant):
            used = int(item.get(counter, 0))
            if used + asked > most:
                shown = [used, asked, most]
                path, value = fields[name]
                room: float = most - used
                only_time = ""
                if name == "spend_usd_per_month":
                    room /= MICRO
                    figures = [words.format_usd(value / MICRO) for value in shown]
                    returned = sum(one.usd_micro for one in held if one.month == grant.month)
                    if used - returned + asked > most:
                        only_time = "; only the next month makes room"
                else:
                    figures = [words.format_number(value) for value in shown]
                raise LimitReachedError(
                    f"team {self._team}: {name}: {figures[0]} in use, the run asks for"
                    f" {figures[1]}, the limit is {figures[2]}{only_time}",
                    runs_make_room=not only_time,
                    path=path,
                    value=value,
                    allowed=_make_range(room) if room > 0 and name != "concurrent_runs" else None,
                )

    def bounds(self, grant: Grant) -> list[tuple[str, str, int, int]]:
        """Return each limit: name, counter, highest value, and the run's need."""
        may = self._limits
        bounds: list[tuple[str, str, float | None, int]] = [
            ("concurrent_runs", "runs", may.concurrent_runs, 1),
            ("clients", "clients", may.clients, grant.clients),
            ("provisioned_iops", "iops", may.provisioned_iops, grant.iops),
        ]
        month = may.spend_usd_per_month
        micro = None if month is None else month * MICRO
        bounds.append(("spend_usd_per_month", f"usd_{grant.month}", micro, grant.usd_micro))
        return [(name, c, int(most), asked) for name, c, most, asked in bounds if most is not None]


def _make_range(most: float) -> Range:
    """Return a range up to a number: an integer, or dollars rounded down to cents."""
    cents = math.floor(most * 100)
    return Range(most=cents // 100 if most == int(most) else Decimal(cents).scaleb(-2))
