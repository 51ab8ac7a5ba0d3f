"""What is said of a verdict without a run: each has its words, and none shares them."""

from typing import get_args

import pytest

from plimsoll.model.judging.capacity import Verdict
from plimsoll.model.judging.verdicts import find_verdict_facts, list_verdict_names

VERDICTS = get_args(Verdict)


def test_each_has_a_name_and_a_meaning_of_its_own() -> None:
    assert list(list_verdict_names()) == list(VERDICTS)
    facts = [find_verdict_facts(verdict) for verdict in VERDICTS]
    assert len({each.name for each in facts}) == len({each.meaning for each in facts}) == len(facts)


@pytest.mark.parametrize(
    ("verdict", "limit", "color"),
    [
        ("KNEE", "target", "green"),
        ("PLATEAU", "target", "green"),
        ("LOWER_BOUND", None, "yellow"),
        ("BELOW_FIRST_STEP", "target", "red"),
        ("NOT_SUSTAINED", "target", "red"),
        ("CLIENT_BOUND", "client", "red"),
        ("DISTURBED", "machine", "red"),
        ("NOISY", None, "red"),
        ("INCONSISTENT", None, "red"),
        ("DRIFTING", None, "red"),
        ("BURST", None, "red"),
    ],
)
def test_whose_limit_was_reached_and_its_color(
    verdict: Verdict, limit: str | None, color: str
) -> None:
    facts = find_verdict_facts(verdict)
    assert (facts.limit, facts.color) == (limit, color)
