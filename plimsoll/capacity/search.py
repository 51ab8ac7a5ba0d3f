"""Which step comes next: pure state, rebuilt from the finished steps."""

from collections.abc import Sequence

from plimsoll.model.capacity import Rules
from plimsoll.model.search import Done, NextStep, Search
from plimsoll.model.steps import Step


def next_step(search: Search, finished: Sequence[Step], rules: Rules) -> NextStep | Done:
    """Say which load to apply next, or that the search is over.

    Args:
        search: what the request asks for.
        finished: every finished step of the run, in the order in which they ran.
        rules: those by which `judge` will judge; `rules.confirmation` governs repetitions.
    """
    raise NotImplementedError
