"""The 2 x 2s of an experiment as a table. Pure."""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.model.factorial import Effect, Factorial
from plimsoll.report.report_tables import ReportCell, ReportTable


def factorials_table(factorials: Sequence[Factorial]) -> ReportTable | None:
    """One row for each 2 x 2 whose effects are known."""
    known = [each for each in factorials if each.gain_on is not None]
    if not known:
        return None
    rows = []
    for each in known:
        assert each.gain_on is not None  # noqa: S101 - those without are left out
        gains = zip(each.beside_levels, each.gain_on, strict=True)
        rows.append(
            (
                ReportCell(each.question),
                ReportCell(f"{each.axis}: {each.levels[0]} to {each.levels[1]}"),
                *(ReportCell(f"{name}: {_times(gain)}", "strong") for name, gain in gains),
                ReportCell(_times(each.main)),
                ReportCell(f"{each.beside}: {_times(each.beside_main)}"),
                ReportCell(_times(each.interaction)),
            )
        )
    columns = (
        "",
        "axis",
        "gain on one",
        "on the other",
        "main effect",
        "of the other",
        "interaction",
    )
    return ReportTable(columns=columns, rows=tuple(rows))


def _times(effect: Effect | None) -> str:
    """A ratio with its interval: `1.41 (1.30 to 1.53)`."""
    if effect is None:
        return words.NOTHING
    return f"{words.ratio(effect.ratio)} ({words.ratio_interval(effect.low, effect.high)})"
