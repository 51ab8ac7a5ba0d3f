"""Tables from elsewhere: what is read, and what is refused, by row and column."""

import json

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.capacity.readers.reading import parse_json
from plimsoll.capacity.readers.tables import read_csv, read_table
from plimsoll.errors import UsageError
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Statistic, Step
from tests.unit.capacity.reference import R1_1000_IOPS

HEADER = "clients,throughput_ops_per_second,latency_us.update"


def read_json(text: str, name: str, unnamed: Statistic) -> list[Step]:
    return read_table(parse_json(text, name), name, unnamed)


def test_csv_columns_absent_cells_and_named_statistics() -> None:
    text = (
        "\ufeffclients, connections, rate_ops_per_second, throughput_ops_per_second, errors,"
        "operations, window_s, client_busy, latency_us.update, latency_us.update.p99,"
        "latency_us.new_order.mean, share.update\n"
        "\n"
        '2,16,,"4000.5",0,40005,10,0.25,480,900,,0.5\n'
    )
    (step,) = read_csv(text, "a.csv", "mean")
    assert step.source == "a.csv row 3"
    assert (step.clients, step.connections, step.rate_ops_per_second) == (2, 16, None)
    assert (step.throughput_ops_per_second, step.errors, step.operations) == (4000.5, 0, 40005)
    assert (step.window_s, step.client_busy) == (10, 0.25)
    assert step.latency_us == {"update": {"mean": 480, "p99": 900}}
    assert step.shares == {"update": 0.5}


def test_throughput_follows_from_operations_and_window() -> None:
    (step,) = read_csv("clients,operations,window_s\n1,500,10\n", "a.csv", "mean")
    assert step.throughput_ops_per_second == 50


def test_an_operation_may_have_dots_in_its_name() -> None:
    text = "clients,throughput_ops_per_second,latency_us.shop.buy.p95\n1,5,9\n"
    (step,) = read_csv(text, "a.csv", "mean")
    assert step.latency_us == {"shop.buy": {"p95": 9}}


BAD_CSV = [
    ("", "a.csv: empty"),
    (HEADER + "\n", "a.csv: a header and no rows"),
    (HEADER + "\n1,NaN,5\n", "a.csv row 2: throughput_ops_per_second is NaN"),
    (HEADER + "\n1,inf,5\n", "a.csv row 2: throughput_ops_per_second is inf"),
    (HEADER + "\n1,5,6\n2,-1,5\n", "a.csv row 3: throughput_ops_per_second is -1, below 0"),
    (HEADER + "\n1,fast,5\n", "a.csv row 2: throughput_ops_per_second is 'fast', not a number"),
    (HEADER + "\n1,,5\n", "a.csv row 2: throughput_ops_per_second is missing"),
    (HEADER + "\n1.5,5,5\n", "a.csv row 2: clients is 1.5, not a whole number"),
    (HEADER + "\n0,5,5\n", "a.csv row 2: clients is 0"),
    (HEADER + "\n1,5,0\n", "a.csv row 2: latency_us.update is 0; leave unknown values out"),
    (HEADER + "\n1,5\n", "a.csv row 2: 2 cells, but the header has 3 columns"),
    (HEADER + ",clients\n1,5,5,1\n", "a.csv row 1: column 'clients' occurs twice"),
    (HEADER + ",latency_us.update.mean\n1,5,5,1\n", "gives the mean of update again"),
    (HEADER + ",client_bussy\n1,5,5,1\n", "'client_bussy'; did you mean 'client_busy'"),
    (HEADER + ",client_busy\n1,5,5,80\n", "a.csv row 2: client_busy is 80, a share from 0 to 1"),
    (HEADER + ",latency_us.p99\n1,5,5,5\n", "'latency_us.p99' names no operation"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD_CSV, ids=[message for _, message in BAD_CSV])
def test_a_bad_table_is_refused_by_row_and_column(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_csv(text, "a.csv", "mean")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "row",
    [
        {"latency_us.update": 420},
        {"latency_us.update.mean": 420},
        {"latency_us": {"update": 420}},
        {"latency_us": {"update": {"mean": 420}}, "errors": None},
    ],
)
def test_json_rows_flat_or_nested(row: dict[str, object]) -> None:
    rows = [{"clients": 1, "throughput_ops_per_second": 2300} | row]
    for text in (json.dumps(rows), json.dumps({"steps": rows})):
        (step,) = read_json(text, "a.json", "mean")
        assert step.latency_us == {"update": {"mean": 420}}
        assert (step.source, step.errors) == ("a.json row 1", None)


BAD_JSON = [
    ("{]", "a.json line 1: no JSON"),
    ("5", "a.json: a table of steps is a list of objects"),
    ("[1]", "a.json: a table of steps is a list of objects"),
    ("[]", "a.json: no steps"),
    ('[{"clients": 1, "clients": 2}]', "a.json: key 'clients' occurs twice"),
    ('[{"clients": true}]', "a.json row 1: clients is true, not a number"),
    ('[{"clients": 1, "throughput_ops_per_second": NaN}]', "throughput_ops_per_second is nan"),
    ('[{"clients": [1]}]', "a.json row 1: clients is [1], not a number"),
    ('[{"clients": 1, "recovered": "no", "window_s": -1}]', "a.json row 1: window_s: Input"),
]


@pytest.mark.parametrize(("text", "message"), BAD_JSON, ids=[message for _, message in BAD_JSON])
def test_bad_json_is_refused_by_row_and_column(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_json(text, "a.json", "mean")
    assert message in str(caught.value)


def test_what_a_capacity_prints_can_be_judged_again() -> None:
    rules = Rules(statistic="mean", confirmation=None)
    first = judge(R1_1000_IOPS, rules)
    steps = read_json(first.model_dump_json(), "a.json", "mean")
    again = judge(steps, rules)
    assert (again.verdict, again.bracket, again.causes) == (
        first.verdict,
        first.bracket,
        first.causes,
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[" * 5000, "a.json: nested too deeply"),
        (
            '{"steps":' + "[" * 5000 + "]" * 5000 + "}",
            "a.json: nested too deeply",
        ),
        ("[" + "1" * 10_000 + "]", "a.json: no JSON: a number is too long"),
    ],
)
def test_json_beyond_measure_is_one_sentence(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=f"^{told}$"):
        read_json(text, "a.json", "mean")


def test_a_cell_beyond_measure_is_one_sentence() -> None:
    with pytest.raises(UsageError, match=r"^a.csv line 2: no CSV: field larger than field limit"):
        read_csv(f"{HEADER}\n{'1' * 200_000},1,1\n", "a.csv", "mean")


def test_names_do_not_control_a_terminal() -> None:
    text = '[{"clients": 1, "throughput_ops_per_second": 5, "latency_us": {"\\u001b[2J": 9}}]'
    (step,) = read_json(text, "a.json", "mean")
    assert list(step.latency_us) == ["\\x1b[2J"]
