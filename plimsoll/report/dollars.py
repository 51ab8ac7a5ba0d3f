"""Dollars in words: what a target costs an hour, whose price that is, and what a run has cost."""

from plimsoll import words
from plimsoll.model.results import RunResult

AS_IF = (
    "Dollars are AWS list prices set against this machine's throughput: they compare these targets"
    " with one another, and say nothing of AWS."
)


def hourly_usd(result: RunResult, given: float | None = None) -> float | None:
    """Give what the target costs an hour: `given`, else the run's own estimate; None: not known."""
    if given is not None:
        return given
    return result.cost.target_usd_per_hour if result.cost else None


def whose_price(result: RunResult, given: float | None = None) -> str:
    """Say where the price by the hour comes from."""
    if given is not None or result.cost is None:
        return "as given"
    listed = f"list price of {result.cost.region}, {result.cost.as_of}"
    if result.cost.basis == "as-if-on-aws":
        return f"the AWS {listed}, of such a target, against this machine's throughput"
    return listed


def run_cost_words(result: RunResult) -> str | None:
    """Say what the run has cost; None where nothing was spent, or no cost was estimated."""
    cost = result.cost
    if cost is None or cost.basis == "as-if-on-aws":
        return None
    if cost.usd is None:
        return f"not known: no price for {', '.join(cost.missing)}"
    return f"{words.usd(cost.usd)}, estimated by list prices of {cost.region} ({cost.as_of})"
