"""An experiment's decisions in sentences: what to buy for which load, how sure, at what cost.

Also the gains in an experiment's phases. Pure.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from plimsoll import words
from plimsoll.model.run.experiment_record import (
    Decision,
    DecisionOutcome,
    Effect,
    Factorial,
    FreshFigures,
)
from plimsoll.report.experiment.choice import ONE_TARGET
from plimsoll.report.experiment.factorials import THE_SEARCH, is_no_gain
from plimsoll.report.phase_tables import ITS_SEARCH

NAMED_MOST = 3  # loads named in a clause; the others are counted
NOTHING_DECIDED = "No cell has an answer: nothing can be decided"


def combine_decisions(decisions: Sequence[Decision]) -> str:
    """Combine the decisions for all questions into one sentence, the surest first.

    Args:
        decisions: The decision for each question, in the order of the axes.
    """
    everything = [decision.question for decision in decisions]
    clauses = [
        clause(group, everything)
        for outcome, clause in _CLAUSES
        for group in _group_decisions([one for one in decisions if one.outcome == outcome])
    ]
    if not decisions or all(one.outcome == "none" and not one.cannot for one in decisions):
        return f"{NOTHING_DECIDED}."
    sentence = "; ".join(clauses)
    return f"{sentence[0].upper()}{sentence[1:]}."


def describe_fresh(cells: Sequence[FreshFigures]) -> Iterator[str]:
    """Yield what a single repeated cell gives; for several, what their intervals are over."""
    if len(cells) == 1:
        yield cells[0].sentence
    elif any(cell.method is not None for cell in cells):
        targets = words.format_count(len(cells[0].runs), "fresh target")
        yield f"Each cell was run on {targets}, and the intervals are over these."


def _group_decisions(decisions: Sequence[Decision]) -> list[list[Decision]]:
    """Group decisions that say the same."""
    groups: dict[object, list[Decision]] = {}
    for one in decisions:
        key = one.buy or (one.best, one.second), one.unknown
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def _describe_chosen(group: Sequence[Decision], everything: Sequence[str]) -> str:
    first = group[0]
    told = f"buy {first.buy}{_name_loads(group, everything)}"
    if all(one.ratio is None for one in group):
        told += f", the only one that passes {'it' if len(group) == 1 else 'them'}"
    else:
        told += f": {_times(group)} the throughput of {_seconds(group)}{_describe_interval(group)}"
    return told + _cost(group) + _name_failing(group, everything)


def _describe_alike(group: Sequence[Decision], everything: Sequence[str]) -> str:
    first = group[0]
    others = dict.fromkeys(n for one in group for n in (one.best, one.second) if n)
    others.pop(first.buy or "", None)
    differ = f"it and {words.join_names(list(others))} differ by too little to matter"
    interval = f"95 % {_format_range(*_ends(group), words.format_ratio)} times"
    what = f"{first.buy}{_name_loads(group, everything)}"
    return f"buy {what}: {differ} ({interval}){_cost(group)}"


def _describe_not_told_apart(group: Sequence[Decision], everything: Sequence[str]) -> str:
    first = group[0]
    low, high = _ends(group)
    how = f" (95 % {_format_range(low, high, words.format_ratio)} times)" if low and high else ""
    told = f"not told apart{_name_loads(group, everything)}: {first.best} and {first.second}{how}"
    return told + _name_cheapest(group) + _name_failing(group, everything)


def _name_cheapest(group: Sequence[Decision]) -> str:
    """Name the target with the lowest cost per operation, if it is the same for every load."""
    first, cheapest = group[0], {one.cheapest for one in group}
    name = first.cheapest
    if name is None or len(cheapest) > 1:
        return ""
    if name in {first.best, first.second}:
        return f", of which {name} costs less an operation"
    return f"; {name} costs the least an operation"


def _describe_partial(group: Sequence[Decision], everything: Sequence[str]) -> str:
    first = group[0]
    silent = words.join_names(first.unknown)
    if first.best is None:
        return f"nothing is decided{_name_loads(group, everything)}, since {silent} gave no answer"
    named = first.buy or f"{first.best} or {first.second}"
    apart = "" if first.buy else ", not told apart"
    return f"so far {named}{_name_loads(group, everything)}{apart}, with no answer from {silent}"


def _describe_only(group: Sequence[Decision], everything: Sequence[str]) -> str:
    name = "" if group[0].buy == ONE_TARGET else f", {group[0].buy}"
    return f"there is one target to buy{_name_loads(group, everything)}{name}{_cost(group)}"


def _describe_none(group: Sequence[Decision], everything: Sequence[str]) -> str:
    if group[0].cannot and not group[0].unknown:
        return f"buy none of them{_name_loads(group, everything)}: all fail at the lightest step"
    return f"nothing is known{_name_loads(group, everything)}"


_Clause = Callable[[Sequence[Decision], Sequence[str]], str]
_CLAUSES: tuple[tuple[DecisionOutcome, _Clause], ...] = (
    ("chosen", _describe_chosen),
    ("alike", _describe_alike),
    ("not told apart", _describe_not_told_apart),
    ("partial", _describe_partial),
    ("only one", _describe_only),
    ("none", _describe_none),
)


def _times(group: Sequence[Decision]) -> str:
    ratios = [one.ratio for one in group if one.ratio is not None]
    bounds = any(one.low is None for one in group)
    least = "at least " if bounds else ""
    return f"{least}{_format_range(min(ratios), max(ratios), words.format_ratio)} times"


def _seconds(group: Sequence[Decision]) -> str:
    names = dict.fromkeys(one.second for one in group if one.second)
    return next(iter(names)) if len(names) == 1 else "the next one"


def _describe_interval(group: Sequence[Decision]) -> str:
    low, high = _ends(group)
    if low is None or high is None:
        return ""
    if len(group) == 1:
        return f" (95 % {words.format_ratio_interval(low, high)})"
    return f" (95 % intervals from {words.format_ratio(low)} up)"


def _ends(group: Sequence[Decision]) -> tuple[float | None, float | None]:
    lows = [one.low for one in group if one.low is not None]
    highs = [one.high for one in group if one.high is not None]
    return min(lows, default=None), max(highs, default=None)


def _cost(group: Sequence[Decision]) -> str:
    """Describe the cost of operations on the target to buy, and name cheaper ones."""
    costs = [one.usd_per_million for one in group if one.usd_per_million is not None]
    if len(costs) < len(group):
        return ", at a price that is not known"
    hours = [one.usd_per_hour for one in group if one.usd_per_hour is not None]
    hour = (
        f"{_format_range(min(hours), max(hours), words.format_unit_usd)} an hour, " if hours else ""
    )
    told = (
        f", at {hour}{_format_range(min(costs), max(costs), words.format_unit_usd)} per million"
        " operations"
    )
    cheapest = dict.fromkeys(one.cheapest for one in group if one.cheapest)
    others = [name for name in cheapest if name != group[0].buy]
    if not others:
        return told + (", the least of all" if cheapest else "")
    where = " for some" if len(cheapest) > 1 else ""
    return f"{told} ({words.join_names(others)} costs less an operation{where})"


def _name_failing(group: Sequence[Decision], everything: Sequence[str]) -> str:
    """Name the targets that fail, and at which loads unless they fail at all of them."""
    names = list(dict.fromkeys(name for one in group for name in one.cannot))
    if not names:
        return ""
    failing = [one for one in group if one.cannot]
    where = "there" if len(failing) == len(group) else _name_loads(failing, everything).strip()
    return f" ({words.join_names(names)} fail{'s' if len(names) == 1 else ''} {where})"


def _format_range(low: float | None, high: float | None, write: Callable[[float], str]) -> str:
    if low is None or high is None:
        return words.NOTHING
    ends = dict.fromkeys((write(low), write(high)))
    return " to ".join(ends)


def _name_loads(group: Sequence[Decision], everything: Sequence[str]) -> str:
    """Name loads: nothing for the only one, `for every load`, a shared variant, or one by one."""
    of = [one.question for one in group]
    if len(everything) == 1:
        return ""
    if len(of) == len(everything):
        return " for every load"
    names = list(_name_shared(of, everything))
    rest = len(names) - NAMED_MOST
    shown = [*names[:NAMED_MOST], words.format_count(rest, "more load")] if rest > 0 else names
    return f" for {words.join_names(shown)}"


def _name_shared(of: Sequence[str], everything: Sequence[str]) -> Iterator[str]:
    """Replace all loads that share a variant by the variant, if the group has all of them."""
    left = list(of)
    parts = {question: question.split(", ") for question in everything}
    for place in range(len(parts[everything[0]])):
        for variant in dict.fromkeys(parts[question][place] for question in left):
            having = [question for question in everything if parts[question][place] == variant]
            if len(having) > 1 and set(having) <= set(left):
                yield variant
                left = [question for question in left if question not in having]
    yield from (" at ".join(parts[question]) for question in left)


# An experiment's phases, in sentences on which a reader can act.


Gained = Literal["something", "nothing", "not decided"]


def describe_phase_gains(factorials: Sequence[Factorial]) -> list[str]:
    """Say in which phases an axis gains, in which it gains nothing, and which are undecided.

    Args:
        factorials: The factorials of the phases at each load, each followed by that of the search.
            Those of an experiment without phases are ignored.

    Returns:
        A sentence for each pair of axes, and a last one about the search after the phases.
    """
    searched = [one for one in factorials if one.question.endswith(f", {THE_SEARCH}")]
    axes = dict.fromkeys((one.beside, one.axis) for one in searched)
    of_phases = [one for one in factorials if one not in searched]
    by_axes = [[p for p in of_phases if (p.beside, p.axis) == two] for two in axes]
    told = [_sentence(phases) for phases in by_axes if phases]
    return [*told, "What follows is of the load that lasts after them."] if told else []


def _sentence(phases: Sequence[Factorial]) -> str:
    by_gain: dict[Gained, list[Factorial]] = {"something": [], "nothing": [], "not decided": []}
    for phase in phases:
        by_gain[_classify_gain(phase)].append(phase)
    clauses = [f"{_name(phase)} gains {_describe_gains(phase)}" for phase in by_gain["something"]]
    if none := by_gain["nothing"]:
        clauses.append(f"nothing is gained in {words.join_names(map(_name, none))}")
    if unsure := by_gain["not decided"]:
        clauses.append(f"not decided of {words.join_names(map(_name, unsure))}")
    one, two = phases[0].levels
    return f"From {one} to {two}: {'; '.join(clauses)}."


def _classify_gain(phase: Factorial) -> Gained:
    """Classify a gain: sure on one variant of the other axis, or surely nothing on both."""
    gains = phase.gain_on or ()
    if any(map(_is_sure, gains)):
        return "something"
    return "nothing" if gains and all(map(is_no_gain, gains)) else "not decided"


def _is_sure(gain: Effect) -> bool:
    return gain.low is not None and gain.low > 1


def _describe_gains(phase: Factorial) -> str:
    gains = zip(phase.gain_on or (), phase.beside_levels, strict=True)
    return words.join_names(f"{_phase_times(gain)} on {variant}" for gain, variant in gains)


def _phase_times(gain: Effect) -> str:
    if not _is_sure(gain):
        return "nothing" if is_no_gain(gain) else "nothing that is sure"
    return f"{words.format_ratio(gain.ratio)} times"


def _name(phase: Factorial) -> str:
    name, load = phase.question.rsplit(", ", 1)
    return f"the search of {name}" if load == ITS_SEARCH else f"{name} at {load}"
