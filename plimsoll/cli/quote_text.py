"""A quote on a terminal: time by phase, money by item, and what both rest on."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from plimsoll.cli.output import print_figures
from plimsoll.figures import plural
from plimsoll.model.quote import Amounts, ExperimentQuote, Quote, QuoteLine
from plimsoll.quoting.quotes import sum_of

CENT = 0.005  # items that round to nothing are summed up


def print_quote(name: str, quote: Quote, console: Console) -> None:
    """Print one run's quote."""
    console.print(f"[bold]{name}[/]  {_dated(quote)}", highlight=False)
    print_figures(console, _times(quote))
    print_figures(console, _money(quote.lines, quote.usd))
    _print_end(quote, console)


def print_experiment_quote(name: str, quote: ExperimentQuote, console: Console) -> None:
    """Print an experiment's quote: each run's time and money, and all money by item."""
    console.print(f"[bold]{name}[/]  {_dated(quote)}", highlight=False)
    table = _table("run", "time", "at most", "at least", "expected", "at most", "")
    for cell in quote.cells:
        table.add_row(cell.name, *_expected_and_most(cell.quote.time_s), *_usd(cell.quote.usd), "")
    runs, batches = plural(len(quote.cells), "run"), plural(quote.batches, "batch", "batches")
    way = f"{runs} in {batches}, {quote.at_once} at once"
    table.add_row("in all", *_expected_and_most(quote.time_s), *_usd(quote.usd), way)
    print_figures(console, table)
    print_figures(console, _money(_together(quote), quote.usd))
    _print_end(quote, console)


def _dated(quote: Quote | ExperimentQuote) -> str:
    return f"list prices of {quote.region}, the oldest of {quote.as_of}" if quote.as_of else ""


def _print_end(quote: Quote | ExperimentQuote, console: Console) -> None:
    if quote.usd is None:
        lacking = ", ".join(quote.missing)
        console.print(
            f"[bold]No sum[/]: no price is known for {lacking}."
            " `plimsoll prices` reads AWS's own list (docs/costs.md).",
            highlight=False,
            soft_wrap=True,
        )
    for note in quote.notes:
        console.print(f"  {note}", highlight=False, soft_wrap=True)


def _together(quote: ExperimentQuote) -> list[QuoteLine]:
    """Add up what the runs are charged for, by what it is and its price."""
    alike: dict[tuple[str, str], list[QuoteLine]] = {}
    for cell in quote.cells:
        for line in cell.quote.lines:
            alike.setdefault((line.what, line.price.name), []).append(line)
    return [
        lines[0].model_copy(
            update={
                "what": lines[0].what + (f", {len(lines)} runs" if len(lines) > 1 else ""),
                "quantity": sum_of([line.quantity for line in lines]),
                "usd": _sum_if_known([line.usd for line in lines]),
            }
        )
        for lines in alike.values()
    ]


def _sum_if_known(parts: list[Amounts | None]) -> Amounts | None:
    known = [part for part in parts if part is not None]
    return sum_of(known) if len(known) == len(parts) else None


def _expected_and_most(time_s: Amounts) -> tuple[str, str]:
    return minutes(time_s.expected), minutes(time_s.most)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, title in enumerate(columns):
        table.add_column(title, justify="left" if index in {0, len(columns) - 1} else "right")
    return table


def _times(quote: Quote) -> Table:
    table = _table("time", "expected", "at most", "assuming")
    for phase in quote.phases:
        table.add_row(
            phase.name, minutes(phase.expected_s), minutes(phase.most_s), phase.assumption
        )
    table.add_row(
        "in all",
        minutes(quote.time_s.expected),
        minutes(quote.time_s.most),
        "at most: until the time limit, and the deletion after it",
    )
    return table


def _money(lines: Sequence[QuoteLine], usd: Amounts | None) -> Table:
    table = _table("money", "at least", "expected", "at most", "price")
    small = [line for line in lines if line.usd and line.usd.most < CENT]
    for line in lines:
        if line not in small:
            table.add_row(line.what, *_usd(line.usd), _price(line))
    if small:
        sums = sum_of([line.usd for line in small if line.usd])
        table.add_row(f"{len(small)} items of under a cent", *_usd(sums), "")
    table.add_row("in all", *_usd(usd), "")
    return table


def _usd(amounts: Amounts | None) -> tuple[str, str, str]:
    if amounts is None:
        return ("not known",) * 3
    return (f"${amounts.least:.2f}", f"${amounts.expected:.2f}", f"${amounts.most:.2f}")


def _price(line: QuoteLine) -> str:
    price = line.price
    if price.usd is None or price.source is None:
        return "not known"
    second = "" if price.source.primary else ", second-hand"
    return f"${price.usd:,.10g}/{price.unit} ({price.source.as_of}{second})"


def minutes(seconds: float) -> str:
    """Write a duration: 56 min, 2 h 15 min."""
    whole = round(seconds / 60)
    return f"{whole} min" if whole < 120 else f"{whole // 60} h {whole % 60:02} min"
