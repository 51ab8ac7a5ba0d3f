"""A window of a soak, second by second."""

from plimsoll.fleet.spans import divide_into_spans, find_longest_stall_s
from plimsoll.model.run.results import SecondTotals


def second(epoch_s: int, succeeded: int = 100, us: int = 1000, name: str = "read") -> SecondTotals:
    return SecondTotals(
        epoch_s=epoch_s,
        step=9,
        operation=name,
        succeeded=succeeded,
        errors=0,
        max_us=us,
        buckets={us: succeeded} if succeeded else {},
    )


def test_a_span_is_ten_whole_seconds_of_all_operations() -> None:
    rows = [second(s) for s in range(100, 125)] + [
        second(s, 50, 4000, "update") for s in range(125)
    ]
    found = divide_into_spans(
        [row for row in rows if row.epoch_s >= 100], "p99", start_epoch_s=100, end_epoch_s=125
    )
    assert [span.throughput_ops_per_second for span in found] == [150, 150]
    assert found[0].latency_us == {"read": 1000, "update": 4000}


def test_the_statistic_is_read_from_all_of_a_spans_buckets() -> None:
    rows = [second(s, 99, 1000) for s in range(10)] + [second(s, 1, 9000) for s in range(10)]
    at = {"start_epoch_s": 0, "end_epoch_s": 10}
    assert divide_into_spans(rows, "p99", **at)[0].latency_us == {"read": 1000}
    assert divide_into_spans(rows, "p999", **at)[0].latency_us == {"read": 9000}
    assert divide_into_spans(rows, "max", **at)[0].latency_us == {"read": 9000}
    assert divide_into_spans(rows, "mean", **at)[0].latency_us == {"read": 1080}


def test_a_span_in_which_nothing_came_has_no_latency() -> None:
    (found,) = divide_into_spans([], "p99", start_epoch_s=0, end_epoch_s=10)
    assert (found.throughput_ops_per_second, found.latency_us) == (0, {})


def test_a_stall_is_seconds_in_a_row_with_next_to_no_answers() -> None:
    rows = [second(s) for s in range(60) if not 20 <= s < 26]
    rows += [second(40, 5), second(42, 0)]
    rows = [row for row in rows if not (row.epoch_s in {40, 42} and row.succeeded == 100)]
    assert find_longest_stall_s(rows, start_epoch_s=0, end_epoch_s=60) == 6


def test_no_stall_is_nought_and_a_trickle_knows_none() -> None:
    busy = [second(s) for s in range(60)]
    assert find_longest_stall_s(busy, start_epoch_s=0, end_epoch_s=60) == 0
    trickle = [second(s, 3) for s in range(0, 60, 2)]
    assert find_longest_stall_s(trickle, start_epoch_s=0, end_epoch_s=60) is None
