"""Seconds of the step under way: added up over clients, told once to each reader."""

from plimsoll.console.told_seconds import SecondsReader, ToldSeconds
from plimsoll.model.engine.answered import SecondReport

START_S = 1_700_000_000


def second(number: int, *, succeeded: int = 10, slow: int = 0) -> list[SecondReport]:
    buckets = {1_000: succeeded - slow} | ({50_000: slow} if slow else {})
    return [
        SecondReport(
            second=number,
            operation="read",
            succeeded=succeeded,
            errors=0,
            p50_us=900,
            p99_us=900,
            max_us=900,
            buckets=buckets,
        )
    ]


def tell(told: ToldSeconds, client: int, parts: list[SecondReport], *, step: int = 5) -> None:
    start_at_epoch_ms = 1000 * (START_S + 20 * step)
    told.add(step, client, parts, start_at_epoch_ms=start_at_epoch_ms, clients=2)


def test_clients_are_added_up_and_their_histograms_too() -> None:
    told = ToldSeconds()
    tell(told, 0, second(2, succeeded=90))
    tell(told, 1, second(2, succeeded=10, slow=5))
    [both] = SecondsReader(told)()
    assert (both.step, both.clients_told, both.clients) == (5, 2, 2)
    assert both.epoch_s == START_S + 100 + 2
    assert both.operations["read"].succeeded == 100
    assert both.operations["read"].p99_us == 50_000  # neither client's own p99 says so


def test_a_reader_is_told_what_is_new_to_it() -> None:
    told = ToldSeconds()
    tell(told, 0, second(1))
    early = SecondsReader(told)
    assert len(early()) == 1
    assert early() == []
    tell(told, 1, second(1))
    tell(told, 0, second(2))
    assert [one.clients_told for one in early()] == [2, 1]
    assert len(SecondsReader(told)()) == 2  # another page, opened in the middle of the step


def test_another_step_begins_anew() -> None:
    told = ToldSeconds()
    tell(told, 0, second(1))
    reader = SecondsReader(told)
    reader()
    tell(told, 0, second(0), step=6)
    assert [one.step for one in reader()] == [6]


def test_an_empty_second_says_nothing() -> None:
    told = ToldSeconds()
    tell(told, 0, [])
    assert SecondsReader(told)() == []
