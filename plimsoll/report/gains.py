"""What each step up in IOPS gained, with its interval; no gain is said as plainly as gain. Pure.

A step leads from one target to the next one that differs from it in its volume alone and promises
more lasting IOPS. Its gain is the ratio of their figures (`plimsoll.report.ratios`). *No gain* is
claimed only where the whole interval lies below `WORTH`; an interval that holds both 1 and more
than that decides nothing.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Literal

from plimsoll.model.experiment_record import Gain
from plimsoll.model.request import EndpointTarget
from plimsoll.model.volumes import limits
from plimsoll.report.experiment_summary import Measured, same_but_for_volume
from plimsoll.report.matrix import figure_of
from plimsoll.report.ratios import Ratio, ratio_of

WORTH = 1.10  # the share that counts as none in a plateau too (`Rules.plateau_share`)

Outcome = Literal["gain", "no gain", "loss", "not decided"]


def gains(rows: Mapping[str, Mapping[str, Measured]]) -> tuple[Gain, ...]:
    """List the steps up in IOPS for each question."""
    return tuple(
        _gain(question, lower, higher)
        for question, row in rows.items()
        for series in _series(row)
        for lower, higher in pairwise(series)
        if lower[2] != higher[2]
    )


Rung = tuple[str, Measured, float]  # the target's name, its cell, lasting IOPS (infinite: no limit)


def _series(row: Mapping[str, Measured]) -> list[list[Rung]]:
    """Targets that differ in their volume alone, by their lasting IOPS."""
    found: dict[str, list[Rung]] = {}
    for name, one in row.items():
        key, iops = same_but_for_volume(one), lasting_iops(one)
        if key is not None and iops is not None:
            found.setdefault(key, []).append((name, one, iops))
    return [sorted(series, key=lambda rung: rung[2]) for series in found.values()]


def lasting_iops(one: Measured) -> float | None:
    """The rate that the volume promises to keep; infinite: no limit, None: an endpoint."""
    target = one.cell.request.target
    if isinstance(target, EndpointTarget):
        return None
    promised = limits(target.volume, service=target.service)
    return float("inf") if promised.baseline_iops is None else promised.baseline_iops


def _gain(question: str, lower: Rung, higher: Rung) -> Gain:
    (below, one, few), (above, other, many) = lower, higher
    results = [found.result for found in (other, one)]
    mine, theirs = (result.capacity if result else None for result in results)
    reach = f"{many:,.0f} IOPS" if many < float("inf") else "no limit"
    silent = [
        name
        for name, result in ((below, one.result), (above, other.result))
        if result is None or figure_of(result) is None
    ]
    ratio = None if silent else ratio_of(above, mine, below, theirs)
    outcome = _outcome(ratio)
    told = _sentence(outcome, ratio, silent)
    return Gain(
        question=question,
        lower=below,
        higher=above,
        lower_iops=few,
        higher_iops=None if many == float("inf") else many,
        outcome=outcome,
        ratio=ratio.value if ratio else None,
        low=ratio.low if ratio else None,
        high=ratio.high if ratio else None,
        sentence=f"{below} to {above} ({few:,.0f} to {reach}): {told}",
    )


def _outcome(ratio: Ratio | None) -> Outcome:
    if ratio is None or ratio.differs is None:
        return "not decided"
    if ratio.differs:
        return "gain" if ratio.value > 1 else "loss"
    return "no gain" if ratio.high is not None and ratio.high <= WORTH else "not decided"


def _sentence(outcome: Outcome, ratio: Ratio | None, silent: list[str]) -> str:
    if ratio is None:
        why = f"no answer from {' and '.join(silent)}" if silent else "both figures are bounds"
        return f"not decided: {why}"
    value = f"{ratio.value:.2f} times the throughput"
    if ratio.low is None or ratio.high is None:
        if ratio.bound == "=":
            return f"not decided: {value}, but without repetitions there is no interval"
        return f"{outcome}: {'at least' if ratio.bound == '>=' else 'at most'} {value}"
    tails = {
        "no gain": f", at most {ratio.high - 1:.0%} more",
        "not decided": "; the repetitions scatter too much",
    }
    span = f"95 % {ratio.low:.2f} to {ratio.high:.2f}"
    return f"{outcome}: {value} ({span}){tails.get(outcome, '')}"
