"""A quote on a terminal: time by phase, money by item, and what both rest on."""

from rich.console import Console
from rich.table import Table

from plimsoll.model.quote import Amounts, Quote, QuoteLine

CENT = 0.005  # items that round to nothing are summed up


def print_quote(name: str, quote: Quote, console: Console) -> None:
    """Print one run's quote."""
    dated = f"list prices of {quote.region}, the oldest of {quote.as_of}" if quote.as_of else ""
    console.print(f"[bold]{name}[/]  {dated}", highlight=False)
    console.print(_times(quote))
    console.print(_money(quote))
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


def _money(quote: Quote) -> Table:
    table = _table("money", "at least", "expected", "at most", "price")
    small = [line for line in quote.lines if line.usd and line.usd.most < CENT]
    for line in quote.lines:
        if line not in small:
            table.add_row(line.what, *_usd(line.usd), _price(line))
    if small:
        sums = Amounts(
            least=sum(line.usd.least for line in small if line.usd),
            expected=sum(line.usd.expected for line in small if line.usd),
            most=sum(line.usd.most for line in small if line.usd),
        )
        table.add_row(f"{len(small)} items of under a cent", *_usd(sums), "")
    table.add_row("in all", *_usd(quote.usd), "")
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
