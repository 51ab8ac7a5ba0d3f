"""What a toggle showed, in words and as a table."""

from plimsoll import words
from plimsoll.model.paired import PairedRatio
from plimsoll.model.toggle import StateFigures, ToggleResult
from plimsoll.report.report_tables import ReportCell, ReportTable


def toggle_facts(found: ToggleResult) -> list[str]:
    """Say what stands beside the finding: each state's figure and settings, and the latencies."""
    lines = [
        f"{state.name}: {words.throughput(state.throughput_ops_per_second)} ({_what(state)})"
        for state in found.states
    ]
    statistic = words.statistic(found.statistic)
    lines += [
        f"{name} {statistic}: {words.ratio(ratio.ratio)} times ({_interval(ratio)})"
        for name, ratio in found.latency.items()
        if ratio.ratio is not None
    ]
    if found.left_out:
        lines.append(f"{words.plural(found.left_out, 'step')} of the pairs left out")
    return lines


def toggle_table(found: ToggleResult | None) -> ReportTable | None:
    """One row for the throughput, each latency and each parameter; one column for each state."""
    if found is None:
        return None
    first, second = found.states
    statistic = words.statistic(found.statistic)
    rows = [
        (
            "throughput, ops/s",
            *(words.rate(state.throughput_ops_per_second) for state in found.states),
            *_cells(found.throughput),
        ),
        *(
            (f"{name}, {statistic} latency", words.NOTHING, words.NOTHING, *_cells(ratio))
            for name, ratio in found.latency.items()
        ),
        *(
            [("reached at", first.endpoint, second.endpoint or "", "", "")]
            if first.endpoint
            else []
        ),
        *(
            (name, _told(first, name), _told(second, name), "", "")
            for name in sorted(first.parameters)
        ),
    ]
    columns = ("", first.name, second.name, f"{second.name} / {first.name}", "95 % interval")
    cells = tuple(tuple(ReportCell(text) for text in row) for row in rows)
    return ReportTable(columns=columns, rows=cells)


def _cells(ratio: PairedRatio) -> tuple[str, str]:
    value = words.NOTHING if ratio.ratio is None else words.ratio(ratio.ratio)
    return value, _interval(ratio)


def _interval(ratio: PairedRatio) -> str:
    return words.ratio_interval(ratio.low, ratio.high)


def _told(state: StateFigures, parameter: str) -> str:
    """A parameter as the server has it; where it does not tell, as it was asked for."""
    return state.server_says.get(parameter, f"{state.parameters[parameter]} (as asked)")


def _what(state: StateFigures) -> str:
    """Say what makes a state, and whether the server has told so."""
    if state.endpoint is not None:
        return f"reached at {state.endpoint}"
    doubt = "" if state.server_says else ", not confirmed by the server"
    return f"{_settings(state.server_says or state.parameters)}{doubt}"


def _settings(values: dict[str, str] | dict[str, str | int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())
