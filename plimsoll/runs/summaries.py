"""A run as lists of runs show it, from its record. Pure."""

from plimsoll.model.api_answers import Progress, RunSummary, ThroughputInterval
from plimsoll.model.run_record import RunFigures, RunRecord

_NO_FLOATS = ("capacity_ops_per_second", "cost_usd")  # decimals as text in the record


def summary_of(record: RunRecord) -> RunSummary:
    """Show a run as a list of runs does."""
    return RunSummary.model_validate(shown(record, RunSummary))


def shown(record: RunRecord, model: type[RunSummary]) -> dict[str, object]:
    """Give the fields of a summary, or of what is more than that, as far as the record has them."""
    values = {name: getattr(record, name) for name in model.model_fields if hasattr(record, name)}
    values |= {name: _number(getattr(record, name)) for name in _NO_FLOATS}
    if record.local:  # the record's is as if on AWS, for the team's spend: nothing was spent
        values["cost_usd"] = None
    values["expected_usd"] = _number(record.quoted_usd)
    values["progress"] = Progress(step=record.step, steps_finished=record.steps_finished)
    return values | (_judged(record.figures) if record.figures else {})


def _judged(figures: RunFigures) -> dict[str, object]:
    interval = None
    if figures.interval is not None:
        low, high = map(float, figures.interval)
        interval = ThroughputInterval(low_ops_per_second=low, high_ops_per_second=high)
    return {
        "axis": figures.axis,
        "bound": figures.bound,
        "interval": interval,
        "curve": tuple((float(load), float(figure)) for load, figure in figures.curve),
    }


def _number(decimal: str | None) -> float | None:
    return None if decimal is None else float(decimal)
