"""Two variants of an experiment that take turns: which cells, in which batches, asked for what."""

from typing import Any

import pytest
import yaml

from plimsoll.errors import UsageError
from plimsoll.model.request.experiment import Experiment, find_partner, plan_batches, shuffle_cells
from plimsoll.requests.cells import expand_cells, validate_experiment
from tests.unit.requests.test_cells import GOOD


def asked(**changes: Any) -> Experiment:
    """Three kinds of storage by two mixes, of which two take turns."""
    value = yaml.safe_load(GOOD) | {"at_once": 1, "batch_size": None}
    value["axes"]["storage"]["faster"] = {"target": {"volume": {"iops": 4000}}}
    pairs = {"axis": "storage", "of": ["fast", "faster"], "count": 6}
    return validate_experiment({**value, "pairs": pairs, **changes}).experiment


def test_cells_of_a_pair_are_a_batch_and_the_others_go_as_without_it() -> None:
    drawn = shuffle_cells(6, 7)
    planned = plan_batches(asked(), drawn)
    assert sorted(cell for batch in planned for cell in batch) == list(range(6))
    assert sorted(map(sorted, planned)) == [[0], [1], [2, 4], [3, 5]]
    assert [batch[0] for batch in planned] == [i for i in drawn if i in {b[0] for b in planned}]
    assert asked().runs_at_once == 2


def test_others_keep_their_batches() -> None:
    planned = plan_batches(asked(at_once=3), range(6))
    assert planned == [[0, 1], [2, 4], [3, 5]]


def test_the_partner_asks_the_same_of_the_other_target() -> None:
    experiment = asked()
    assert find_partner(experiment, {"storage": "fast", "mix": "both"}) == {
        "storage": "faster", "mix": "both"
    }  # fmt: skip
    assert find_partner(experiment, {"storage": "slow", "mix": "both"}) is None


def test_only_cells_that_take_turns_repeat_their_load_as_often_as_there_are_pairs() -> None:
    counts = [
        cell.request.limits.confirmation and cell.request.limits.confirmation.most
        for cell in expand_cells(asked())
    ]
    assert counts == [10, 10, 6, 6, 6, 6]


@pytest.mark.parametrize(
    ("pairs", "complaint"),
    [
        ({"axis": "disk", "of": ["fast", "faster"]}, "pairs.axis: is not an axis"),
        (
            {"axis": "storage", "of": ["fast", "fats"]},
            r"pairs.of\[1\]: is not a variant of storage",
        ),
        ({"axis": "storage", "of": ["fast", "fast"]}, "pairs.of: two different variants"),
        (
            {"axis": "mix", "of": ["reads", "both"]},
            "pairs.axis: does not change the target, and only targets are compared in pairs",
        ),
        ({"axis": "storage", "of": ["fast", "faster"], "count": 2}, "pairs.count"),
    ],
)
def test_a_pair_that_cannot_be_is_refused(pairs: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        asked(pairs=pairs)


def test_runs_that_take_turns_try_one_load() -> None:
    request = yaml.safe_load(GOOD)["request"]
    request["search"]["clients"] = [1, 2]
    with pytest.raises(UsageError, match="pairs: paired runs try one load"):
        asked(request=request)


def test_runs_that_take_turns_have_no_phases_which_would_run_at_once() -> None:
    request = yaml.safe_load(GOOD)["request"]
    one = {"records": 9, "connections": [1]}
    request["phases"] = [
        {"name": "reads", "workload": {"name": "ycsb-c"}, "to_completion": one},
    ]
    with pytest.raises(UsageError, match="pairs: paired runs have no phases"):
        asked(request=request)


STATES = [{"name": name, "parameters": {"sync_binlog": name}} for name in ("0", "1")]


@pytest.mark.parametrize(
    ("change", "what"),
    [({"toggle": {"states": STATES}}, "toggle"), ({"limits": {"soak_s": 600}}, "soak")],
)
def test_what_takes_longer_than_a_turn_is_refused(change: dict[str, Any], what: str) -> None:
    request = yaml.safe_load(GOOD)["request"]
    request["search"] = {**request["search"], "probes_max": 40}
    with pytest.raises(UsageError, match=f"pairs: paired runs have no {what}: "):
        asked(request={**request, **change})
