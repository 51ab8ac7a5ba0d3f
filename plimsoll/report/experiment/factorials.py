"""What each axis of an experiment gains: 2 x 2 factorials, and steps up in IOPS. Pure.

A factorial sets two axes with two variants each against each other, once for each combination of
all other axes. At least one of the two changes the target; otherwise there would be nothing to buy.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Literal

from plimsoll import words
from plimsoll.capacity.statistics.contrasts import estimate_mean
from plimsoll.capacity.statistics.factorial import Effects, estimate_effects
from plimsoll.capacity.statistics.intervals import find_center
from plimsoll.model.aws.volumes import limits
from plimsoll.model.request.boundary import list_patched_paths
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.experiment import Experiment, name_cell
from plimsoll.model.request.rds_target import AuroraTarget
from plimsoll.model.run.experiment_record import Effect, Factorial, Gain
from plimsoll.report.comparing.fresh_targets import sample_fresh
from plimsoll.report.comparing.ratios import (
    PAIRS_WOULD,
    RATE,
    WORTH,
    Ratio,
    estimate_answer,
    find_only_load,
    list_repetitions,
    name_sample,
)
from plimsoll.report.experiment.choice import divide_candidates
from plimsoll.report.experiment.summary import (
    ALL,
    CellRun,
    Runs,
    divide_axes,
    gather_candidate,
    has_sustained_figure,
    name_volumeless,
)
from plimsoll.report.phase_tables import Figures, list_phase_figures
from plimsoll.report.words import describe_limiting

THE_SEARCH = "the search"  # the question beside those of phases


def compute_factorials(experiment: Experiment, cells: Sequence[CellRun]) -> tuple[Factorial, ...]:
    """Compute the factorial of each pair of axes with two variants."""
    return tuple(
        each
        for beside, axis in _pair_axes(experiment)
        for question, square in _find_squares(experiment, cells, beside, axis)
        for each in _square_factorials(question, experiment, beside, axis, square)
    )


def _pair_axes(experiment: Experiment) -> Iterator[tuple[str, str]]:
    """Yield pairs of axes; the second, whose gain is described, is storage or the later one."""
    targets = set(divide_axes(experiment).target_axes)
    twos = [axis for axis, variants in experiment.axes.items() if len(variants) == 2]
    for first, second in combinations(twos, 2):
        if targets & {first, second}:
            of_storage = _is_storage(experiment, first) and not _is_storage(experiment, second)
            yield (second, first) if of_storage else (first, second)


def _is_storage(experiment: Experiment, axis: str) -> bool:
    changed = [
        leaf for patch in experiment.axes[axis].values() for leaf in list_patched_paths(patch)
    ]
    return all(leaf[:2] == ("target", "volume") for leaf in changed)


Corners = tuple[Runs, Runs, Runs, Runs]  # variants (beside, axis): 00, 01, 10, 11


def _find_squares(
    experiment: Experiment, cells: Sequence[CellRun], beside: str, axis: str
) -> Iterator[tuple[str, Corners]]:
    """Yield the four cells of each combination of all other axes, with its name."""
    by_variants: dict[tuple[tuple[str, str], ...], Runs] = {}
    for run in cells:
        key = tuple(sorted(run.cell.variants.items()))
        by_variants[key] = (*by_variants.get(key, ()), run)
    others = [name for name in experiment.axes if name not in {beside, axis}]
    seen: dict[tuple[str, ...], Mapping[str, str]] = {}
    for run in cells:
        seen.setdefault(tuple(run.cell.variants[name] for name in others), run.cell.variants)
    for question, variants in seen.items():
        low, high = (
            [
                by_variants[tuple(sorted({**variants, beside: one, axis: two}.items()))]
                for two in experiment.axes[axis]
            ]
            for one in experiment.axes[beside]
        )
        yield ", ".join(question) or ALL, (low[0], low[1], high[0], high[1])


def _square_factorials(
    question: str, experiment: Experiment, beside: str, axis: str, corners: Corners
) -> Iterator[Factorial]:
    """Yield the factorials of four cells: of each phase at each load, and of their answers."""
    phases = [_phase_figures(runs) for runs in corners]
    for name in phases[0]:
        if all(name in of_run for of_run in phases):
            named = name if question == ALL else f"{question}, {name}"
            figures = [of_run[name] for of_run in phases]
            yield _compute_factorial(named, experiment, (beside, axis), corners, figures)
    named = f"{question}, {THE_SEARCH}" if phases[0] else question
    answered = [_answer_figures(runs, corners) for runs in corners]
    yield _compute_factorial(named, experiment, (beside, axis), corners, answered)


def _phase_figures(runs: Runs) -> dict[str, Figures]:
    """Return the repetitions of each phase; of a repeated cell, the middle of each of its runs."""
    by_run = [list_phase_figures(run.result) for run in runs]
    if runs[0].cell.fresh_target is None:
        return by_run[0]
    gathered: dict[str, Figures] = {}
    for figures in by_run:
        for name, one in figures.items():
            before = gathered.get(name)
            middle = (find_center(one.values),) if one.values else ()
            gathered[name] = Figures(
                values=(*(before.values if before else ()), *middle),
                limit=before.limit if before else one.limit,
            )
    return gathered


def _answer_figures(runs: Runs, corners: Corners) -> Figures:
    """Return a cell's repetitions at its answer; empty if the answer is not exact.

    Of a repeated cell, the figures of its runs.
    """
    run = next((run for run in runs if has_sustained_figure(run)), runs[0])
    limiting = run.result.limiting if run.result else None
    limit = None if limiting is None else describe_limiting(limiting)
    others = [
        other.result.capacity
        for runs_of_other in corners
        for other in runs_of_other
        if other.result and other.result.capacity
    ]
    if run.cell.fresh_target is not None:
        own = [other.result.capacity if other.result else None for other in runs]
        sample = sample_fresh(own, beside=others)
        if sample.bound != "=":
            return Figures((), limit)
        return Figures(sample.figures, limit, sample.estimate())
    capacity = run.result.capacity if run.result and has_sustained_figure(run) else None
    load = find_only_load(*others)
    if capacity is None or (capacity.bound != "=" and load is None):
        return Figures((), limit)
    return Figures(tuple(list_repetitions(capacity)), limit, estimate_answer(capacity, load))


def _compute_factorial(
    question: str,
    experiment: Experiment,
    axes: tuple[str, str],
    corners: Corners,
    figures: Sequence[Figures],
) -> Factorial:
    beside, axis = axes
    one, two = experiment.axes[axis]
    few, many = experiment.axes[beside]
    silent = [
        name_cell(runs[0].cell.variants)
        for runs, each in zip(corners, figures, strict=True)
        if min(each.values, default=0.0) <= 0
    ]
    found = None
    if not silent:
        found = estimate_effects([each.estimate or estimate_mean(each.values) for each in figures])
    told = f"not decided: no exact figure of {', '.join(silent)}"
    if found:
        told = _write_sentence(found, axis, (few, many), figures)
    a, b, c, d = (len(each.values) for each in figures)
    return Factorial(
        question=question,
        axis=axis,
        levels=(one, two),
        beside=beside,
        beside_levels=(few, many),
        repetitions=(a, b, c, d) if found else None,
        main=found.second if found else None,
        beside_main=found.first if found else None,
        interaction=found.interaction if found else None,
        gain_on=(found.second_at_low, found.second_at_high) if found else None,
        covers_choice=True,
        sentence=f"{one} to {two}: {told}",
    )


def _write_sentence(
    found: Effects, axis: str, beside: tuple[str, str], figures: Sequence[Figures]
) -> str:
    """Describe what an axis gains on each variant of another, and whether that differs.

    Args:
        found: The effects.
        axis: The axis whose gain it is.
        beside: The variants of the other axis.
        figures: The figures of the four cells.
    """
    gains = (found.second_at_low, found.second_at_high)
    limits = figures[1].limit, figures[3].limit
    kinds = {each.estimate.kind if each.estimate else "" for each in figures}
    lacking = "the edges" if kinds == {RATE} else "repetitions"
    parts = [
        f"{_describe_effect(gain, lacking)} on {name}"
        + (f", where {limit}" if limit and is_no_gain(gain) else "")
        for gain, name, limit in zip(gains, beside, limits, strict=True)
    ]
    told = f"{', '.join(parts)}; {_describe_interaction(found.interaction, axis, beside, lacking)}"
    searched = all(each.estimate and each.estimate.kind for each in figures)
    undecided = any(map(_is_undecided, (*gains, found.interaction)))
    return f"{told}; {PAIRS_WOULD}" if searched and undecided else told


def _is_undecided(effect: Effect) -> bool:
    """Return whether the interval holds both no effect and one that matters."""
    low, high = effect.low, effect.high
    return (
        low is not None
        and high is not None
        and low <= 1 <= high
        and (low * WORTH < 1 or high > WORTH)
    )


def _describe_effect(effect: Effect, lacking: str) -> str:
    """Describe a gain: nothing, a factor, or not decided."""
    low, high = effect.low, effect.high
    if low is None or high is None:
        return f"{words.format_ratio(effect.ratio)} times (no interval without {lacking})"
    interval = f"95 % {words.format_ratio_interval(low, high)}"
    if low <= 1 <= high:
        word = "nothing" if is_no_gain(effect) else "not decided"
        return f"{word} ({words.format_ratio(effect.ratio)} times, {interval})"
    return f"{words.format_ratio(effect.ratio)} times ({interval})"


def is_no_gain(effect: Effect) -> bool:
    """Return whether the gain is surely too small to matter."""
    low, high = effect.low, effect.high
    return low is not None and high is not None and low <= 1 and high <= WORTH


def _describe_interaction(
    interaction: Effect, axis: str, beside: tuple[str, str], lacking: str
) -> str:
    """Say on which variant the gain is larger, if that is sure."""
    ratio, low, high = interaction.ratio, interaction.low, interaction.high
    if low is None or high is None:
        return f"without {lacking} it is not known whether that differs"
    few, many = beside
    if ratio < 1:
        few, many, ratio, low, high = many, few, 1 / ratio, 1 / high, 1 / low
    shown = f"{words.format_ratio(ratio)} times, 95 % {words.format_ratio_interval(low, high)}"
    if low <= 1:
        return f"that {axis} gains more on one of them cannot be shown ({shown})"
    return f"{axis} gains more on {many} than on {few} ({shown})"


# Steps up in IOPS: what each gained, with its interval. No gain is an answer too.


GainOutcome = Literal["gain", "no gain", "loss", "not decided"]


def gains(
    rows: Mapping[str, Mapping[str, Runs]], *, apart_s: float | None = None
) -> tuple[Gain, ...]:
    """List the steps up in IOPS for each question.

    Args:
        rows: {question: {target: runs}}.
        apart_s: The most seconds between the two steps of a pair, if some runs took turns.
    """
    return tuple(
        _describe_gain(question, lower, higher, apart_s)
        for question, row in rows.items()
        for series in _group_ladders(row)
        for lower, higher in pairwise(series)
        if lower[2] != higher[2]
    )


Rung = tuple[str, Runs, float]  # target's name, runs, baseline IOPS (infinite if unlimited)


def _group_ladders(row: Mapping[str, Runs]) -> list[list[Rung]]:
    """Group targets that differ only in their volume, ordered by baseline IOPS."""
    by_target: dict[str, list[Rung]] = {}
    for name, runs in row.items():
        key, iops = name_volumeless(runs[0]), find_baseline_iops(runs[0])
        if key is not None and iops is not None:
            by_target.setdefault(key, []).append((name, runs, iops))
    return [sorted(series, key=lambda rung: rung[2]) for series in by_target.values()]


def find_baseline_iops(run: CellRun) -> float | None:
    """Return the volume's baseline IOPS; infinite if unlimited, None if there is no volume."""
    target = run.cell.request.target
    if isinstance(target, EndpointTarget | AuroraTarget):
        return None
    promised = limits(target.volume, service=target.service)
    return float("inf") if promised.baseline_iops is None else promised.baseline_iops


def _describe_gain(question: str, lower: Rung, higher: Rung, apart_s: float | None) -> Gain:
    (below, below_runs, few), (above, above_runs, many) = lower, higher
    silent = [name for name, runs, _ in (lower, higher) if not any(map(has_sustained_figure, runs))]
    ratio = divide_candidates(
        above, gather_candidate(above_runs), below, gather_candidate(below_runs), apart_s=apart_s
    )
    outcome = _outcome(ratio)
    reach = f"{words.format_number(many)} IOPS" if many < float("inf") else "no limit"
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
        fresh_targets=ratio.fresh_targets if ratio else None,
        sentence=f"{below} to {above} ({words.format_number(few)} to {reach}):"
        f" {_write_gain_sentence(outcome, ratio, silent)}",
    )


def _outcome(ratio: Ratio | None) -> GainOutcome:
    if ratio is None or ratio.differs is None:
        return "not decided"
    if ratio.differs:
        return "gain" if ratio.value > 1 else "loss"
    return "no gain" if ratio.high is not None and ratio.high <= WORTH else "not decided"


def _write_gain_sentence(outcome: GainOutcome, ratio: Ratio | None, silent: list[str]) -> str:
    if ratio is None:
        why = f"no answer from {' and '.join(silent)}" if silent else "both figures are bounds"
        return f"not decided: {why}"
    value = f"{words.format_ratio(ratio.value)} times the throughput"
    if ratio.low is None or ratio.high is None:
        if ratio.bound == "=":
            repeated = "repetitions" if ratio.fresh_targets is None else "two fresh targets of both"
            return f"not decided: {value}, but without {repeated} there is no interval"
        return f"{outcome}: {'at least' if ratio.bound == '>=' else 'at most'} {value}"
    tails = {
        "no gain": f", at most {words.format_percent(ratio.high - 1)} more",
        "not decided": "; the repetitions scatter too much"
        if ratio.fresh_targets is None
        else "; fresh targets scatter too much",
    }
    interval = f"95 % {words.format_ratio_interval(ratio.low, ratio.high)}"
    interval += name_sample(ratio.pairs, ratio.fresh_targets)
    return f"{outcome}: {value} ({interval}){tails.get(outcome, '')}"
