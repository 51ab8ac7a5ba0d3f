"""What to buy for a database, from its own history (`plimsoll advise`). Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal

import numpy as np

from plimsoll import words
from plimsoll.model.aws.instances import find_cpu_credits, find_instance_size, instance_limits
from plimsoll.model.aws.prices import PriceTable
from plimsoll.model.aws.volumes import Volume, limits
from plimsoll.model.base import Model
from plimsoll.model.request.descriptions import describe_target
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.run.quote import CostLine
from plimsoll.sizing.answer import Outlook
from plimsoll.sizing.caps import OTHER_FAMILY, SAME_FAMILY
from plimsoll.sizing.lateness import (
    LATE_SHARE,
    Bucket,
    Buckets,
    Bursts,
    History,
    Lateness,
    find_bursts,
    judge,
)
from plimsoll.sizing.offers import (
    Ladder,
    change_class,
    change_volume,
    list_classes,
    list_volume_ladders,
    price_monthly,
)
from plimsoll.sizing.rank import describe_price
from plimsoll.volumes.config import VolumeSettings, make_limit_configs

EXPECTED_SHARE = 0.7 * LATE_SHARE  # the share that is expected at most keeps a margin
CPU_FULL = 0.8  # a minute whose mean CPU use is above this is over the class's limit
IDLE_IOPS, IDLE_CPU = 20.0, 0.05  # an instance that stays below both in 99 % of the minutes is idle
GAPS_TOLD = 0.005  # share of the time without figures from which on it is told
WORTH = 0.1  # share of the price that a change must save to be called over-provisioned
BUCKETS = {
    "peak_iops": "storage IOPS",
    "lasting_iops": "burst credits of the volume",
    "peak_bytes": "storage throughput",
    "lasting_bytes": "burst credits of the volume",
    "instance_peak_iops": "storage IOPS of the instance",
    "instance_lasting_iops": "burst credits of the instance (IOPS)",
    "instance_peak_bytes": "storage throughput of the instance",
    "instance_lasting_bytes": "burst credits of the instance (throughput)",
}
Standing = Literal["idle", "over-provisioned", "at risk", "fits"]


class Choice(Model):
    """A target, its price, and what it would have done with the history."""

    target: RdsTarget
    usd_per_month: float | None  # list price; None if a price is missing
    items: tuple[CostLine, ...]
    late_share: float  # share of I/Os that queue longer than 10 ms; more at a chance of 1 in 10
    late_share_least: float  # the least that the history admits
    late_share_most: float
    minutes_over: float  # share of the periods in which a thousandth of the I/Os are late
    cpu_over: float | None  # share of the periods whose CPU use is too high; None if not known
    credits_left: float | None  # least share of burst credits; None if it has none
    binds: str  # the resource that is nearest to its limit
    outlook: Outlook
    expected: bool  # whether `late_share` and the CPU use are within the limits


class Advice(Model):
    """The answer of `plimsoll advise` for one database."""

    schema_version: Literal[1] = 1
    database: str
    source: Literal["cloudwatch", "server"]
    began: datetime
    ended: datetime
    period_s: float
    periods: int
    factor: float  # today's load times this is what is to be carried
    today: Choice | None  # None if today's volume is not known
    choices: tuple[Choice, ...]  # expected to carry the load: cheapest first
    standing: Standing
    usd_less: float | None  # today's price less that of the first choice
    region: str
    as_of: date | None  # date of the oldest price
    unknown: tuple[str, ...]
    decides: str  # the command that would tell what is not known
    sentence: str


def find_buckets(target: RdsTarget) -> Buckets:
    """Return the limits of a target's volume and instance, as its emulated volume has them."""
    configs = make_limit_configs(
        limits(target.volume, service=target.service),
        instance_limits(target.instance_class),
        VolumeSettings(),
        None,
    )
    return {
        name: Bucket(config.units_per_s, config.credits_max if "lasting" in name else 0.0)
        for name, config in configs.items()
        if config.units_per_s
    }


@dataclass(frozen=True)
class Adviser:
    """Judges targets by a database's history.

    Attributes:
        history: The history, at the load that is to be carried.
        bursts: What its periods may have held, likewise.
        today: The target that the history is of.
        prices: The prices.
    """

    history: History
    bursts: Bursts
    today: RdsTarget
    prices: PriceTable

    @classmethod
    def of(
        cls,
        history: History,
        today: RdsTarget,
        prices: PriceTable,
        *,
        factor: float = 1.0,
        volume_known: bool = True,
    ) -> "Adviser":
        """Read a history; `factor` is by how much its load is to grow."""
        bursts = find_bursts(history, find_buckets(today) if volume_known else None)
        return cls(history.grow(factor), bursts.grow(factor), today, prices)

    def judge(self, target: RdsTarget) -> Lateness:
        """Follow the history through a target's limits."""
        return judge(self.history, self.bursts, find_buckets(target))

    def list_choices(self, least_gib: int, *, classes: bool = False) -> list[Choice]:
        """List what is expected to carry the load, cheapest first.

        For each volume type these are the cheapest that is expected to carry the load and the
        cheapest that surely does; with `classes`, on each class with as much memory, too.
        """
        names = [self.today.instance_class]
        if classes:
            names += [name for name in self._list_classes() if name not in names]
        found: list[Choice] = []
        for name in names:
            for choice in self._list_on(change_class(self.today, name), least_gib):
                if choice not in found:
                    found.append(choice)
        return sort_choices(found)

    def _list_classes(self) -> Iterator[str]:
        """Yield the classes with at least today's memory, except burstable ones."""
        own = find_instance_size(self.today.instance_class)
        for name in list_classes(self.today, self.prices):
            size = find_instance_size(name)
            if (
                own
                and size
                and size.memory_gib >= own.memory_gib
                and find_cpu_credits(name) is None
            ):
                yield name

    def _list_on(self, target: object, least_gib: int) -> Iterator[Choice]:
        assert isinstance(target, RdsTarget)  # noqa: S101 - today's target is one
        by_type: dict[str, list[Ladder]] = {}
        for ladder in list_volume_ladders(target, least_gib):
            by_type.setdefault(ladder.type, []).append(ladder)
        for ladders in by_type.values():
            for end in (1, 2):  # expected, at the worst
                choice = self._find_cheapest(target, ladders, end)
                if choice is not None and choice.expected:
                    yield choice

    def _find_cheapest(self, target: RdsTarget, ladders: list[Ladder], end: int) -> Choice | None:
        def carries(volume: Volume) -> bool:
            made = change_volume(target, volume)
            assert isinstance(made, RdsTarget)  # noqa: S101 - a target keeps its kind
            return self.judge(made).late[end] <= (EXPECTED_SHARE, LATE_SHARE)[end - 1]

        found = [ladder.find_smallest(carries) for ladder in ladders]
        choices = [self.choose(change_volume(target, volume)) for volume in found if volume]
        priced = [choice for choice in choices if choice.usd_per_month is not None]
        return min(priced, key=lambda choice: choice.usd_per_month or 0.0, default=None)

    def choose(self, target: object) -> Choice:
        """Describe a target with what it would have done with the history."""
        assert isinstance(target, RdsTarget)  # noqa: S101 - today's target is one
        found, price = self.judge(target), price_monthly(target, self.prices)
        least, expected, most = found.late
        cpu = self._find_cpu_over(target.instance_class)
        fits = cpu is None or cpu <= LATE_SHARE
        outlook: Outlook = "may carry"
        if not fits or least > LATE_SHARE:
            outlook = "does not carry"
        elif most <= LATE_SHARE:
            outlook = "carries"
        return Choice(
            target=target,
            usd_per_month=price.usd,
            items=price.items,
            late_share=expected,
            late_share_least=least,
            late_share_most=max(most, expected),
            minutes_over=found.over,
            cpu_over=cpu,
            credits_left=found.credits_left,
            binds=BUCKETS[found.binds],
            outlook=outlook,
            expected=fits and expected <= EXPECTED_SHARE,
        )

    def _find_cpu_over(self, name: str) -> float | None:
        """Return the share of the periods in which a class's CPU use is too high.

        A vCPU of another class is taken to be slower by the factor that `plimsoll size` assumes.
        """
        own, size = find_instance_size(self.today.instance_class), find_instance_size(name)
        if self.history.cpu is None or own is None or size is None:
            return None
        factor = 1.0
        if name != self.today.instance_class:
            families = {each.rpartition(".")[0] for each in (name, self.today.instance_class)}
            factor = SAME_FAMILY if len(families) == 1 else OTHER_FAMILY
        use = self.history.cpu * factor * own.vcpus / size.vcpus
        return float(np.mean(use > CPU_FULL))


@dataclass(frozen=True)
class Seen:
    """The history of a database, and what it stands on.

    Attributes:
        database: Name of the database or the instance.
        source: Whether CloudWatch or the server itself told the history.
        target: The target that it stands on; on RDS today, or the class that it is to have.
        volume_known: Whether its volume is the one that it stands on.
        history: The history.
        notes: What the source leaves unknown.
    """

    database: str
    source: Literal["cloudwatch", "server"]
    target: RdsTarget
    volume_known: bool
    history: History
    notes: tuple[str, ...] = ()


def advise(
    seen: Seen,
    prices: PriceTable,
    *,
    factor: float = 1.0,
    least_gib: int | None = None,
    classes: bool = False,
) -> Advice:
    """Say what to buy for a database.

    Args:
        seen: The database's history.
        prices: The prices.
        factor: The load to carry, as a multiple of the history's.
        least_gib: The smallest volume that holds the data; None for today's size.
        classes: Whether to judge other instance classes too.
    """
    history = seen.history
    adviser = Adviser.of(
        history, seen.target, prices, factor=factor, volume_known=seen.volume_known
    )
    today = adviser.choose(seen.target) if seen.volume_known else None
    choices = adviser.list_choices(least_gib or seen.target.volume.size_gib, classes=classes)
    if today is not None and today.expected and today not in choices:
        choices = sort_choices((today, *choices))
    first = choices[0] if choices else None
    less = None
    if first and today and first.usd_per_month is not None and today.usd_per_month is not None:
        less = today.usd_per_month - first.usd_per_month
    begins_s = history.begins_s
    return Advice(
        database=seen.database,
        source=seen.source,
        began=_moment(begins_s[0]),
        ended=_moment(begins_s[-1] + history.period_s),
        period_s=history.period_s,
        periods=len(begins_s),
        factor=factor,
        today=today,
        choices=tuple(choices),
        standing=_find_standing(history, today, less),
        usd_less=less,
        region=prices.region,
        as_of=price_monthly(seen.target, prices).as_of,
        unknown=(*_list_unknown(history), *seen.notes),
        decides=_name_deciding_command(seen),
        sentence=_describe_advice(first, today, less, factor, history),
    )


def sort_choices(choices: Iterable[Choice]) -> list[Choice]:
    """Sort by monthly price; at the same price what is late least comes first."""
    return sorted(
        choices,
        key=lambda choice: (
            choice.usd_per_month is None,
            choice.usd_per_month or 0.0,
            choice.late_share_most,
            -(limits(choice.target.volume, service=choice.target.service).baseline_iops or 0.0),
        ),
    )


def _name_deciding_command(seen: Seen) -> str:
    """Name the command that tells what is not known: seconds after minutes, a run after seconds."""
    if seen.source == "server":
        return "plimsoll workload derive DSN --out work.yaml --request run.yaml, and a run of that"
    return (
        "plimsoll advise DSN --for 1h --class"
        f" {seen.target.instance_class} --size-gib {seen.target.volume.size_gib}"
    )


def _find_gaps(history: History) -> float:
    """Return the share of the time for which the history has no period."""
    span_s = float(history.begins_s[-1] - history.begins_s[0]) + history.period_s
    return max(0.0, 1 - len(history.begins_s) * history.period_s / span_s)


def _moment(epoch_s: float) -> datetime:
    return datetime.fromtimestamp(float(epoch_s), UTC)


def _find_standing(history: History, today: Choice | None, less: float | None) -> Standing:
    quiet = np.quantile(history.rates[:, 0], 0.99) < IDLE_IOPS
    if quiet and history.cpu is not None and np.quantile(history.cpu, 0.99) < IDLE_CPU:
        return "idle"
    if today is not None and not today.expected:
        return "at risk"
    price = today.usd_per_month if today else None
    return "over-provisioned" if less and price and less >= WORTH * price else "fits"


def _list_unknown(history: History) -> Iterator[str]:
    if history.period_s > 1:
        yield (
            f"how high bursts within {words.format_duration(history.period_s)} reach: they are"
            " taken to"
            " last 1 to 20 s, all at about one rate"
        )
    if (gaps := _find_gaps(history)) >= GAPS_TOLD:
        yield f"{words.format_percent(gaps)} of the time, in which no load is assumed"
    if history.queue is None:
        yield "how many I/Os waited, which would rule out short bursts"
    if history.cpu is None:
        yield "the CPU use, so whether the class has enough"
    yield "latencies of operations, and what demand callers gave up while I/Os waited"


def _describe_advice(
    first: Choice | None,
    today: Choice | None,
    less: float | None,
    factor: float,
    history: History,
) -> str:
    span = words.format_duration(
        float(history.begins_s[-1] - history.begins_s[0]) + history.period_s
    )
    load = f"the load of the {span} that were observed"
    if factor != 1:
        load = f"{factor:.3g} times {load}"
    if first is None:
        return f"Nothing on this class is expected to carry {load}: try --classes."
    bought = describe_target(first.target)
    if today is not None and first.target == today.target:
        begins = f"Keep {bought}, {describe_price(first.usd_per_month)}"
    else:
        begins = f"Buy {bought} {describe_price(first.usd_per_month)}"
    if less and today is not None:
        more = "less" if less > 0 else "more"
        begins += f", {words.format_monthly_usd(abs(less))} {more} than today"
    verb = "carries" if first.outlook == "carries" else "is expected to carry"
    late = words.format_percent(first.late_share)
    return (
        f"{begins}. It {verb} {load}: with a probability of 90 % at most {late} of the I/Os"
        f" queue longer than 10 ms ({words.format_percent(LATE_SHARE)} is the limit), at the worst"
        f" {words.format_percent(first.late_share_most)}."
    )
