"""`plimsoll size` on a terminal: measured is solid, predicted is marked."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from plimsoll import words
from plimsoll.cli.output import console, print_figures, table_of
from plimsoll.sizing.answer import Confirmed, Option, Sizing
from plimsoll.sizing.size import target_words
from plimsoll.sizing.sizing import bound_words

SHOWN = 10  # options, unless all are asked for
PREDICTED = "~"  # before a figure that nobody has measured


def print_sizing(answer: Sizing, *, whole: bool) -> None:
    """Print the answer: the sentence, the ranking, what cannot be, and what is assumed."""
    shown = console()
    _say(shown, answer.sentence)
    _say(shown, _asked(answer))
    shown.print()
    rows = answer.options if whole else answer.options[:SHOWN]
    if rows:
        print_figures(shown, _table(rows))
    if len(rows) < len(answer.options):
        more = len(answer.options) - len(rows)
        _say(shown, f"and {words.plural(more, 'more target')}: --all, or --json")
    failing = [option for option in answer.measured if not option.carries]
    if failing:
        _say(shown, "\nMeasured, and does not carry it:")
        print_figures(shown, _table(failing))
    for negative in answer.cannot:
        _say(shown, f"{PREDICTED} {negative.sentence}")
    for one in answer.confirmed:
        _say(shown, confirmed_line(one))
    if answer.growth is not None:
        _say(shown, _growth(answer))
    _say(shown, "\nWhat an operation takes, by operations under way:")
    print_figures(shown, _demands(answer))
    _say(shown, f"\n{PREDICTED} is predicted, not measured. It takes for granted:")
    for text in answer.assumptions:
        _say(shown, f"- {text}")


def confirmed_line(one: Confirmed) -> str:
    """Say what was predicted, what was measured, and the error."""
    error = "" if one.error is None else f", error {one.error:+.0%}"
    measured = words.bounded(words.throughput(one.measured), one.bound)
    return (
        f"confirmed: {target_words(one.target)}: predicted {words.throughput(one.predicted)}"
        f" ({words.rate(one.low)} to {words.rate(one.high)}), measured {measured}{error}"
    )


def _say(shown: Console, text: str) -> None:
    shown.print(text, markup=False, highlight=False, soft_wrap=True)


def _asked(answer: Sizing) -> str:
    limits = ", ".join(f"{n} {words.latency(us)}" for n, us in answer.limits_us.items())
    return (
        f"asked: {words.throughput(answer.want_ops_per_second)} within {answer.statistic} {limits};"
        f" a load line of {words.rate(answer.required_ops_per_second)} leaves"
        f" {words.percent(answer.headroom)}; list prices of {answer.region} ({answer.as_of}),"
        " a single zone, 730 hours a month"
    )


def _table(options: tuple[Option, ...] | list[Option]) -> Table:
    table = table_of(
        "$/month",
        "target",
        "sustains ops/s",
        "binds first",
        "next",
        "p at load",
        "",
        right=("$/month", "sustains ops/s"),
    )
    for option in options:
        table.add_row(*_row(option), style="" if option.status == "measured" else "dim")
    return table


def _row(option: Option) -> Iterator[str]:
    yield words.NOTHING if option.usd_per_month is None else f"{option.usd_per_month:,.2f}"
    yield target_words(option.target)
    mark = "" if option.status == "measured" else PREDICTED
    between = ""
    if option.low is not None and option.high is not None:
        between = f" ({words.rate(option.low)} to {words.rate(option.high)})"
    yield f"{mark}{words.rate(option.ops_per_second)}{between}"
    yield words.NOTHING if option.binds is None else bound_words(option.binds)
    yield (
        words.NOTHING
        if option.next is None
        else f"{bound_words(option.next)} at {PREDICTED}{words.rate(option.next.ops_per_second)}"
    )
    latencies = option.latency_us or {}
    yield ", ".join(f"{n} {mark}{words.latency(g.mid)}" for n, g in latencies.items())
    yield f"measured: {option.run}" if option.run else "predicted" if option.sure else "perhaps"


def _demands(answer: Sizing) -> Table:
    columns = (
        "under way",
        "ops/s",
        "I/Os",
        "read",
        "written",
        "KiB",
        "CPU",
        "log flushes",
        "locks",
    )
    table = table_of(*columns, right=columns)
    for load, demand in answer.demands:
        table.add_row(
            words.rate(load),
            words.rate(demand.ops_per_second),
            _figure(demand.ios),
            _figure(demand.read_ios),
            _figure(demand.write_ios),
            _figure(None if demand.mib is None else 1024 * demand.mib),
            words.latency(None if demand.cpu_s is None else 1e6 * demand.cpu_s),
            _figure(demand.log_flushes),
            words.latency(None if demand.lock_wait_s is None else 1e6 * demand.lock_wait_s),
        )
    return table


def _figure(value: float | None) -> str:
    return words.NOTHING if value is None else words.three_figures(value)


def _growth(answer: Sizing) -> str:
    found, best = answer.growth, answer.options[0]
    assert found is not None  # noqa: S101 - asked by its caller
    times = f"a load that grows {words.number(round(found.times_per_year, 3))} times a year"
    if found.until is None:
        return f"{target_words(best.target)} carries {times} for more than a century"
    return (
        f"{target_words(best.target)} carries {times} until {found.until:%B %Y}"
        f" ({found.years:.1f} years), without headroom for {found.years_without_headroom:.1f} years"
    )
