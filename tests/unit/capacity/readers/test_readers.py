"""Each program's output is a step: what is taken from it, and what is refused."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.capacity.readers import PROGRAMS, read_values
from plimsoll.capacity.steps.audits import audit_percentiles
from plimsoll.capacity.steps.littles_law import audit_littles_law
from plimsoll.errors import UsageError
from plimsoll.model.judging.steps import Statistic
from tests.unit.capacity.readers.outputs import (
    NAMES,
    REFUSED,
    read,
    reading_of,
    readings_of,
    text_of,
)

# By file: connections, rate, ops/s, errors, and latencies in microseconds.
STEPS: dict[str, tuple[int, float | None, float, int | None, dict[str, dict[Statistic, float]]]] = {
    "ycsb-0.1.4.txt": (3, None, 5600, 0, {
        "update": {"mean": 560.2, "max": 91233, "p95": 1000, "p99": 3000},
        "read": {"mean": 510.9},  # 0 ms is not known
    }),
    "ycsb-0.17.txt": (8, None, 999, 100, {
        "read": {"mean": 2000, "max": 81233, "p50": 1800, "p95": 4000, "p99": 9000},
        "update": {"mean": 4000, "p99": 9900},
        "read_modify_write": {"mean": 6000, "p99": 15000},
    }),
    "go-ycsb-plain.txt": (8, None, 9995, 100, {
        "read": {
            "mean": 710, "p50": 660, "p95": 1120, "p99": 1950, "p999": 4200, "max": 9100,
        },
        "update": {
            "mean": 880, "p50": 800, "p95": 1500, "p99": 2900, "p999": 7000, "max": 12900,
        },
    }),
    "go-ycsb-json.txt": (8, 12000, 9995, 0, {
        "read": {
            "mean": 710, "p50": 660, "p95": 1120, "p99": 1950, "p999": 4200, "max": 9100,
        },
        "read_modify_write": {
            "mean": 1600, "p50": 1500, "p95": 2500, "p99": 4400, "p999": 9000, "max": 19000,
        },
        "update": {
            "mean": 880, "p50": 800, "p95": 1500, "p99": 2900, "p999": 7000, "max": 12900,
        },
    }),
    "sysbench-1.0.txt": (64, None, 1600, 16, {
        "transaction": {"mean": 40_010.00075, "max": 301_220, "p95": 59_990},
    }),
    "sysbench-1.1.txt": (16, None, 400, 2, {
        "transaction": {
            "mean": 39_860, "max": 981_400, "p95": 59_990,
            "p50": 20_002, "p99": 59_993, "p999": 977_743,
        },
    }),
    "pgbench-13.txt": (10, None, 622.977698, None, {"transaction": {"mean": 15_844}}),
    "pgbench-15.txt": (4, None, 2000.5, 12, {"transaction": {"mean": 1998}}),
    "pgbench-rate.txt": (4, None, 197, 30, {"transaction": {"mean": 2353}}),
    "pgbench-scripts.txt": (4, None, 10_000, 0, {
        "select_only": {"mean": 200}, "buy": {"mean": 1000},
    }),
    "wrk2.txt": (100, None, 1980, 605, {
        "request": {
            "mean": 6602, "p50": 6670, "p95": 10_015, "p99": 11_180, "p999": 12_300,
            "max": 1_200_000,
        },
    }),
    "k6-summary-export.json": (4, None, 1798.2, 18, {
        "http_req": {
            "mean": 2000, "p50": 1800, "p95": 4800, "p99": 7500, "p999": 11_800, "max": 13_900,
        },
    }),
    "k6-handle-summary.json": (4, None, 1798.2, 18, {
        "http_req": {
            "mean": 2000, "p50": 1800, "p95": 4800, "p99": 7500, "p999": 11_800, "max": 13_900,
        },
    }),
    "k6-machine-readable.json": (4, None, 1798.2, 18, {
        "http_req": {"mean": 2000, "p50": 1800, "p95": 4800, "max": 13_900},
    }),
    "k6-arrival-rate.json": (1, None, 100, 0, {
        "http_req": {
            "mean": 2000, "p50": 1800, "p95": 4800, "p99": 7500, "p999": 11_800, "max": 13_900,
        },
    }),
    "latte-0.27.json": (32, 25000, 19_980, 1200, {
        "cycle": {
            "mean": 1250, "p50": 1125, "p95": 2000, "p99": 3125, "p999": 6250, "max": 15_000,
        },
    }),
    "latte-0.29.json": (32, None, 20_000, 0, {
        "read": {
            "mean": 1000, "p50": 900, "p95": 1600, "p99": 2500, "p999": 5000, "max": 12_000,
        },
        "write": {
            "mean": 2000, "p50": 1800, "p95": 3200, "p99": 5000, "p999": 10_000, "max": 24_000,
        },
    }),
}  # fmt: skip


def test_every_output_has_its_figures() -> None:
    assert set(STEPS) | REFUSED == set(NAMES)


@pytest.mark.parametrize("program", [*PROGRAMS.split(", "), "`plimsoll load --json`"])
def test_every_program_has_a_row_in_the_documentation(program: str) -> None:
    page = (Path(__file__).parents[4] / "docs/capacity.md").read_text()
    assert f"\n| {program} " in page


@pytest.mark.parametrize("name", STEPS)
def test_an_output_is_a_step(name: str) -> None:
    step = read(name).step
    connections, rate, throughput, errors, latency_us = STEPS[name]
    assert (step.source, step.connections, step.rate_ops_per_second) == (name, connections, rate)
    assert step.throughput_ops_per_second == pytest.approx(throughput)
    assert step.errors == errors
    assert step.latency_us == {o: pytest.approx(values) for o, values in latency_us.items()}
    assert step.operations == pytest.approx(throughput * (step.window_s or 0), rel=1e-3)


@pytest.mark.parametrize("name", STEPS)
def test_no_figures_dispute_each_other(name: str) -> None:
    reading = read(name)
    open_loop = reading.rate_unknown or reading.step.rate_ops_per_second
    if not open_loop:
        assert audit_littles_law(reading.step, 1.10).passed is True
    assert audit_percentiles(reading.step).passed is not False


@pytest.mark.parametrize(
    ("name", "shares"),
    [
        ("ycsb-0.1.4.txt", {"update": 0.5, "read": 0.5}),
        ("go-ycsb-plain.txt", {"read": 0.50025, "update": 0.49975}),
        ("go-ycsb-json.txt", {"read": 0.50025, "update": 0.49975, "read_modify_write": 0}),
        ("pgbench-scripts.txt", {"select_only": 0.75, "buy": 0.25}),
        ("latte-0.29.json", {"read": 0.75, "write": 0.25}),
    ],
)
def test_shares(name: str, shares: dict[str, float]) -> None:
    assert read(name).step.shares == pytest.approx(shares, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "unknown"),
    [
        ("wrk2.txt", "wrk2 does not print its --rate"),
        ("pgbench-rate.txt", "pgbench does not print its --rate"),
        ("k6-arrival-rate.json", "0.22 of 1 VUs were busy: a rate, or a number that changed"),
    ],
)
def test_a_rate_that_an_output_does_not_tell(name: str, unknown: str) -> None:
    assert (read(name).rate_unknown or "").startswith(unknown)


@pytest.mark.parametrize("name", ["go-ycsb-json.txt", "latte-0.27.json"])
def test_latencies_that_count_from_the_sending_are_said_to(name: str) -> None:
    assert "not from when it was due" in read(name).notes[0]


def test_progress_lines_of_pgbench_are_the_halves_of_its_window() -> None:
    halves = read("pgbench-scripts.txt").step.halves
    assert halves is not None
    assert [half.throughput_ops_per_second for half in halves] == [9500, 10_250]
    assert read("pgbench-15.txt").step.halves is None


def test_dropped_iterations_of_k6_are_a_rate() -> None:
    value = json.loads(text_of("k6-summary-export.json"))
    value["metrics"]["dropped_iterations"] = {"count": 7, "rate": 0.7}
    found = read_values(value, "a.json")
    assert found is not None
    assert "iterations were dropped" in (found.rate_unknown or "")


def test_a_k6_script_without_http_is_judged_by_its_iterations() -> None:
    value = json.loads(text_of("k6-summary-export.json"))
    for metric in ("http_reqs", "http_req_duration", "http_req_failed"):
        del value["metrics"][metric]
    found = read_values(value, "a.json")
    assert found is not None
    assert found.step.latency_us["iteration"]["mean"] == 2200
    assert found.step.throughput_ops_per_second == 1800
    assert found.step.errors is None, "an iteration that failed is not told"


def test_errors_that_k6_does_not_tell_are_not_known_and_none_are_none() -> None:
    value = json.loads(text_of("k6-summary-export.json"))
    value["metrics"]["http_req_failed"]["passes"] = 0
    without = read_values(value, "a.json")
    del value["metrics"]["http_req_failed"]
    unknown = read_values(value, "a.json")
    assert without is not None
    assert unknown is not None
    assert (without.step.errors, unknown.step.errors) == (0, None)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("sysbench-1.0.txt", "transactions:", "events:", "no 'transactions' line"),
        ("sysbench-1.1.txt", "time elapsed:", "elapsed:", "total time is missing: cut off"),
        ("go-ycsb-plain.txt", "Run finished", "Run ended", "cut off: no 'Run finished'"),
        ("go-ycsb-plain.txt", "Count: 100000", "Count: many", "READ, Count is 'many', not a num"),
        ("go-ycsb-json.txt", '"Count": "100000"', '"N": "1"', "READ has no Count: cut off"),
        ("pgbench-15.txt", "tps =", "ops =", "no 'tps =' or 'number of clients:'"),
        ("wrk.txt", "", "", "wrk's report, which has no rate, or wrk2's without --latency"),
        ("wrk2.txt", "requests in", "bytes in", "no 'requests in', 'Requests/sec:'"),
        ("k6-summary-export.json", '"count": 18000', '"count": 0', "http_reqs.count is 0"),
        ("k6-summary-export.json", '"avg": 2.0', '"avg": "2 ms"', "avg is not a number"),
        ("latte-0.29.json", '"threads": 2', '"threads": true', "conf.threads is not a number"),
        ("latte-0.29.json", '"cycle_count"', '"cycles"', "result.cycle_count is missing"),
    ],
)
def test_an_output_that_cannot_be_read_is_refused_by_its_field(
    name: str, old: str, new: str, message: str
) -> None:
    text = text_of(name)
    assert old in text
    with pytest.raises(UsageError, match=message):
        reading_of(text.replace(old, new), name)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("name", [n for n in NAMES if n.endswith(".txt") and n not in REFUSED])
def test_outputs_one_after_the_other_in_one_file_are_steps(name: str, count: int) -> None:
    found = readings_of((text_of(name) + "\n") * count, name)
    alone = read(name)
    assert [one.step.source for one in found] == [f"{name} output {n + 1}" for n in range(count)]
    assert {one.step.model_copy(update={"source": name}).model_dump_json() for one in found} == {
        alone.step.model_dump_json()
    }


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".txt")])
def test_an_output_that_is_cut_off_anywhere_is_read_or_refused(name: str) -> None:
    text = text_of(name)
    for end in range(0, len(text), 7):
        try:
            found = reading_of(text[:end], name)
        except UsageError:
            continue
        assert found is None or found.step.throughput_ops_per_second is not None


def changed(value: object) -> Iterator[object]:
    """A JSON value with each of its parts in turn replaced by something else."""
    yield from (None, "x", -1, [], {}, 1e400, True)
    if isinstance(value, dict):
        for key, part in value.items():
            yield {k: v for k, v in value.items() if k != key}
            yield from ({**value, key: new} for new in changed(part))
    if isinstance(value, list) and value:
        yield from ([new, *value[1:]] for new in changed(value[0]))


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".json")])
def test_json_with_anything_else_in_it_is_read_or_refused(name: str) -> None:
    for value in changed(json.loads(text_of(name))):
        try:
            read_values(value, name)
        except UsageError as error:
            assert name in str(error)  # noqa: PT017 - either outcome is right


@pytest.mark.timeout(60)  # what goes over the same text again and again would take hours
@pytest.mark.parametrize(
    "filler",
    [
        " 1.1%\n" * 2**17,
        *(
            pytest.param(f, marks=pytest.mark.whole)
            for f in ("\n" * 2**18, " " * 2**20, "1" * 2**20)
        ),
    ],
)
@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".txt")])
def test_the_time_that_reading_takes_grows_with_the_text(name: str, filler: str) -> None:
    text = text_of(name)
    middle = len(text) // 2
    try:
        reading_of(text[:middle] + filler + text[middle:], name)
    except UsageError as error:
        assert len(str(error)) < 1000  # noqa: PT017 - either outcome is right
