"""The verdicts: what people call each one, what it means, what met its limit, and what to do next.

This is the only table of them: the judge's sentence has a run's figures, everything else that a
terminal, a page or a report says of a verdict stands here.
"""

from dataclasses import dataclass
from typing import Literal

from plimsoll.model.judging.capacity import Verdict

Color = Literal["green", "yellow", "red"]
_FIND_THE_LIMIT = (
    "Find out what set the limit: the steps and the time line below show what was near it"
)


@dataclass(frozen=True)
class VerdictFacts:
    """What is known of a verdict without a run.

    Attributes:
        name: What people call it, as in "knee found".
        meaning: What was seen.
        next_step: What to do next, if the run itself suggests nothing better.
        limit: Whose limit was reached, or None if no limit was.
        color: color on a terminal: green for an answer, yellow for a bound.
    """

    name: str
    meaning: str
    next_step: str
    limit: Literal["target", "client", "machine"] | None
    color: Color


_FACTS: dict[Verdict, VerdictFacts] = {
    "KNEE": VerdictFacts(
        name="knee found",
        meaning="a load passes and a heavier one fails",
        next_step=_FIND_THE_LIMIT,
        limit="target",
        color="green",
    ),
    "PLATEAU": VerdictFacts(
        name="plateau found",
        meaning="more load gains next to nothing, with latency within its limit",
        next_step=_FIND_THE_LIMIT,
        limit="target",
        color="green",
    ),
    "LOWER_BOUND": VerdictFacts(
        name="lower bound only",
        meaning="nothing failed up to the largest load: no maximum was found",
        next_step="Give the search heavier loads: nothing failed, so the limit lies beyond",
        limit=None,
        color="yellow",
    ),
    "BELOW_FIRST_STEP": VerdictFacts(
        name="below the lightest load",
        meaning="the lightest load fails already",
        next_step="Begin the search with a lighter load, or allow a higher latency",
        limit="target",
        color="red",
    ),
    "CLIENT_BOUND": VerdictFacts(
        name="limited by the clients",
        meaning="the clients were the limit: this says nothing about the database",
        next_step="Add load clients: they were the limit, and nothing is known of the database",
        limit="client",
        color="red",
    ),
    "NOISY": VerdictFacts(
        name="too noisy",
        meaning="repetitions differ too much, or hold too few operations, for a figure",
        next_step="Measure again with longer windows or more repetitions; the time line shows"
        " what disturbed some of them",
        limit=None,
        color="red",
    ),
    "INCONSISTENT": VerdictFacts(
        name="inconsistent figures",
        meaning="an audit fails on the step that would decide, or on the rows after the last one",
        next_step="Read below which audit failed, and fix its cause: the figures cannot all be"
        " true",
        limit=None,
        color="red",
    ),
    "DISTURBED": VerdictFacts(
        name="the machine was busy",
        meaning="the machine was busy with other work: measure again while it is idle",
        next_step="Measure again while nothing else runs on the machine",
        limit="machine",
        color="red",
    ),
    "DRIFTING": VerdictFacts(
        name="the target changed",
        meaning="the target became faster or slower while it was measured: warm it for longer",
        next_step="Warm the target for longer, until it no longer changes, and measure again",
        limit=None,
        color="red",
    ),
    "NOT_SUSTAINED": VerdictFacts(
        name="not sustained",
        meaning="a load passes for minutes, but not for as long as requested",
        next_step="Plan with less than this load: run a soak at a lower one, and see whether that"
        " lasts",
        limit="target",
        color="red",
    ),
    "BURST": VerdictFacts(
        name="burst only",
        meaning="every load lived on burst credits or on the room in the database's log: the"
        " sustained throughput is not known",
        next_step="Let the credits run out first, or choose a volume without them. If the log lent"
        " it, take longer windows or a smaller log, so that a step can fill it",
        limit=None,
        color="red",
    ),
}


def find_verdict_facts(verdict: Verdict) -> VerdictFacts:
    """Return what is known of a verdict."""
    return _FACTS[verdict]


def list_verdict_names() -> dict[Verdict, str]:
    """Return what people call each verdict."""
    return {verdict: facts.name for verdict, facts in _FACTS.items()}
