"""A request names the file of its workload, which goes with it."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from plimsoll.cli.main import cli
from plimsoll.errors import UsageError
from plimsoll.model.request.request import Request
from plimsoll.requests.cells import CheckedExperiment
from plimsoll.requests.experiment_file import read_file

SHOP = """\
about: the shop's own statements
default_records: 100
tables:
  item:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: bigint, value: row}
      price: {type: int, value: {integer: [1, 9]}}
operations:
  read:
    weight: 100
    statements: [{sql: "SELECT price FROM item WHERE id = ?", binds: [{key: item}]}]
"""
REQUEST: dict[str, Any] = {
    "name": "shop",
    "target": {
        "kind": "rds",
        "engine": "mariadb",
        "engine_version": "11.4",
        "instance_class": "db.m5.large",
        "volume": {"type": "gp3", "size_gib": 20},
    },
    "workload": {"file": "shop.yaml", "records": 1000},
    "search": {"strategy": "ramp", "connections_max": 8},
}


def asked(folder: Path, **changes: Any) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / "request.yaml"
    file.write_text(yaml.safe_dump({**REQUEST, **changes}))
    return file


def test_the_file_is_read_and_goes_with_the_request(tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(SHOP)
    read = read_file(asked(tmp_path))
    assert isinstance(read, dict)
    (checked,) = read.values()
    workload = checked.request.workload
    assert workload.definition is not None
    assert (workload.definition["name"], workload.records) == ("shop", 1000)
    assert checked.workload.operation_names == ("read",)
    assert Request.model_validate_json(checked.request.model_dump_json()) == checked.request


def test_scripts_are_read_with_their_weights(tmp_path: Path) -> None:
    (tmp_path / "read.sql").write_text("SELECT 1;")
    (tmp_path / "move.sql").write_text("SELECT 2;")
    target = REQUEST["target"] | {"engine": "postgres", "engine_version": "17"}
    workload = {"file": "read.sql@9,move.sql"}
    read = read_file(asked(tmp_path, target=target, workload=workload, prepare={"pgbench": 2}))
    assert isinstance(read, dict)
    (checked,) = read.values()
    weights = {one.name: one.weight for one in checked.workload.engine.operations}
    assert weights == {"read": 9, "move": 1}
    assert Request.model_validate_json(checked.request.model_dump_json()) == checked.request
    with pytest.raises(UsageError, match=r"'\.\./read\.sql' lies outside"):
        read_file(asked(tmp_path, target=target, workload={"file": "read.sql,../read.sql"}))


def test_the_schema_of_scripts_is_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "read.sql").write_text("SELECT b FROM a;")
    (tmp_path / "schema.sql").write_text("CREATE TABLE a (b int);")
    target = REQUEST["target"] | {"engine": "postgres", "engine_version": "17"}
    fields = {"target": target, "workload": {"file": "read.sql"}}
    read = read_file(asked(tmp_path, prepare={"schema": "schema.sql"}, **fields))
    assert isinstance(read, dict)
    (checked,) = read.values()
    assert checked.schema == ("CREATE TABLE a (b int)",)
    assert Request.model_validate_json(checked.request.model_dump_json()) == checked.request
    (tmp_path / "schema.sql").write_text("CREATE TABLE a (b int);\nDROP DATABASE app;")
    with pytest.raises(UsageError, match=r"schema\.sql:2: DROP DATABASE is no statement"):
        read_file(asked(tmp_path, prepare={"schema": "schema.sql"}, **fields))
    with pytest.raises(UsageError, match=r"'\.\./schema\.sql' lies outside"):
        read_file(asked(tmp_path, prepare={"schema": "../schema.sql"}, **fields))


def test_a_file_below_the_folder_is_read_and_one_outside_only_where_that_is_allowed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "request"
    (folder / "ours").mkdir(parents=True)
    (folder / "ours" / "shop.yaml").write_text(SHOP)
    (tmp_path / "shop.yaml").write_text(SHOP)
    assert read_file(asked(folder, workload={"file": "ours/shop.yaml", "records": 9}))
    outside = asked(folder, workload={"file": "../shop.yaml", "records": 9})
    with pytest.raises(UsageError, match=r"request\.yaml:\d+: '\.\./shop\.yaml' lies outside"):
        read_file(outside)
    assert read_file(outside, [tmp_path])
    (folder / "link.yaml").symlink_to(tmp_path / "shop.yaml")
    with pytest.raises(UsageError, match="lies outside"):
        read_file(asked(folder, workload={"file": "link.yaml", "records": 9}))


def test_what_is_wrong_in_the_workload_is_named_with_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(SHOP.replace("bigint", "bigger"))
    with pytest.raises(UsageError, match=r"shop\.yaml:8: .*unknown type 'bigger'"):
        read_file(asked(tmp_path))


def test_what_only_the_request_gets_wrong_is_named_with_the_requests_line(tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(SHOP)
    wrong = {"file": "shop.yaml", "records": 9, "parameters": {"skew": 1}}
    with pytest.raises(UsageError, match=r"request\.yaml:\d+: workload\.parameters\.skew: unknown"):
        read_file(asked(tmp_path, workload=wrong))
    with pytest.raises(UsageError, match="give either `name` or `definition`"):
        read_file(asked(tmp_path, workload={"file": "shop.yaml", "name": "ycsb-a", "records": 9}))


@pytest.mark.parametrize("field", ["runs", "axes"])
def test_the_file_of_a_change_replaces_that_of_the_whole(tmp_path: Path, field: str) -> None:
    (tmp_path / "shop.yaml").write_text(SHOP)
    (tmp_path / "other.yaml").write_text(SHOP.replace("read:", "look:").replace("item", "thing"))
    change = {"workload": {"file": "other.yaml"}}
    file = tmp_path / "request.yaml"
    if field == "runs":
        file.write_text(yaml.safe_dump({**REQUEST, "runs": {"a": {}, "b": change}}))
        read = read_file(file)
        assert isinstance(read, dict)
        found = [one.workload.operation_names for one in read.values()]
    else:
        asked_of_all = {key: part for key, part in REQUEST.items() if key != "name"}
        axes = {"work": {"a": {}, "b": change}}
        experiment = {"name": "e", "request": asked_of_all, "axes": axes}
        file.write_text(yaml.safe_dump(experiment))
        checked = read_file(file)
        assert isinstance(checked, CheckedExperiment)
        found = list(checked.apply(lambda one: one.workload.operation_names))
    assert found == [("read",), ("look",)]


def test_the_command_line_checks_such_a_request(tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(SHOP)
    told = CliRunner().invoke(cli, ["validate", str(asked(tmp_path))])
    assert told.exit_code == 0, told.output
