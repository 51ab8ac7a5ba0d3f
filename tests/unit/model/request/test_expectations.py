"""Rules as people write them."""

import pytest

from plimsoll.errors import UsageError
from plimsoll.model.request.expectations import (
    BaselineRule,
    CapacityRule,
    LatencyRule,
    Rule,
    parse_rule,
    require_operations,
)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("capacity >= 2000", CapacityRule("capacity >= 2000", 2000)),
        ("capacity>=2000.5 ops/s", CapacityRule("capacity>=2000.5 ops/s", 2000.5)),
        (
            "p99.read <= 5ms at 1500",
            LatencyRule("p99.read <= 5ms at 1500", "p99", "read", 5000, 1500),
        ),
        (
            "p99.9  <= 5 ms at 1500 ops/s",
            LatencyRule("p99.9  <= 5 ms at 1500 ops/s", "p999", None, 5000, 1500),
        ),
        (
            "mean.READ-MODIFY-WRITE <= 1.5s at 1",
            LatencyRule(
                "mean.READ-MODIFY-WRITE <= 1.5s at 1", "mean", "READ-MODIFY-WRITE", 1.5e6, 1
            ),
        ),
        (
            "not worse than old by 2/result.json by 5 %",
            BaselineRule(
                "not worse than old by 2/result.json by 5 %", "old by 2/result.json", 0.05
            ),
        ),
    ],
)
def test_rules_are_read(text: str, rule: Rule) -> None:
    assert parse_rule(text) == rule


@pytest.mark.parametrize(
    "text",
    [
        "",
        "capacity > 2000",
        "capacity <= 2000",
        "capacity >= -1",
        "capacity >= 2e3",
        "capacity >= 2000 or so",
        "capacity >= 0",
        "p99.read <= 5ms",
        "p99.read <= 5 at 1500",
        "p99.read <= 5ms at 0",
        "p98.read <= 5ms at 1500",
        "not worse than x by 5",
        "not worse than x by 100 %",
        "not worse than  by 5 %",
        "٢ >= 2000",
        "capacity >= " + "9" * 10_000,
    ],
)
def test_what_is_no_rule_is_refused_in_a_short_line(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_rule(text)
    assert len(str(refused.value)) < 400
    assert repr(text)[:40] in str(refused.value)


def test_an_operation_that_there_is_not_is_named_with_what_it_may_mean() -> None:
    with pytest.raises(UsageError, match=r"unknown operation 'raed'; did you mean 'read'\?"):
        require_operations([parse_rule("p99.raed <= 5ms at 10")], ["read", "update"])
    require_operations([parse_rule("p99 <= 5ms at 10"), parse_rule("capacity >= 1")], ["read"])
