"""What an experiment comes to, in one sentence that a reader can act on."""

from typing import Any

import pytest

from plimsoll.model.run.experiment_record import Decision
from plimsoll.report.experiment.answer import combine_decisions


def decision(question: str, outcome: Any = "chosen", **told: Any) -> Decision:
    """By default NVMe is sure to be ahead of io1, and the cheapest."""
    ahead = {"best": "nvme", "buy": "nvme", "second": "io1", "ratio": 1.5, "low": 1.3, "high": 1.7}
    costs = {"cheapest": "nvme", "usd_per_million": 0.006, "usd_per_hour": 0.04}
    common = {"question": question, "outcome": outcome, "like": (), "sentence": ""}
    return Decision.model_validate({**common, **ahead, **costs, **told})


def test_one_choice_for_every_load_is_said_once() -> None:
    sure = [decision("reads, t8"), decision("reads, t32", ratio=1.8, low=1.5)]
    assert combine_decisions(sure) == (
        "Buy nvme for every load: 1.50 to 1.80 times the throughput of io1 (95 % intervals from"
        " 1.30 up), at $0.04 an hour, $0.006 per million operations, the least of all."
    )


def test_loads_are_named_by_what_they_share() -> None:
    unsure = {"buy": None, "ratio": 1.2, "low": 0.85, "high": 1.95, "usd_per_million": None}
    mixed = [
        decision("reads, t8"),
        decision("reads, t32"),
        decision("both, t8", "not told apart", **unsure),
        decision("both, t32"),
    ]
    told = combine_decisions(mixed)
    assert told.startswith("Buy nvme for reads and both at t32: 1.50 times the throughput of io1")
    assert told.endswith(
        "; not told apart for both at t8: nvme and io1 (95 % 0.85 to 1.95 times), of which nvme"
        " costs less an operation."
    )


@pytest.mark.parametrize(
    ("cheapest", "says"),
    [
        ("gp3-100", ", of which gp3-100 costs less an operation."),
        ("gp2-400", "; gp2-400 costs the least an operation."),
        (None, "."),
    ],
)
def test_of_two_that_are_not_told_apart_it_says_which_costs_less(
    cheapest: str | None, says: str
) -> None:
    two = {"best": "io1-3000", "second": "gp3-100", "buy": None, "low": 0.96, "high": 1.10}
    told = combine_decisions([decision("all", "not told apart", cheapest=cheapest, **two)])
    assert told == "Not told apart: io1-3000 and gp3-100 (95 % 0.96 to 1.10 times)" + says


def test_what_is_alike_is_bought_by_its_price() -> None:
    same = decision(
        "all", "alike", buy="io1", cheapest="io1", ratio=1.02, low=0.99, high=1.04
    )  # fmt: skip
    assert combine_decisions([same]) == (
        "Buy io1: it and nvme differ by too little to matter (95 % 0.99 to 1.04 times), at $0.04 an"
        " hour, $0.006 per million operations, the least of all."
    )


def test_the_fastest_that_is_not_the_cheapest_says_so() -> None:
    told = combine_decisions([decision("all", cheapest="gp3")])
    assert told.endswith(
        "at $0.04 an hour, $0.006 per million operations (gp3 costs less an operation)."
    )
    unpriced = combine_decisions([decision("all", cheapest=None, usd_per_million=None)])
    assert unpriced.endswith(", at a price that is not known.")


def test_a_target_that_fails_is_named_and_one_alone_needs_no_ratio() -> None:
    alone = decision("all", ratio=None, low=None, high=None, second=None, cannot=("gp2", "io1"))
    assert combine_decisions([alone]) == (
        "Buy nvme, the only one that passes it, at $0.04 an hour, $0.006 per million operations,"
        " the least of all (gp2 and io1 fail there)."
    )


def test_a_target_that_fails_at_some_loads_does_not_split_the_sentence() -> None:
    told = combine_decisions([decision("t8"), decision("t32", cannot=("gp2",))])
    assert told.count("uy nvme") == 1
    assert told.endswith("the least of all (gp2 fails for t32).")


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"best": "nvme"}, "So far nvme, with no answer from gp2."),
        (
            {"best": "nvme", "buy": None, "second": "io1"},
            "So far nvme or io1, not told apart, with no answer from gp2.",
        ),
        ({"best": None, "buy": None}, "Nothing is decided, since gp2 gave no answer."),
    ],
)
def test_a_partial_matrix_does_not_read_as_an_answer(told: dict[str, Any], says: str) -> None:
    assert combine_decisions([decision("all", "partial", unknown=("gp2",), **told)]) == says


@pytest.mark.parametrize(("target", "named"), [("io1", ", io1"), ("the target", "")])
def test_one_target_alone_is_named_where_it_has_a_name(target: str, named: str) -> None:
    alone = decision("all", "only one", buy=target, ratio=None, second=None, cheapest=None)
    assert combine_decisions([alone]) == (
        f"There is one target to buy{named}, at $0.04 an hour, $0.006 per million operations."
    )


def test_without_any_answer_nothing_is_decided() -> None:
    nothing = [decision(q, "none", best=None, buy=None) for q in ("reads", "both")]
    assert combine_decisions(nothing) == "No cell has an answer: nothing can be decided."
