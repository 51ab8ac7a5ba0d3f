"""Tables and sentences of an answer of `plimsoll size`, in which predictions are marked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from plimsoll import words
from plimsoll.model.clouds.volume_rules import CLOUD_NAMES
from plimsoll.model.request.boundary import Boundary
from plimsoll.model.request.descriptions import describe_volume
from plimsoll.quoting.cloud_prices import describe_age
from plimsoll.report.tables import ReportCell, ReportTable
from plimsoll.sizing.answer import CloudOption, Confirmed, Growth, Option, Sizing
from plimsoll.sizing.rank import describe_bound
from plimsoll.sizing.size import name_purchase

PREDICTED = "~"  # prefix of each predicted figure
MARKED = f"{PREDICTED} is predicted, not measured"
OPTION_COLUMNS = (
    "", "$/month", "target", "sustains ops/s", "binds first", "next", "latency under this load",
)  # fmt: skip
DEMAND_COLUMNS = (
    "concurrent", "ops/s", "I/Os", "read", "written", "KiB", "CPU", "log flushes", "locks",
)  # fmt: skip


SHOWN = 5  # most targets on the page of a run; the page of `plimsoll size` has all


@dataclass(frozen=True)
class Ranking:
    """What a run's page says about what to buy.

    Attributes:
        warning: Why the run is weak ground for a purchase; None if it is not.
        sentence: The answer.
        asked: What was asked.
        marked: The legend that tells predicted from measured.
        lines: Impossible targets, confirmations, and how long the cheapest suffices.
        options: The targets that carry the load or may, cheapest first; None if none does.
        more: The number of further ones in words; empty if there are none.
    """

    warning: str | None
    sentence: str
    asked: str
    marked: str
    lines: tuple[str, ...]
    options: ReportTable | None
    more: str


def build_ranking(answer: Sizing) -> Ranking:
    """Return what the page of a run shows of the sizing made from it."""
    left = len(answer.options) - SHOWN
    return Ranking(
        warning=answer.warning,
        sentence=answer.sentence,
        asked=describe_question(answer),
        marked=MARKED,
        lines=tuple(describe_further(answer)),
        options=make_options_table(answer.options[:SHOWN]) if answer.options else None,
        more=f"And {words.format_count(left, 'more target')}: plimsoll size -o FILE.html has all."
        if left > 0
        else "",
    )


def make_options_table(options: Sequence[Option]) -> ReportTable:
    """Build a table with one row for each target; predicted cells have the kind `predicted`."""
    rows = []
    for option in options:
        kind = "strong" if option.status == "measured" else "predicted"
        rows.append(tuple(ReportCell(text, kind) for text in _list_cells(option)))
    return ReportTable(columns=OPTION_COLUMNS, rows=tuple(rows))


CLOUD_COLUMNS = (
    "", "$/month", "target", "sustains ops/s", "binds first", "next", "prices of",
)  # fmt: skip


def list_managed_options(answer: Sizing) -> list[Option | CloudOption]:
    """List the managed databases of all asked clouds, cheapest first; RDS's among them."""
    assert answer.clouds is not None  # noqa: S101 - the caller has asked for clouds
    on_aws = answer.options if "aws" in answer.clouds.clouds else ()
    every: list[Option | CloudOption] = [*on_aws, *answer.clouds.managed]
    return sorted(every, key=lambda o: (o.usd_per_month is None, o.usd_per_month or 0.0))


def shorten(options: Sequence[Option | CloudOption], most: int) -> list[Option | CloudOption]:
    """Keep the cheapest volume of each instance, `most` in all, and the cheapest of every cloud."""
    cheapest: dict[tuple[str, str], Option | CloudOption] = {}
    for option in options:
        cheapest.setdefault(_find_instance(option), option)
    first = [*cheapest.values()][:most]
    seen = {_find_instance(option)[0] for option in first}
    for (cloud, _), option in cheapest.items():
        if cloud not in seen:
            seen.add(cloud)
            first.append(option)
    return first


def _find_instance(option: Option | CloudOption) -> tuple[str, str]:
    if isinstance(option, CloudOption):
        return option.cloud, option.instance
    return "aws", option.target.instance_class


def make_clouds_table(
    options: Sequence[Option | CloudOption], region: str, as_of: date | None, today: date
) -> ReportTable:
    """Build a table of targets of several clouds, one row each.

    Args:
        options: The targets.
        region: The region of AWS's prices.
        as_of: The day of the oldest of AWS's prices.
        today: The day on which the ages of prices are told.
    """
    rows = []
    for option in options:
        if isinstance(option, Option):
            kind = "strong" if option.status == "measured" else "predicted"
            cells = [*_list_cells(option)][:-1]
            cells[2] = f"AWS {region}: {cells[2]}"
            oldest = as_of
        else:
            kind, cells = "predicted", [*_list_cloud_cells(option)]
            oldest = option.as_of
        cells.append(words.NOTHING if oldest is None else describe_age(oldest, today))
        rows.append(tuple(ReportCell(text, kind) for text in cells))
    return ReportTable(columns=CLOUD_COLUMNS, rows=tuple(rows))


def _list_cloud_cells(option: CloudOption) -> Iterator[str]:
    yield "predicted" if option.sure else "perhaps"
    if option.usd_per_month is not None:
        yield f"{option.usd_per_month:,.2f}"
    else:
        known = {item.currency for item in option.items}
        amounts = [item.per_month for item in option.items]
        total = [amount for amount in amounts if amount is not None]
        whole = len(total) == len(amounts) and len(known) == 1
        yield f"{sum(total):,.2f} {known.pop()}" if whole else words.NOTHING
    alone = "" if option.instance_limits_known else " (the volume's limits alone)"
    yield (
        f"{CLOUD_NAMES[option.cloud]} {option.region}: {option.instance},"
        f" {describe_volume(option.volume)}{alone}"
    )
    between = f" ({words.format_rate(option.low)} to {words.format_rate(option.high)})"
    yield f"{PREDICTED}{words.format_rate(option.ops_per_second)}{between}"
    yield describe_bound(option.binds)
    after = option.next
    yield (
        words.NOTHING
        if after is None
        else f"{describe_bound(after)} at {PREDICTED}{words.format_rate(after.ops_per_second)}"
    )


def _list_cells(option: Option) -> Iterator[str]:
    measured = option.status == "measured"
    mark = "" if measured else PREDICTED
    outlook = option.outlook or ("carries" if option.sure else "may carry")
    yield f"{outlook}, measured" if measured else outlook
    usd = option.usd_per_month
    yield words.NOTHING if usd is None else words.format_monthly_usd(usd).removeprefix("$")
    yield name_purchase(option.target) + (f" ({option.run})" if option.run else "")
    between = ""
    if option.low is not None and option.high is not None:
        between = f" ({words.format_rate(option.low)} to {words.format_rate(option.high)})"
    figure = option.ops_per_second
    yield words.NOTHING if figure is None else f"{mark}{words.format_rate(figure)}{between}"
    yield words.NOTHING if option.binds is None else describe_bound(option.binds)
    after = option.next
    yield (
        words.NOTHING
        if after is None
        else (f"{describe_bound(after)} at {mark}{words.format_rate(after.ops_per_second)}")
    )
    latencies = (option.latency_us or {}).items()
    shown = ", ".join(
        f"{name} {mark}{words.format_latency(guess.mid)}" for name, guess in latencies
    )
    yield shown or words.NOTHING


def make_demands_table(answer: Sizing) -> ReportTable:
    """Build a table of the demand per operation, one row for each step, by concurrency."""
    return ReportTable(
        columns=DEMAND_COLUMNS,
        rows=tuple(
            (
                ReportCell(words.format_rate(load)),
                ReportCell(words.format_rate(demand.ops_per_second)),
                _make_figure_cell(demand.ios),
                _make_figure_cell(demand.read_ios),
                _make_figure_cell(demand.write_ios),
                _make_figure_cell(None if demand.mib is None else 1024 * demand.mib),
                ReportCell(words.format_latency(_to_us(demand.cpu_s))),
                _make_figure_cell(demand.log_flushes),
                ReportCell(words.format_latency(_to_us(demand.lock_wait_s))),
            )
            for load, demand in answer.demands
        ),
    )


def _to_us(seconds: float | None) -> float | None:
    return None if seconds is None else 1e6 * seconds


def _make_figure_cell(value: float | None) -> ReportCell:
    return ReportCell(words.NOTHING if value is None else words.format_three_figures(value))


def describe_question(answer: Sizing) -> str:
    """Describe what was asked, and whose prices apply."""
    return f"Asked: {describe_wanted(answer)} ({answer.as_of}), a single zone, 730 hours a month"


def describe_wanted(answer: Sizing | Boundary) -> str:
    """Describe the load to carry, its limits and headroom, and the region of the prices."""
    limits = ", ".join(f"{n} {words.format_latency(us)}" for n, us in answer.limits_us.items())
    return (
        f"{words.format_throughput(answer.want_ops_per_second)} within"
        f" {words.name_statistic(answer.statistic)} {limits}; a load line of"
        f" {words.format_rate(answer.required_ops_per_second)} leaves"
        f" {words.format_percent(answer.headroom)};"
        f" list prices of {answer.region}"
    )


def describe_further(answer: Sizing) -> Iterator[str]:
    """Yield what decides, impossible targets, confirmations, and what carries a grown load."""
    if any(option.outlook == "may carry" for option in answer.options):
        yield _describe_deciding(answer)
    for negative in answer.cannot:
        yield f"{PREDICTED} {negative.sentence}"
    yield from map(describe_confirmation, answer.confirmed)
    if answer.growth is not None and answer.options:
        best = answer.options[0]
        yield f"{name_purchase(best.target)}, {best.outlook} {_describe_growth(answer.growth)}"
    if answer.horizon is not None:
        years = words.format_number(round(answer.horizon.years, 2))
        yield f"the load in {years} years, on as much data: {answer.horizon.sentence}"


def _describe_deciding(answer: Sizing) -> str:
    """Name the command that decides whether a target which may carry the load does."""
    limits = " ".join(f"--limit {name}={us / 1000:.12g}ms" for name, us in answer.limits_us.items())
    asked = f"plimsoll size {answer.run} --want {answer.want_ops_per_second:.12g} {limits}"
    if answer.local:
        return f"To measure whether a target that may carry the load does: {asked} --confirm"
    return "A run on a target that may carry the load decides whether it does"


def describe_confirmation(one: Confirmed) -> str:
    """Describe a confirmation: prediction, measurement and error."""
    error = "" if one.error is None else f", error {one.error:+.0%}"
    measured = words.prepend_bound(words.format_throughput(one.measured), one.bound)
    return (
        f"confirmed: {name_purchase(one.target)}: predicted"
        f" {words.format_throughput(one.predicted)}"
        f" ({words.format_rate(one.low)} to {words.format_rate(one.high)}), measured"
        f" {measured}{error}"
    )


def _describe_growth(found: Growth) -> str:
    times = f"a load that grows {words.format_number(round(found.times_per_year, 3))} times a year"
    if found.until is None:
        return f"{times} for more than a century"
    most = found.years_at_most
    perhaps = "" if most is None or most - found.years < 0.1 else f", and perhaps for {most:.1f}"
    return (
        f"{times} until {found.until:%B %Y} ({found.years:.1f} years{perhaps}), without headroom"
        f" for {found.years_without_headroom:.1f} years"
    )
