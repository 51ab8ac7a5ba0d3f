"""Events as they go over the wire: what changed, under which id, and how a stream ends."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any

import pytest

from plimsoll.console.live import Cursor, show_live
from plimsoll.console.stream import (
    FEW,
    LISTED,
    WHOLE_EVERY,
    Pace,
    encode_event,
    stream_list,
    stream_run,
)
from plimsoll.model.run.run_record import RunState
from plimsoll.model.service.answers import RunSummary
from plimsoll.model.service.live import Live, LiveAnswer, LiveSecond, LiveSecondOperation
from plimsoll.workflow.listing import summarize_record
from plimsoll.workflow.past import rebuild_record
from tests.support.live_run import running_look
from tests.support.synthetic_run import synthetic_run


class Ticks(Pace):
    """Never waits; ends after so many looks."""

    def __init__(self, looks: int, *, quiet: bool = False) -> None:
        super().__init__(Event(), 0)
        self._left, self._is_quiet = looks, quiet

    @property
    def quiet(self) -> bool:
        return self._is_quiet

    def goes_on(self) -> bool:
        self._left -= 1
        return self._left > 0


def parsed(event: bytes) -> dict[str, Any]:
    lines = event.decode().strip().splitlines()
    fields = dict(line.split(": ", 1) for line in lines)
    return {**fields, "data": json.loads(fields["data"])} if "data" in fields else fields


@pytest.fixture
def shown() -> Live:
    return show_live(running_look(), Cursor())


def test_an_event_is_one_line_of_data_whatever_a_run_is_called() -> None:
    event = encode_event("live", json.dumps({"name": "a\n\nevent: bye\r\ndata: x"}), "7.0.1")
    lines = event.decode().split("\n")
    assert lines[:2] == ["event: live", "id: 7.0.1"]
    assert len(lines) == 5  # the data, and the empty line that ends it
    assert json.loads(lines[2].removeprefix("data: "))["name"].startswith("a\n\nevent")


def test_the_first_look_is_told_at_once_and_then_what_changes(shown: Live) -> None:
    later = shown.model_copy(update={"cursor": "2.0.1", "bracket": (1.0, 2.0)})
    asked: list[str] = []
    looks: Iterator[Live] = iter([shown, shown, later, later])

    def read(cursor: Cursor) -> Live:
        asked.append(str(cursor))
        return next(looks)

    events = [parsed(event) for event in stream_run(read, Cursor(), Ticks(4))]
    assert [event["event"] for event in events] == ["live", "live", "bye"]
    assert [event["id"] for event in events[:2]] == [shown.cursor, "2.0.1"]
    assert asked == ["0.0.0", shown.cursor, shown.cursor, "2.0.1"]


def test_time_that_passes_is_no_news(shown: Live) -> None:
    later = shown.model_copy(update={"at": shown.at + timedelta(seconds=1)})
    looks = iter([shown, later, later])
    events = [*stream_run(lambda _: next(looks), Cursor(), Ticks(3))]
    assert [parsed(event)["event"] for event in events] == ["live", "bye"]


def test_a_quiet_stream_gives_signs_of_life(shown: Live) -> None:
    events = [*stream_run(lambda _: shown, Cursor(), Ticks(3, quiet=True))]
    assert events[1:3] == [b": alive\n\n"] * 2


def test_a_stream_ends_with_its_run_once_the_answer_was_told(shown: Live) -> None:
    ended = shown.run.model_copy(update={"state": RunState.SUCCEEDED, "ended_at": shown.at})
    late = shown.model_copy(update={"run": ended})
    answer = LiveAnswer(tag="knee found", decided=True, figure="1", sentence="x", facts=())
    told = late.model_copy(update={"answer": answer})
    looks = iter([late, told])
    events = [parsed(event) for event in stream_run(lambda _: next(looks), Cursor(), Ticks(9))]
    assert [event["event"] for event in events] == ["live", "live"]  # and no goodbye
    assert events[-1]["data"]["answer"]["tag"] == "knee found"


def test_results_that_never_come_are_not_waited_for_for_ever(shown: Live) -> None:
    ended_at = shown.at - timedelta(seconds=31)
    ended = shown.run.model_copy(update={"state": RunState.FAILED, "ended_at": ended_at})
    late = shown.model_copy(update={"run": ended})
    assert len([*stream_run(lambda _: late, Cursor(), Ticks(9))]) == 1


def test_seconds_of_the_step_under_way_come_without_an_id(shown: Live) -> None:
    figures = LiveSecondOperation(succeeded=9, errors=0, p99_us=800)
    second = LiveSecond(
        step=3, epoch_s=100, clients=2, clients_told=1, operations={"read": figures}
    )
    told = iter([[second], []])
    events = stream_run(lambda _: shown, Cursor(), Ticks(2), seconds=lambda: next(told))
    [_, told_second, _] = [parsed(event) for event in events]
    assert (told_second["event"], "id" in told_second) == ("second", False)
    assert told_second["data"]["operations"]["read"] == {"succeeded": 9, "errors": 0, "p99_us": 800}


def test_a_list_is_told_whole_and_then_what_is_new_in_it() -> None:
    result, _ = synthetic_run()
    one = summarize_record(rebuild_record(result))
    two = one.model_copy(update={"run_id": "another", "submitted_at": datetime.now(UTC)})
    moved = one.model_copy(update={"verdict": "PLATEAU"})
    looks = iter([[one], [two, one], [two, one], [two, moved]])
    events = [parsed(event) for event in stream_list(lambda _: next(looks), Ticks(4))]
    told = [[row["run_id"] for row in event["data"]["runs"]] for event in events[:-1]]
    assert told == [[one.run_id], ["another"], [one.run_id]]
    assert [event.get("id") for event in events] == ["1", "2", "3", None]
    assert events[-1]["event"] == "bye"


def test_an_empty_list_is_told_too() -> None:
    [first, _] = [parsed(event) for event in stream_list(lambda _: [], Ticks(1))]
    assert first["data"] == {"runs": []}


def test_what_has_ended_long_ago_is_read_anew_once_in_a_while() -> None:
    result, _ = synthetic_run()
    ended = summarize_record(rebuild_record(result))
    rows = [
        ended.model_copy(
            update={"run_id": f"run-{i}", "submitted_at": ended.submitted_at - timedelta(hours=i)}
        )
        for i in range(60)
    ]
    rows[20] = rows[20].model_copy(update={"state": RunState.RUNNING})
    asked: list[int] = []

    def read(most: int) -> list[RunSummary]:
        asked.append(most)
        if len(asked) == 3:
            rows[20] = rows[20].model_copy(update={"state": RunState.SUCCEEDED})
            rows[50] = rows[50].model_copy(update={"verdict": "PLATEAU"})
        return rows[:most]

    events = [parsed(event) for event in stream_list(read, Ticks(WHOLE_EVERY + 1))]
    told = [[row["run_id"] for row in event["data"]["runs"]] for event in events[:-1]]
    assert asked == [LISTED, 31, 31, *[FEW] * (WHOLE_EVERY - 3), LISTED]
    assert told[1:] == [["run-20"], ["run-50"]]
