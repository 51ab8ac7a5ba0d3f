"""A request is refused before anything is made, naming the field and what is allowed."""

import re
from copy import deepcopy
from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.model.judging.capacity import Rules
from plimsoll.model.request.cassandra_target import (
    CassandraTarget,
    has_instance_store,
    is_graviton,
)
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.request.request import Request
from tests.support.requested import REQUESTED

RDS: dict[str, Any] = REQUESTED["target"]
ENDPOINT: dict[str, Any] = {
    "kind": "endpoint",
    "engine": "mysql",
    "host": "db.example.com",
    "secret_arn": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:bench",
}


def changed(path: str, value: object) -> dict[str, Any]:
    request = deepcopy(REQUESTED)
    *parents, last = path.split(".")
    place = request
    for name in parents:
        place = place.setdefault(name, {})
    place[last] = value
    return request


def test_the_smallest_request_has_every_default() -> None:
    request = Request.model_validate(REQUESTED)
    assert isinstance(request.target, RdsTarget)
    assert request.target.service == "rds-mariadb"
    assert (request.load.warmup_s, request.load.duration_s) == (30, 60)
    assert request.time_limit_s == 7200
    assert request.limits.deterioration == 3
    assert request.team == "default"


POSTGRES: dict[str, Any] = {
    **REQUESTED["target"],
    "engine": "postgres",
    "engine_version": "18",
    "parameters": {"rds.force_ssl": 1, "shared_buffers": "{DBInstanceClassMemory/32768}"},
}


def test_postgresql_on_rds_is_a_target() -> None:
    target = Request.model_validate(changed("target", POSTGRES)).target
    assert isinstance(target, RdsTarget)
    assert target.service == "rds-postgres"
    assert target.parameters == POSTGRES["parameters"]


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        ("engine_version", "15.18", "measured from 16 on.*allowed: 18, 17, 16"),
        ("engine_version", "18.4.1", "is written 18 or 18.4"),
        ("volume", {"type": "gp3", "size_gib": 399, "iops": 12000}, "cannot be provisioned"),
        ("volume", {"type": "io1", "size_gib": 100, "iops": 5001}, "allowed value is 5,000"),
    ],
)
def test_a_postgresql_that_cannot_be_is_refused(path: str, value: object, complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        Request.model_validate(changed("target", {**POSTGRES, path: value}))


def test_an_endpoint_is_a_target() -> None:
    target = Request.model_validate(changed("target", ENDPOINT)).target
    assert isinstance(target, EndpointTarget)
    assert target.port == 3306


@pytest.mark.parametrize(
    ("engine", "port"), [("mariadb", 3306), ("postgres", 5432), ("cassandra", 9042)]
)
def test_an_endpoint_has_its_engines_usual_port(engine: str, port: int) -> None:
    target = Request.model_validate(changed("target", {**ENDPOINT, "engine": engine})).target
    assert isinstance(target, EndpointTarget)
    assert target.port == port


@pytest.mark.parametrize(("name", "value"), [("statement_mode", "simple"), ("allow_md5", True)])
def test_an_endpoint_has_postgresqls_options_where_it_is_one(name: str, value: object) -> None:
    asked = {**ENDPOINT, "engine": "postgres", name: value}
    target = Request.model_validate(changed("target", asked)).target
    assert getattr(target, name) == value
    with pytest.raises(ValidationError, match=f"{name}: is of PostgreSQL alone, not of mysql"):
        Request.model_validate(changed("target", {**ENDPOINT, name: value}))


def test_an_endpoint_of_an_unknown_engine_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match=r"endpoint\.engine") as refused:
        Request.model_validate(changed("target", {**ENDPOINT, "engine": "oracle"}))
    assert "port" not in str(refused.value)


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        ("colour", "blue", "colour"),
        ("target.volume.iops", 999, "nearest allowed value is 1,000"),
        ("target.volume.iops", 5001, "nearest allowed value is 5,000"),
        ("target.volume.type", "nvme", "rds-mariadb has no nvme"),
        ("target.volume.size_gib", 99, "nearest allowed value is 100"),
        ("target.engine", "oracle", "'mysql', 'mariadb' or 'postgres'"),
        ("target.engine_version", "latest", "engine_version"),
        ("target.engine_version", "11", "a version of MariaDB is written 11.8 or 11.8.6"),
        ("target.kind", "laptop", "'rds', 'aurora', 'cassandra', 'endpoint'"),
        ("workload.definition", {}, "either `name` or `definition`"),
        ("workload.records", 0, "greater than or equal to 1"),
        ("load.duration_s", 0, "greater than 0"),
        ("load", {"warmup_s": 600, "duration_s": 600}, "at most 810 s together"),
        ("search.clients", [2, 1], "ascending order"),
        ("search.strategy", "guess", "'steps', 'ramp', 'rate'"),
        ("name", "Has Spaces", "name"),
        ("time_limit_s", 5, "greater than or equal to 10"),
        ("time_limit_s", 149, r"60 \+ load.warmup_s 30 \+ load.duration_s 60 s .allowed: >= 150"),
        ("target.instance_class", "db.m5.huge", "m5 has no size 'huge' .allowed: db.m5.large, db"),
        ("target.instance_class", "db.m5.metal", "m5 has no size 'metal'"),
        ("target.instance_class", "db.m99.huge", "no instance has the size 'huge' .allowed: nano"),
        ("target.instance_class", "m5.large", "instance_class"),
        ("budget_usd", 0, "greater than 0"),
        ("faults", [{"step": 0, "volume": {"kind": "heal"}}], "greater than or equal to 1"),
        ("faults", [{"step": 1, "volume": {"kind": "drain"}}], "this target has none"),
        ("target.secret_arn", ENDPOINT["secret_arn"], "secret_arn"),
    ],
)
def test_a_wrong_request_is_refused(path: str, value: object, complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint.replace("`", ".")):
        Request.model_validate(changed(path, value))


def test_a_time_limit_is_enough_for_a_step() -> None:
    assert Request.model_validate(changed("time_limit_s", 150)).time_limit_s == 150


@pytest.mark.parametrize("name", ["db.m9g.large", "db.x2g.16xlarge", "db.r5b.24xlarge"])
def test_a_class_of_a_family_that_the_table_lacks_may_be_awss(name: str) -> None:
    target = Request.model_validate(changed("target.instance_class", name)).target
    assert isinstance(target, RdsTarget)
    assert target.instance_class == name


CASSANDRA: dict[str, Any] = {
    "kind": "cassandra",
    "instance_type": "r5.large",
    "volume": {"type": "io1", "size_gib": 100, "iops": 1000},
}


def test_cassandra_is_a_target_with_the_volumes_of_ebs() -> None:
    target = Request.model_validate(changed("target", CASSANDRA)).target
    assert isinstance(target, CassandraTarget)
    assert (target.service, target.version, target.provisioned) == ("ebs", "5.0.8", True)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (
            {"volume": {"type": "io1", "size_gib": 100, "iops": 5001}},
            "nearest allowed value is 5,0",
        ),
        ({"volume": {"type": "nvme", "size_gib": 100}}, "nvme is not available on r5.large"),
        ({"version": "3.11.1"}, "'5.0.8'"),
        ({"instance_type": "db.r5.large"}, "instance_type"),
        ({"instance_type": "r5"}, "instance_type"),
        ({"instance_type": "r5.hug"}, "r5 has no size 'hug' .allowed: r5.large, r5.xlarge"),
        ({"database": "Mixed"}, "database"),
        ({"engine": "cassandra"}, "engine"),
    ],
)
def test_a_cassandra_that_cannot_be_is_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        Request.model_validate(changed("target", CASSANDRA | changes))


@pytest.mark.parametrize(
    ("instance_type", "store", "graviton"),
    [
        ("r5.large", False, False),
        ("r4.4xlarge", False, False),
        ("m5d.large", True, False),
        ("i3.4xlarge", True, False),
        ("i4g.large", True, True),
        ("im4gn.xlarge", True, True),
        ("m6gd.metal", True, True),
        ("r7g.large", False, True),
        ("a1.large", False, True),
        ("g4dn.xlarge", True, False),
    ],
)
def test_the_name_of_an_instance_type_tells_of_disks_and_processor(
    instance_type: str, store: bool, graviton: bool
) -> None:
    assert (has_instance_store(instance_type), is_graviton(instance_type)) == (store, graviton)


def test_a_request_has_one_text_in_every_process() -> None:
    """Its digest tells requests apart, whatever order a set has in a process."""
    rules = Rules(audits_off=frozenset({"steady_state", "clock_skew", "littles_law"}))
    assert '"audits_off":["clock_skew","littles_law","steady_state"]' in rules.model_dump_json()
    assert Rules.model_validate_json(rules.model_dump_json()) == rules


def test_a_soak_that_no_client_could_run_names_its_windows() -> None:
    asked = {"limits": {"soak_s": 1800}, "load": {"warmup_s": 300}}
    with pytest.raises(ValidationError, match=r"3 windows of 600 s.*may run for 810 s"):
        Request.model_validate({**REQUESTED, **asked})


@pytest.mark.parametrize("hours", [8, 23])
def test_a_soak_may_last_for_hours(hours: int) -> None:
    search = {"strategy": "steps", "clients": [1, 208], "probes_max": 200}
    asked = {"limits": {"soak_s": hours * 3600}, "search": search, "time_limit_s": 86_400}
    request = Request.model_validate({**REQUESTED, **asked})
    assert request.clients_at_once == 2 * 208


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"limits": {"soak_s": 90_000}}, "less than or equal to 86400"),
        ({"limits": {"soak_s": 7200}}, "does not fit into time_limit_s = 7200, after the search"),
        (
            {"limits": {"soak_s": 80, "soak_window_s": 40}},
            "makes windows of 40 s; the next fleet of up to 2 clients needs 42.02 s",
        ),
        (
            {"limits": {"soak_s": 1200}, "search": {"strategy": "steps", "clients": [5000]}},
            "two fleets at a time, of 4,999 clients at most, and the search allows 5,000",
        ),
        (
            {"limits": {"soak_s": 28_800}, "time_limit_s": 40_000},
            "takes 48 steps of search.probes_max = 30",
        ),
    ],
)
def test_a_soak_whose_fleets_cannot_follow_each_other_is_refused(
    asked: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValidationError, match=re.escape(why)):
        Request.model_validate({**REQUESTED, **asked})


def test_a_soak_of_one_window_has_one_fleet() -> None:
    request = Request.model_validate({**REQUESTED, "limits": {"soak_s": 600}})
    assert request.clients_at_once == 2
