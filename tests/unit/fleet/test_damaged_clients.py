"""Clients' files that were damaged, or that a hostile client wrote: the step is judged by what is
there, or one sentence names the file and the fault, in little memory."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from plimsoll.errors import UnreadableFileError
from plimsoll.fleet.fold import Fold
from plimsoll.fleet.sense import check_sense
from plimsoll.fleet.step import build_step
from plimsoll.model.run.results import StepResult
from tests.support.little_memory import little_memory
from tests.unit.fleet.test_fold import client
from tests.unit.fleet.test_merge import planned, result
from tests.unit.test_corrupted_results import DAMAGES, list_places

QUICK, WHOLE = 20, 400  # damages of each kind
NUMBERS: tuple[Any, ...] = (-1, -(10**15), 10**18, 2**63, 10**30, 10**310, -1e300, 1e300)
OTHERS: tuple[Any, ...] = (None, "", "x", [], {}, [[]], {"a": 10**18}, True)


def fold_two(one: bytes, other: bytes) -> str | None:
    """Fold two clients' files and make their step; return why that was refused."""
    fold = Fold(planned(clients=2, duration_s=8))
    try:
        for number, file in enumerate((one, other)):
            fold.add(file, name=f"clients/{number}")
    except UnreadableFileError as error:
        return str(error)
    step, _ = check_sense(build_step(fold, [], server_after=None, statistic="p99"), fold)
    StepResult.model_validate_json(step.model_dump_json())
    return None


def check(one: bytes, other: bytes, seen: object) -> None:
    told = fold_two(one, other)
    if told is not None:
        assert told.startswith("clients/0 is not a client's result: "), seen
        assert "\n" not in told, seen
        assert len(told) < 1_000, seen


def two_clients() -> tuple[bytes, bytes]:
    one, other = (client(Random(5), number, apart_ms=50) for number in range(2))
    return one.model_dump_json().encode(), other.model_dump_json().encode()


def check_damages(damage: Callable[[bytes, Random], bytes], count: int) -> None:
    one, other = two_clients()
    for number in range(count):
        check(damage(one, Random(number)), other, (damage.__name__, number))


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused_in_a_sentence_or_counts(
    damage: Callable[[bytes, Random], bytes],
) -> None:
    check_damages(damage, QUICK)


@pytest.mark.whole
@pytest.mark.parametrize("damage", DAMAGES)
def test_so_is_each_of_hundreds(damage: Callable[[bytes, Random], bytes]) -> None:
    check_damages(damage, WHOLE)


def check_values(values: tuple[Any, ...]) -> None:
    """Put each value into every place of a file, one at a time; of alike places into the first."""
    one, other = two_clients()
    file, tried = json.loads(one), set()
    for holder, key in list(list_places(file)):
        alike = (*sorted(holder), key) if isinstance(holder, dict) else len(tried)
        if alike not in tried:
            tried.add(alike)
            was = holder[key]
            for value in values:
                holder[key] = value
                check(json.dumps(file).encode(), other, (key, value))
            holder[key] = was


def test_a_figure_that_no_client_measures_is_refused() -> None:
    check_values((-(10**15), 10**30))


@pytest.mark.whole
@pytest.mark.parametrize("value", [*NUMBERS, *OTHERS])
def test_so_is_each_of_many(value: Any) -> None:
    check_values((value,))


def test_two_damaged_counts_that_each_can_be_are_added_up() -> None:
    one, other = ({**json.loads(file), "report": None} for file in two_clients())
    for number, file in enumerate((one, other)):
        report = json.loads(result(number, [1]).model_dump_json())["report"]
        report["operations"]["read"]["succeeded"] = 2**53
        report["seconds"][0] |= {"succeeded": 2**40, "buckets": {"1": 2**40}}
        file["report"] = report
    assert fold_two(json.dumps(one).encode(), json.dumps(other).encode()) is None


MANY = 500_000


@pytest.mark.parametrize(
    ("place", "told"),
    [
        (lambda file: file, "more than 1000 fields"),
        (lambda file: file["report"], "report: more than 1000 fields"),
        (lambda file: file["report"]["operations"]["read"], "operations: more than 1000 fields"),
        (lambda file: file["report"]["operations"], "operations: more than 1000 fields"),
        (lambda file: file["report"]["error_examples"], "more than 4194304 bytes without"),
        (lambda file: file["report"]["seconds"][0]["buckets"], "no second has so many"),
    ],
    ids=["file", "report", "operation", "operations", "examples", "buckets"],
)
def test_a_file_with_millions_of_fields_is_refused_in_little_memory(
    place: Callable[[Any], dict[str, Any]], told: str
) -> None:
    file = json.loads(result(0, [1]).model_dump_json())
    fields, value = place(file), place(file).get("read", 1)
    count = MANY if value == 1 else 5_000  # operations are longer
    fields |= {str(10**6 + number): value for number in range(count)}
    raw = json.dumps(file).encode()
    del file, fields
    with pytest.raises(UnreadableFileError, match=told), little_memory():
        Fold(planned()).add(raw, name="clients/0")


def test_a_name_of_millions_of_characters_is_not_repeated() -> None:
    file = json.loads(result(0, [1]).model_dump_json())
    file["report"]["seconds"][0]["x" * 10_000_000] = 1
    assert len(fold_two(json.dumps(file).encode(), b"") or "") < 1_000
