"""What each step up in IOPS gained, with its interval; a gain of nothing is an answer too. Pure.

A step leads from one target to the next one that differs from it in its volume alone and promises
more lasting IOPS. Its gain is the ratio of their figures (`plimsoll.report.ratios`). *No gain* is
claimed only where the whole interval lies below `WORTH`; an interval that holds both 1 and more
than that decides nothing. Over a target that fails at the lightest load a gain is a bound.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Literal

from plimsoll import words
from plimsoll.model.aurora_target import AuroraTarget
from plimsoll.model.endpoint_target import EndpointTarget
from plimsoll.model.experiment_record import Gain
from plimsoll.model.volumes import limits
from plimsoll.report.experiment_summary import CellRun, answers, same_but_for_volume
from plimsoll.report.pairing import ratio_between
from plimsoll.report.ratios import WORTH, Ratio

GainOutcome = Literal["gain", "no gain", "loss", "not decided"]


def gains(
    rows: Mapping[str, Mapping[str, CellRun]], *, apart_s: float | None = None
) -> tuple[Gain, ...]:
    """List the steps up in IOPS for each question.

    Args:
        rows: {question: {target: cell}}.
        apart_s: The most seconds from one step to the other of a pair, where some took turns.
    """
    return tuple(
        _gain(question, lower, higher, apart_s)
        for question, row in rows.items()
        for series in _series(row)
        for lower, higher in pairwise(series)
        if lower[2] != higher[2]
    )


Rung = tuple[str, CellRun, float]  # the target's name, its cell, lasting IOPS (infinite: no limit)


def _series(row: Mapping[str, CellRun]) -> list[list[Rung]]:
    """Targets that differ in their volume alone, by their lasting IOPS."""
    by_target: dict[str, list[Rung]] = {}
    for name, run in row.items():
        key, iops = same_but_for_volume(run), lasting_iops(run)
        if key is not None and iops is not None:
            by_target.setdefault(key, []).append((name, run, iops))
    return [sorted(series, key=lambda rung: rung[2]) for series in by_target.values()]


def lasting_iops(run: CellRun) -> float | None:
    """The IOPS that the volume promises to keep; infinite: no limit, None: it has none."""
    target = run.cell.request.target
    if isinstance(target, EndpointTarget | AuroraTarget):
        return None
    promised = limits(target.volume, service=target.service)
    return float("inf") if promised.baseline_iops is None else promised.baseline_iops


def _gain(question: str, lower: Rung, higher: Rung, apart_s: float | None) -> Gain:
    (below, below_run, few), (above, above_run, many) = lower, higher
    silent = [name for name, run, _ in (lower, higher) if not answers(run)]
    ratio = None
    if below_run.result and above_run.result:
        ratio = ratio_between(above, above_run.result, below, below_run.result, apart_s=apart_s)
    outcome = _outcome(ratio)
    reach = f"{words.number(many)} IOPS" if many < float("inf") else "no limit"
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
        pairs=ratio.pairs if ratio else None,
        sentence=f"{below} to {above} ({words.number(few)} to {reach}):"
        f" {_sentence(outcome, ratio, silent)}",
    )


def _outcome(ratio: Ratio | None) -> GainOutcome:
    if ratio is None or ratio.differs is None:
        return "not decided"
    if ratio.differs:
        return "gain" if ratio.value > 1 else "loss"
    return "no gain" if ratio.high is not None and ratio.high <= WORTH else "not decided"


def _sentence(outcome: GainOutcome, ratio: Ratio | None, silent: list[str]) -> str:
    if ratio is None:
        why = f"no answer from {' and '.join(silent)}" if silent else "both figures are bounds"
        return f"not decided: {why}"
    value = f"{words.ratio(ratio.value)} times the throughput"
    if ratio.low is None or ratio.high is None:
        if ratio.bound == "=":
            return f"not decided: {value}, but without repetitions there is no interval"
        return f"{outcome}: {'at least' if ratio.bound == '>=' else 'at most'} {value}"
    tails = {
        "no gain": f", at most {words.percent(ratio.high - 1)} more",
        "not decided": "; the repetitions scatter too much",
    }
    interval = f"95 % {words.ratio_interval(ratio.low, ratio.high)}"
    interval += f", {ratio.pairs} pairs" if ratio.pairs else ""
    return f"{outcome}: {value} ({interval}){tails.get(outcome, '')}"
