"""Errors in a request name the file, the line, the field, the value and what is allowed."""

import pytest

from plimsoll.documents import read_document
from plimsoll.errors import UsageError
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.requests.request_file import read_requests

GOOD = """\
name: good
target:
  kind: rds
  engine: mariadb
  engine_version: "11.4.5"
  instance_class: db.m5.large
  volume:
    type: io1
    size_gib: 100
    iops: 1000
workload:
  name: ycsb-a
  records: 1000
search:
  strategy: steps
  clients: [1, 2]
limits:
  limits_us:
    update: 5000
"""


def complaints(text: str) -> list[str]:
    with pytest.raises(UsageError) as caught:
        read_requests(read_document(text, "r.yaml"))
    return str(caught.value).splitlines()


def test_one_request_is_one_run() -> None:
    requests = read_requests(read_document(GOOD, "r.yaml"))
    assert list(requests) == ["good"]
    assert requests["good"].request.limits.limits_us == {"update": 5000}


def test_runs_change_what_they_name_and_share_the_rest() -> None:
    text = GOOD + "runs:\n  low: {}\n  high: {target: {volume: {iops: 2000}}}\n"
    requests = read_requests(read_document(text, "r.yaml"))
    assert [checked.request.name for checked in requests.values()] == ["good-low", "good-high"]
    targets = [checked.request.target for checked in requests.values()]
    assert [t.volume.iops for t in targets if isinstance(t, RdsTarget)] == [1000, 2000]
    assert requests["high"].request.search == requests["low"].request.search


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("iops: 1000", "iops: 900",
         "r.yaml:10: target.volume.iops: 900 is not allowed for io1 of 100 GiB on rds-mariadb"),
        ("    size_gib: 100", "    size_gib: 100\n    kind: io1",
         "r.yaml:10: target.volume.kind: unknown field 'kind' (allowed: burst, cloud, cre"),
        ("records: 1000", "records: many",
         "r.yaml:13: workload.records: input should be a valid integer"),
        ("name: ycsb-a", "name: ycsb-q", "r.yaml:12: workload.name: unknown workload 'ycsb-q'"),
        ("strategy: steps", "strategy: guess",
         "r.yaml:15: search.strategy: input should be 'steps', 'ramp' or 'rate', not 'guess'"),
        ("clients: [1, 2]", "clients: [2, 1]",
         "r.yaml:16: search.clients: a list of different numbers in ascending order"),
        ("clients: [1, 2]", "clients: []", "r.yaml:16: search.clients: needs at least 1 entry"),
        ("clients: [1, 2]", "clients: [0]",
         "r.yaml:16: search.clients[0]: input should be greater than or equal to 1, not 0"),
        ("clients: [1, 2]", "clients: '1,2'", "r.yaml:16: search.clients: must be a list, not"),
        ("iops: 1000", "iops: 1000000", "r.yaml:10: target.volume.iops: 1,000,000 is not allowed"),
        ("update: 5000", "scan: 5000",
         "r.yaml:19: limits.limits_us.scan: unknown operation 'scan' (allowed: read, update)"),
        ("name: good", "name: good\ntime_limit_s: 1",
         "r.yaml:2: time_limit_s: input should be greater than or equal to 10, not 1"),
        ("records: 1000", "records: 1000\n  parameters: {rows: 3}",
         "r.yaml:14: workload.parameters.rows: unknown parameter of ycsb-a 'rows'"),
        ("name: good", "name: good\nname: twice", "r.yaml:2: name: is given twice"),
        ("name: good\n", "", "r.yaml:1: lacks the field 'name'"),
        ("name: good", "name: [good", "r.yaml:2: not YAML: expected ',' or ']'"),
    ],
)  # fmt: skip
def test_an_error_names_its_place(old: str, new: str, complaint: str) -> None:
    assert old in GOOD
    (line,) = complaints(GOOD.replace(old, new, 1))
    assert line.startswith(complaint)


def test_every_error_is_told_at_once() -> None:
    text = GOOD.replace("records: 1000", "records: 0").replace("engine: mariadb", "engine: db2")
    assert len(complaints(text)) == 2


def test_an_error_in_a_runs_change_names_its_line() -> None:
    text = GOOD + "runs:\n  low: {}\n  high: {target: {volume: {iops: 9}}}\n"
    (line,) = complaints(text)
    assert line.startswith("r.yaml:22: target.volume.iops: 9 is not allowed")
