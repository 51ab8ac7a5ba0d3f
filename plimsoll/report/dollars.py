"""Dollars in words: what a target costs an hour, whose price that is, and what a run has cost."""

from plimsoll import words
from plimsoll.model.results import RunResult

AS_IF = (
    "Dollars are AWS list prices set against this machine's throughput: they compare these targets"
    " with one another, and say nothing of AWS."
)


def hourly_usd(result: RunResult, given: float | None = None) -> float | None:
    """Give what the target costs an hour: `given`, else the run's own estimate; None: not known.

    Where its I/Os are charged, those of the answer's load are in it.
    """
    if given is not None:
        return given
    cost = result.cost
    if cost is None or cost.target_usd_per_hour is None:
        return None
    if cost.io is None or cost.io.usd == 0:
        return cost.target_usd_per_hour
    capacity, each = result.capacity, cost.io.usd_per_million_operations
    figure = capacity.max_sustainable_throughput_ops_per_second if capacity else None
    if each is None or figure is None:
        return None
    return cost.target_usd_per_hour + each * figure * 3600 / 1e6


def why_no_dollars(result: RunResult) -> str:
    """Say why it is not known what the target costs an hour."""
    cost = result.cost
    if cost is None:
        return "no cost was estimated"
    if cost.missing:
        return f"no price is known of {', '.join(cost.missing)}"
    if cost.target_usd_per_hour is None:
        return "what an endpoint costs is not known here"
    return "its I/Os are charged, and were not counted"


def whose_price(result: RunResult, given: float | None = None) -> str:
    """Say where the price by the hour comes from."""
    if given is not None or result.cost is None:
        return "as given"
    charged = result.cost.io is not None and result.cost.io.usd != 0
    listed = f"list price of {result.cost.region}, {result.cost.as_of}"
    if charged:
        listed += ", its I/Os at this load among it"
    if result.cost.basis == "as-if-on-aws":
        return f"the AWS {listed}, of such a target, against this machine's throughput"
    return listed


def run_cost_words(result: RunResult) -> str | None:
    """Say what the run has cost; None where nothing was spent, or no cost was estimated."""
    cost = result.cost
    if cost is None or cost.basis == "as-if-on-aws":
        return None
    of_io = f"; {cost.io.sentence}" if cost.io else ""
    if cost.usd is None:
        why = f": no price for {', '.join(cost.missing)}" if cost.missing else ""
        return f"not known{why}{of_io}"
    listed = f"estimated by list prices of {cost.region} ({cost.as_of})"
    return f"{words.usd(cost.usd)}, {listed}{of_io}"
