"""Limits and rules as people write them."""

import pytest

from plimsoll.errors import UsageError
from plimsoll.load_line.options import StopRule, parse_limits_us, split_limits
from plimsoll.model.engine.answered import SecondReport
from plimsoll.model.request.quantities import read_latency_us

OPERATIONS = ("read", "update")


def second(
    operation: str, succeeded: int = 100, errors: int = 0, p99_us: int | None = 900
) -> SecondReport:
    """What an operation did in a second."""
    return SecondReport(
        second=3,
        operation=operation,
        succeeded=succeeded,
        errors=errors,
        p50_us=400 if p99_us else None,
        p99_us=p99_us,
        max_us=2000 if p99_us else None,
        buckets={},
    )


@pytest.mark.parametrize(
    ("text", "us"), [("5ms", 5000), ("800us", 800), ("800 µs", 800), ("1.5s", 1_500_000)]
)
def test_a_latency_has_a_unit(text: str, us: float) -> None:
    assert read_latency_us(text) == us


@pytest.mark.parametrize("text", ["5", "0ms", "ms", "-5ms", "5 min", "1e3ms", "\u0665ms", ""])
def test_what_is_no_latency_is_refused(text: str) -> None:
    assert read_latency_us(text) is None
    with pytest.raises(UsageError, match=r"limits: .* is not a latency: write 5ms"):
        parse_limits_us(text, OPERATIONS)


@pytest.mark.parametrize(
    ("given", "limits"),
    [
        ((), {}),
        (("5ms",), {"read": 5000, "update": 5000}),
        (("read=5ms",), {"read": 5000}),
        (("update=20ms", "5ms"), {"read": 5000, "update": 20_000}),
    ],
)
def test_a_limit_is_for_an_operation_or_for_all_that_have_none(
    given: tuple[str, ...], limits: dict[str, float]
) -> None:
    assert parse_limits_us(split_limits(given), OPERATIONS) == limits


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("raed=5ms",), "unknown operation 'raed'.*read"),
        (("read=5ms", "read=6ms"), "limits: read is given twice"),
        (("5ms", "6ms"), "limits: the limit of all others is given twice"),
        (("read=5",), "limits.read: '5' is not a latency"),
    ],
)
def test_a_limit_that_cannot_be_is_refused(given: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_limits_us(split_limits(given), OPERATIONS)


@pytest.mark.parametrize(
    ("rule", "parts", "broken"),
    [
        ("p99 > 1ms", [second("read")], None),
        ("p99 > 1ms", [second("read"), second("update", p99_us=1001)], "update p99 was 1.00 ms"),
        ("p99.read > 1ms", [second("update", p99_us=5000)], None),
        ("p50 > 1ms", [second("read", p99_us=5000)], None),
        ("max > 1ms", [second("read")], "read max was 2.00 ms"),
        ("p99 > 1ms", [second("read", succeeded=0, p99_us=None)], None),
        ("errors", [second("read", errors=1)], "1 of 101 operations failed"),
        ("errors", [second("read")], None),
        ("errors > 1%", [second("read", errors=1)], None),
        ("errors > 1%", [second("read", errors=2)], "2 of 102 operations failed"),
        ("errors.update", [second("read", errors=2), second("update")], None),
    ],
)
def test_a_rule_is_broken_within_a_second(
    rule: str, parts: list[SecondReport], broken: str | None
) -> None:
    said = StopRule.parse(rule, OPERATIONS).find_broken_limit(parts)
    assert said == (None if broken is None else f"{broken} within a second")


def test_a_second_with_more_operations_than_the_rate_breaks_its_rule() -> None:
    rule = StopRule.parse("rate > 150", OPERATIONS)
    assert rule.find_broken_limit([second("read", 100), second("update", 50)]) is None
    broken = rule.find_broken_limit([second("read", 100), second("update", 51)])
    assert broken == "151 operations were done within a second"


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("p95 > 1ms", "is not a rule"),
        ("p99", "has no limit"),
        ("rate", "has no limit"),
        ("rate > 5ms", "has no number above 0"),
        ("p99 > 1", "is not a latency"),
        ("errors > 101%", "is not a share"),
        ("errors > 1ms", "is not a share"),
        ("p99.raed > 1ms", "unknown operation 'raed'"),
    ],
)
def test_what_is_no_rule_is_refused(rule: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        StopRule.parse(rule, OPERATIONS)
