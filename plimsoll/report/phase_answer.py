"""What an experiment's phases come to, in one sentence that a reader can act on. Pure."""

from collections.abc import Sequence
from typing import Literal

from plimsoll import words
from plimsoll.model.factorial import Effect, Factorial
from plimsoll.report.factorials import THE_SEARCH, gained_nothing
from plimsoll.report.phase_figures import ITS_SEARCH

Gained = Literal["something", "nothing", "not decided"]


def phase_answers(factorials: Sequence[Factorial]) -> list[str]:
    """Say in which phases an axis gains something, in which nothing, and which are not decided.

    Args:
        factorials: Of the phases at each of their loads, each followed by that of the search; those
            of an experiment without phases say nothing here.

    Returns:
        A sentence for each two axes, the last one about what comes after the phases.
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
        by_gain[_gained(phase)].append(phase)
    clauses = [f"{_name(phase)} gains {_gains(phase)}" for phase in by_gain["something"]]
    if none := by_gain["nothing"]:
        clauses.append(f"nothing is gained in {words.listed(map(_name, none))}")
    if unsure := by_gain["not decided"]:
        clauses.append(f"not decided of {words.listed(map(_name, unsure))}")
    one, two = phases[0].levels
    return f"From {one} to {two}: {'; '.join(clauses)}."


def _gained(phase: Factorial) -> Gained:
    """Something where it is sure on either variant of the other axis; nothing where on both."""
    gains = phase.gain_on or ()
    if any(map(_is_sure, gains)):
        return "something"
    return "nothing" if gains and all(map(gained_nothing, gains)) else "not decided"


def _is_sure(gain: Effect) -> bool:
    return gain.low is not None and gain.low > 1


def _gains(phase: Factorial) -> str:
    gains = zip(phase.gain_on or (), phase.beside_levels, strict=True)
    return words.listed(f"{_times(gain)} on {variant}" for gain, variant in gains)


def _times(gain: Effect) -> str:
    if not _is_sure(gain):
        return "nothing" if gained_nothing(gain) else "nothing that is sure"
    return f"{words.ratio(gain.ratio)} times"


def _name(phase: Factorial) -> str:
    name, load = phase.question.rsplit(", ", 1)
    return f"the search of {name}" if load == ITS_SEARCH else f"{name} at {load}"
