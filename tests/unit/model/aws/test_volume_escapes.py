"""What went past a volume, judged from its counters alone."""

import pytest

from plimsoll.model.aws.volumes_seen import (
    Escape,
    VolumeSample,
    compute_escaped_share,
    judge_escapes,
    rates,
)

BEFORE = VolumeSample(
    epoch_ms=10_000,
    read_operations=5_000,
    read_bytes=5_000 * 4096,
    escapes=(Escape(program="sort", operations=70, ios=70, bytes=70 * 4096),),
)


def later(*escapes: Escape, operations: int, unwatched: bool = False) -> VolumeSample:
    return VolumeSample(
        epoch_ms=12_000,
        read_operations=5_000 + operations,
        read_bytes=(5_000 + operations) * 4096,
        escapes=escapes,
        unwatched=unwatched,
    )


@pytest.mark.parametrize(
    ("escaped", "held", "share"),
    [
        ((0, 0), (0, 0), None),
        ((0, 0), (10, 100), 0.0),
        ((5, 0), (0, 0), 1.0),  # calls of which nobody knows how much they moved
        ((1, 900), (99, 100), 0.9),  # few, and large
        ((50, 10), (50, 990), 0.5),  # many, and small
    ],
)
def test_the_greater_share_counts_of_operations_and_bytes(
    escaped: tuple[int, int], held: tuple[int, int], share: float | None
) -> None:
    assert compute_escaped_share(escaped, held) == share


def test_what_went_past_before_is_not_counted_again() -> None:
    got = judge_escapes(BEFORE, later(*BEFORE.escapes, operations=10))
    assert (got.held, got.operations, got.share, got.sentence) == (True, 0, 0.0, None)


@pytest.mark.parametrize(("operations", "held"), [(99 * 30, True), (99 * 30 - 100, False)])
def test_one_in_a_hundred_may_go_past_a_volume(operations: int, held: bool) -> None:
    after = later(
        Escape(program="sort", operations=100, ios=100, bytes=100 * 4096), operations=operations
    )
    got = judge_escapes(BEFORE, after)
    assert got.held is held
    assert (got.operations, got.bytes) == (30, 30 * 4096)


def test_each_program_is_named_with_its_amount_the_one_with_most_first() -> None:
    after = later(
        Escape(program="sort", operations=72, ios=72, bytes=72 * 4096),
        Escape(program="reader", operations=63_000, ios=63_000, bytes=63_000 * 4096),
        operations=0,
    )
    assert judge_escapes(BEFORE, after).sentence == (
        "63,002 reads and writes (246 MiB) bypassed the volume, 100 % of all I/O:"
        " reader 63,000 reads and writes (246 MiB), sort 2 reads and writes (0.01 MiB)"
    )


def test_what_nobody_could_see_is_said_and_has_no_figure() -> None:
    after = later(operations=10, unwatched=True)
    got = judge_escapes(BEFORE, after)
    assert got.held
    assert (
        got.sentence == "what processes without a watcher moved past the volume could not be seen"
    )
    assert (rates(BEFORE, after).escaped_iops, rates(BEFORE, after).escaped_mib_s) == (None, None)


def test_rates_of_what_went_past_are_differences_over_the_interval() -> None:
    after = later(Escape(program="sort", operations=1_070, ios=1_070, bytes=2**20), operations=0)
    got = rates(BEFORE, after)
    assert (got.escaped_iops, got.escaped_mib_s) == (500, (2**20 - 70 * 4096) / 2 / 2**20)


def test_messages_line_by_line_are_no_load() -> None:
    after = later(
        *BEFORE.escapes,
        Escape(program="mariadbd", operations=22, ios=1, bytes=2064),
        operations=300,
    )
    got = judge_escapes(BEFORE, after)
    assert got.held
    assert got.sentence is not None
    assert got.sentence.startswith("22 reads and writes (0.00 MiB) bypassed the volume, 0.33 %")
