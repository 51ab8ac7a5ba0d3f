"""The ranking of everything that could be bought, computed from a run and a wish. Pure."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from plimsoll import words
from plimsoll.errors import UsageError
from plimsoll.model.aws.prices import PriceTable
from plimsoll.model.aws.volumes import Volume
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.sizing.answer import Growth, Negative, Option, Outlook
from plimsoll.sizing.caps import Caps, Made, assume_speed, find_caps, replace_processors
from plimsoll.sizing.offers import (
    Ladder,
    change_class,
    change_volume,
    list_classes,
    list_storages,
    list_volume_ladders,
    price_monthly,
)
from plimsoll.sizing.predict import Bound, Calibrated, Prediction, predict, predict_latencies

NOTHING_MORE = "nothing carries this; "


@dataclass(frozen=True)
class Wish:
    """The load to carry, and under which conditions.

    Attributes:
        ops_per_second: The load.
        limits_us: The highest latency of each operation, in microseconds.
        headroom: The share of the load line that stays free.
        least_gib: The smallest volume that holds the data.
    """

    ops_per_second: float
    limits_us: Mapping[str, float]
    headroom: float
    least_gib: int

    @property
    def required(self) -> float:
        """The load line that is needed, in operations per second."""
        return self.ops_per_second / (1 - self.headroom)

    @property
    def in_words(self) -> str:
        """The load with its headroom: `2,000 ops/s with 30 % to spare`."""
        spare = f" with {words.format_percent(self.headroom)} to spare" if self.headroom else ""
        return f"{words.format_throughput(self.ops_per_second)}{spare}"


@dataclass(frozen=True)
class Sizer:
    """Predicts targets of the same kind as the one that was measured.

    Attributes:
        known: The calibrated profile of the run.
        base: The run's target.
        wish: The wanted load and limits.
        prices: The prices for the ranking.
        local: Whether the run used one machine as a stand-in for AWS.
    """

    known: Calibrated
    base: Made
    wish: Wish
    prices: PriceTable
    local: bool
    _found: dict[Caps, Prediction] = field(default_factory=dict)

    def predict(self, target: Made, *, processors: int | None = None) -> Prediction:
        """Predict a target's load line.

        Args:
            target: The target on AWS.
            processors: The processors of the machine that stands in for it; None to predict AWS.
        """
        caps = self._caps(target)
        if processors is not None:
            caps = replace_processors(find_caps(target, lasting=False), processors)
        key = caps.model_copy(update={"family": ""})
        if key not in self._found:
            self._found[key] = predict(self.known, caps, self.wish.limits_us)
        return self._found[key]

    def predict_run(self, target: Made) -> Prediction:
        """Predict what a run of a target measures where the known run was made.

        On one machine its processors stand in for those of the class.
        """
        own = self.known.profile.own.processors
        here = round(own) if self.local and own is not None else None
        return self.predict(target, processors=here)

    def _caps(self, target: Made) -> Caps:
        return assume_speed(find_caps(target), self.known.profile.own, local=self.local)

    def list_options(self) -> Iterator[Option]:
        """Predict targets of each class and type of volume, except those that do not carry it.

        For each class and type these are the cheapest that surely carries the load, the cheapest
        whose figure reaches it, and if there is none of these, the cheapest that may carry it.
        """
        for name in self.list_classes():
            on_class = change_class(self.base, name)
            if isinstance(on_class, AuroraTarget):
                found: list[Made] = list(list_storages(on_class))
            else:
                found = [change_volume(on_class, volume) for volume in self._volumes(on_class)]
            options = [self.make_option(target) for target in found]
            yield from (option for option in options if option.outlook != "does not carry")

    def list_classes(self) -> list[str]:
        """List the classes to rank, cheapest first.

        Classes whose memory is too small to predict from the run are left out.
        """
        return [
            name
            for name in list_classes(self.base, self.prices)
            if self.knows_memory_of(change_class(self.base, name))
        ]

    def knows_memory_of(self, target: Made) -> bool:
        """Whether page reads with the target's memory can be predicted.

        If the effect of memory is unknown, reads with less memory than the run's could be anything.
        """
        own = self.known.profile.own
        if self.known.profile.pool is not None or own.memory_gib is None:
            return True
        caps = find_caps(target)
        smaller_pool = caps.pool_bytes is not None and caps.pool_bytes < (own.pool_bytes or 0)
        return (caps.memory_gib or 0.0) >= own.memory_gib and not smaller_pool

    def _volumes(self, on_class: Made) -> Iterator[Volume]:
        """Yield the volumes of each type that are worth listing on a class, without repetition."""
        assert not isinstance(on_class, AuroraTarget)  # noqa: S101 - its storage is no volume
        ladders: dict[str, list[Ladder]] = {}
        for ladder in list_volume_ladders(on_class, self.wish.least_gib):
            ladders.setdefault(ladder.type, []).append(ladder)
        for same_type in ladders.values():
            sure = self._cheapest(on_class, same_type, lambda found: found.low)
            likely = self._cheapest(on_class, same_type, lambda found: found.ops_per_second)
            if likely is None:
                likely = self._cheapest(on_class, same_type, lambda found: found.high)
            if sure is not None:
                yield sure
            if likely is not None and likely != sure:
                yield likely

    def _cheapest(
        self,
        on_class: RdsTarget | CassandraTarget,
        ladders: Sequence[Ladder],
        figure: Callable[[Prediction], float],
    ) -> Volume | None:
        """Return the cheapest volume one of whose figures reaches the load line that is needed."""

        def reaches(volume: Volume) -> bool:
            return figure(self.predict(change_volume(on_class, volume))) >= self.wish.required

        def usd(volume: Volume) -> float:
            price = price_monthly(change_volume(on_class, volume), self.prices).usd
            return float("inf") if price is None else price

        smallest = (ladder.find_smallest(reaches) for ladder in ladders)
        return min((volume for volume in smallest if volume is not None), key=usd, default=None)

    def make_option(self, target: Made) -> Option:
        """Describe a target with its prediction."""
        found, price = self.predict(target), price_monthly(target, self.prices)
        outlook = self.judge(found)
        return Option(
            status="predicted",
            target=target,
            usd_per_month=price.usd,
            items=price.items,
            ops_per_second=found.ops_per_second,
            low=found.low,
            high=found.high,
            binds=found.binds,
            next=found.next,
            latency_us=predict_latencies(self.known, self._caps(target), self.wish.ops_per_second),
            carries=found.ops_per_second >= self.wish.required,
            sure=outlook != "may carry",
            outlook=outlook,
        )

    def judge(self, found: Prediction) -> Outlook:
        """Judge by the prediction interval whether a target carries the load with the headroom."""
        if found.low >= self.wish.required:
            return "carries"
        return "does not carry" if found.high < self.wish.required else "may carry"

    def list_negatives(self, carrying: Sequence[Option]) -> Iterator[Negative]:
        """Yield the volume types that do not carry the load, on the run's own class and on any."""
        if isinstance(self.base, AuroraTarget):
            return
        own_class = self.base.instance_class
        carried = {
            (option.target.instance_class, option.target.volume.type)
            for option in carrying
            if isinstance(option.target, RdsTarget | CassandraTarget)
        }
        if not carried:
            yield from self._find_largest()
        best: dict[str, Prediction] = {}
        for ladder in list_volume_ladders(self.base, self.wish.least_gib):
            if (own_class, ladder.type) in carried or ladder.top is None:
                continue
            found = self.predict(change_volume(self.base, ladder.top))
            known = best.get(ladder.type)
            if known is None or known.high < found.high:
                best[ladder.type] = found
        for kind, found in best.items():
            if self.judge(found) == "does not carry":
                yield _describe_negative(kind, own_class, found)

    def _find_largest(self) -> Iterator[Negative]:
        """Yield the highest prediction among all classes and volumes."""
        found = [
            (self.predict(change_volume(on_class, ladder.top)), name, ladder.type)
            for name in self.list_classes()
            for on_class in (change_class(self.base, name),)
            if not isinstance(on_class, AuroraTarget)
            for ladder in list_volume_ladders(on_class, self.wish.least_gib)
            if ladder.top is not None
        ]
        if found:
            most, name, kind = max(found, key=lambda one: one[0].ops_per_second)
            yield _describe_negative(kind, name, most, beginning=f"{NOTHING_MORE}the most is")


def _describe_negative(
    kind: str, name: str, found: Prediction, *, beginning: str | None = None
) -> Negative:
    what = f"{kind} on {name}"
    at = words.format_throughput(found.ops_per_second)
    beginning = f"{beginning} {what}" if beginning else f"no {kind} carries this on {name}"
    why = f"{describe_bound(found.binds)} binds at {at}"
    if not found.ops_per_second:
        why = "even a single operation at a time takes longer than its limit"
    return Negative(
        what=what,
        ops_per_second=found.ops_per_second,
        binds=found.binds,
        sentence=f"{beginning}: {why}",
    )


def describe_bound(bound: Bound) -> str:
    """Name a bound's resource and owner: `storage IOPS of the instance`."""
    name = words.RESOURCES[bound.resource]
    storage = bound.resource in {"storage_iops", "storage_throughput"}
    return f"{name} of the instance" if storage and bound.owner == "instance" else name


def describe_carrying(
    name: str, wish: Wish, usd_per_month: float | None, outlook: Outlook = "carries"
) -> str:
    """Describe what carries a load, and its price: `X carries 2,000 ops/s for $100 a month`."""
    return f"{name} {outlook} {wish.in_words} {describe_price(usd_per_month)}"


def describe_price(usd_per_month: float | None) -> str:
    """Describe a price: `for $137 a month`."""
    if usd_per_month is None:
        return "at a price that is not known"
    return f"for {words.format_monthly_usd(usd_per_month)} a month"


def rank_options(options: Sequence[Option]) -> tuple[Option, ...]:
    """Rank those that surely carry the load by price, then the cheaper ones that may.

    Of these, the ones whose figure reaches the load line that is needed come first.
    """
    ordered = sort_options(options)
    sure = [option for option in ordered if option.outlook == "carries"]
    most_usd = sure[0].usd_per_month if sure else None
    cheaper = [
        option
        for option in ordered
        if option.outlook == "may carry"
        and (not sure or _costs_less(option.usd_per_month, most_usd))
    ]
    return (*sure, *sorted(cheaper, key=lambda option: not option.carries))


def _costs_less(usd: float | None, most_usd: float | None) -> bool:
    return usd is not None and (most_usd is None or usd < most_usd)


def sort_options(options: Iterable[Option]) -> list[Option]:
    """Sort by monthly price; at equal price measured options first, then the highest figure."""
    return sorted(
        options,
        key=lambda o: (
            o.usd_per_month is None,
            o.usd_per_month or 0.0,
            o.status != "measured",
            -(o.ops_per_second or 0.0),
        ),
    )


# How long an option carries a load that grows by a constant factor each year.


_FORM = re.compile(
    r"(?:(\d{1,4}(?:\.\d{1,4})?)x|(\d{1,4}(?:\.\d{1,4})?) ?%)/(year|month)", re.ASCII
)
DAYS_PER_YEAR = 365.25
BEYOND_YEARS = 100.0  # no date is given for a load line that lasts longer


def parse_growth(text: str, option: str) -> float:
    """Parse a growth such as `2x/year`, `30%/year` or `3%/month`; returns the factor per year.

    Raises:
        UsageError: The text is not a growth, or the factor is not above 1.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{option}: {text!r} is not a growth: write 2x/year, 30%/year or 3%/month")
    times, percent, period = found.groups()
    factor = float(times) if times else 1 + float(percent) / 100
    if factor <= 1:
        raise UsageError(f"{option}: {text!r} does not grow: write more than 1x, or more than 0%")
    return factor**12 if period == "month" else factor


_YEARS = re.compile(r"(\d{1,2}(?:\.\d{1,2})?) ?(y|years?|months?)", re.ASCII)


def parse_horizon(text: str, option: str) -> float:
    """Parse a time such as `2y` or `18months`; returns years.

    Raises:
        UsageError: The text is not such a time, or it is 0.
    """
    found = _YEARS.fullmatch(text.strip())
    years = float(found[1]) / (12 if found[2].startswith("m") else 1) if found else 0.0
    if not years:
        raise UsageError(f"{option}: {text!r} is not a time from today: write 2y or 18months")
    return years


def project_growth(
    line_ops_per_second: float,
    want_ops_per_second: float,
    *,
    headroom: float,
    times_a_year: float,
    today: date,
    most_ops_per_second: float | None = None,
) -> Growth:
    """Compute how long a load line suffices: log(line / load) / log(growth) years.

    Args:
        line_ops_per_second: The load line.
        want_ops_per_second: The load of today.
        headroom: The share of the load line that stays free.
        times_a_year: The yearly growth factor of the load.
        today: The date from which growth counts.
        most_ops_per_second: The high end of the load line's interval; None if it has none.
    """

    def years(line: float) -> float:
        ratio = line / want_ops_per_second
        return max(0.0, math.log(ratio) / math.log(times_a_year)) if ratio > 0 else 0.0

    lasting = years(line_ops_per_second * (1 - headroom))
    until = today + timedelta(days=lasting * DAYS_PER_YEAR) if lasting < BEYOND_YEARS else None
    return Growth(
        times_per_year=times_a_year,
        years=lasting,
        until=until,
        years_without_headroom=years(line_ops_per_second),
        years_at_most=None
        if most_ops_per_second is None
        else years(most_ops_per_second * (1 - headroom)),
    )
