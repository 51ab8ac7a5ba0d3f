"""A wrong value is told as data, whatever the words: its field, the value, and what is allowed."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.aws.volumes import VOLUME_TYPES
from plimsoll.model.judging.capacity import AuditName
from plimsoll.model.request.expectations import FORMS
from plimsoll.model.request.load_request import WorkloadChoice
from plimsoll.model.request.request import Request
from plimsoll.requests import checked_request
from plimsoll.requests.cells import validate_experiment
from plimsoll.requests.checked_request import read_workload_choice, validate_request
from plimsoll.workload import list_builtin_names
from plimsoll.workload.workload import Workload
from tests.support.requested import REQUESTED

RDS = REQUESTED["target"]
CASSANDRA = {
    "kind": "cassandra",
    "instance_type": "r5.large",
    "volume": {"type": "io1", "size_gib": 100, "iops": 1000},
}
ENDPOINT = {
    "kind": "endpoint",
    "engine": "mysql",
    "host": "db",
    "secret_arn": "arn:aws:secretsmanager:us-east-1:1:secret:db",
}
AURORA = {
    "kind": "aurora",
    "engine": "aurora-postgresql",
    "engine_version": "17",
    "instance_class": "db.r7g.large",
}
RAMP = {"strategy": "ramp"}
RATE = {
    "strategy": "rate",
    "rate_first_ops_per_second": 10,
    "rate_max_ops_per_second": 100,
}
STALL = {"step": 1, "volume": {"kind": "stall", "duration_s": 1}}
COMMITS = {"name": "log-flush", "records": 1000}
SNAPSHOT = r"^arn:aws[a-z-]*:rds:[a-z0-9-]+:\d{12}:snapshot:[A-Za-z][A-Za-z0-9:-]{0,254}$"
NAME = "^[a-z0-9]+(-[a-z0-9]+)*$"


def of(part: str, base: dict[str, Any], field: str, value: object) -> dict[str, Any]:
    """Change a field of a target, a search or a fault, all else of which is sound."""
    return {part: {**base, field: value}}


def fault(**volume: object) -> dict[str, Any]:
    return {"faults": [{"step": 1, "volume": volume}]}


def phase(workload: dict[str, Any] | None = None, **completion: Any) -> dict[str, Any]:
    """Change the workload of a phase, or how it is pushed."""
    asked = {"name": "batch-3-charges", **(workload or {})}
    pushed = {"records": 9, "connections": [1], **completion}
    return {"phases": [{"name": "load", "workload": asked, "to_completion": pushed}]}


def beside(**changes: object) -> dict[str, Any]:
    return {"background": [{"name": "nightly", "workload": COMMITS, **changes}]}


# (what is changed, the field, what stands there, what may stand there)
OFF = {"name": "off", "parameters": {"innodb_doublewrite": "OFF"}}
ON = {"name": "on", "parameters": {"innodb_doublewrite": "ON"}}


def toggle(**changes: Any) -> dict[str, Any]:
    return {"toggle": {"states": [OFF, ON], **changes}}


def reached(**changes: Any) -> dict[str, Any]:
    """An existing database, and another way to it."""
    states = [{"name": "direct"}, {"name": "proxy", "endpoint": changes}]
    return {"target": ENDPOINT, "toggle": {"states": states}}


ESSD = {"cloud": "alibaba", "type": "essd", "level": "PL1", "size_gib": 400}
WRONG: list[tuple[dict[str, Any], str, object, list[str]]] = [
    ({"name": "Not A Name"}, "name", "Not A Name", [NAME]),
    (of("target", RDS, "snapshot", "mine"), "target.snapshot", "mine", [SNAPSHOT]),
    (of("target", RDS, "extended_support", "maybe"), "target.extended_support", "maybe",
     ["true", "false"]),
    (of("target", RDS, "extended_support", True), "target.extended_support", True, []),
    ({"name": "n" * 41}, "name", "n" * 41, ["at most 40 long"]),
    ({"description": 3}, "description", 3, []),
    ({"team": "A"}, "team", "A", [NAME]),
    ({"budget_usd": 0}, "budget_usd", 0, ["> 0.0"]),
    ({"time_limit_s": 9}, "time_limit_s", 9, [">= 10"]),
    ({"time_limit_s": 86_401}, "time_limit_s", 86_401, ["<= 86400"]),
    ({"time_limit_s": 149}, "time_limit_s", 149, [">= 150"]),
    ({"expect": ["faster"]}, "expect[0]", "faster", list(FORMS)),
    ({"expect": ["capacity >= 1", "p99.x <= 1ms at 1"]}, "expect[1]", "p99.x <= 1ms at 1",
     ["read", "update"]),
    ({"tags": {"a=b": "c"}}, "tags.a=b", "a=b", ["^[^=]+$"]),
    ({"tags": {"a": "c" * 201}}, "tags.a", "c" * 201, ["at most 200 long"]),
    ({"tags": {str(n): "" for n in range(21)}}, "tags", None, ["at most 20 long"]),
    # the targets
    ({"target": {"kind": "ftp"}}, "target.kind", "ftp", ["rds", "aurora", "cassandra", "endpoint"]),
    ({"target": {}}, "target.kind", None, []),
    (of("target", AURORA, "engine", "mysql"), "target.engine", "mysql",
     ["aurora-mysql", "aurora-postgresql"]),
    (of("target", AURORA, "engine_version", "15.4"), "target.engine_version", "15.4",
     ["18", "17", "16"]),
    (of("target", AURORA, "instance_class", "r7g"), "target.instance_class", "r7g",
     [r"^db\.[a-z0-9-]+\.[a-z0-9]+$"]),
    (of("target", AURORA, "storage", "gp3"), "target.storage", "gp3",
     ["standard", "io-optimized"]),
    (of("target", AURORA, "volume", {"type": "gp3"}), "target.volume", None,
     ["standard", "io-optimized"]),
    (of("target", AURORA, "database", "9"), "target.database", "9", ["^[a-z][a-z0-9_]{0,62}$"]),
    (of("target", RDS, "engine", "oracle"), "target.engine", "oracle",
     ["mysql", "mariadb", "postgres"]),
    (of("target", RDS, "engine_version", "8"), "target.engine_version", "8",
     ["11.8", "11.4", "10.11"]),
    (of("target", RDS, "instance_class", "m5"), "target.instance_class", "m5",
     [r"^db\.[a-z0-9-]+\.[a-z0-9]+$"]),
    (of("target", RDS, "instance_class", "db.m5.huge"), "target.instance_class", "db.m5.huge",
     [f"db.m5.{n}" for n in ("large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge",
                             "16xlarge", "24xlarge")]),
    (of("target", RDS, "parameters", {"A": 1}), "target.parameters.A", "A",
     ["^[a-z][a-z0-9_.]*$"]),
    (of("target", RDS, "database", "1"), "target.database", "1", ["^[a-z][a-z0-9_]{0,63}$"]),
    (of("target", RDS, "volume", {"type": "st1", "size_gib": 1}), "target.volume.type", "st1",
     [*VOLUME_TYPES]),
    (of("target", RDS, "volume", {"cloud": "ibm", "type": "essd", "size_gib": 20}),
     "target.volume.cloud", "ibm", ["aws", "alibaba", "azure", "google"]),
    (of("target", RDS, "volume", {**ESSD, "level": "PL9"}), "target.volume.level", "PL9",
     ["PL0", "PL1", "PL2", "PL3"]),
    (of("target", RDS, "volume", {**ESSD, "burst": 2}), "target.volume.burst", 2,
     ["true", "false"]),
    (of("target", RDS, "volume", {**ESSD, "throughput_mb_s": 0}),
     "target.volume.throughput_mb_s", 0, [">= 1"]),
    (of("target", RDS, "volume", {**ESSD, "read_cache_mib": 0}),
     "target.volume.read_cache_mib", 0, [">= 1"]),
    (of("target", RDS, "volume", {**ESSD, "read_cache_latency_us": -1}),
     "target.volume.read_cache_latency_us", -1, [">= 0.0"]),
    (of("target", RDS, "volume", {"type": "nvme", "size_gib": 1}), "target.volume.type", "nvme",
     ["gp2", "gp3", "io1", "io2"]),
    (of("target", RDS, "volume", {"type": "gp3", "size_gib": 19}), "target.volume.size_gib", 19,
     ["20 to 65,536"]),
    (of("target", RDS, "volume", {"type": "io1", "size_gib": 100, "iops": 9}),
     "target.volume.iops", 9, ["1,000 to 5,000"]),
    (of("target", RDS, "volume", {"type": "io1", "size_gib": 100}), "target.volume.iops", None,
     ["1,000 to 5,000"]),
    (of("target", RDS, "volume", {"type": "gp3", "size_gib": 400, "throughput_mib_s": 1}),
     "target.volume.throughput_mib_s", 1, ["500 to 3,000"]),
    (of("target", CASSANDRA, "version", "4"), "target.version", "4", ["5.0.8"]),
    (of("target", CASSANDRA, "instance_type", "x"), "target.instance_type", "x",
     [r"^[a-z]+\d[a-z0-9-]*\.[a-z0-9-]+$"]),
    (of("target", CASSANDRA, "nodes", 13), "target.nodes", 13, ["<= 12"]),
    (of("target", CASSANDRA, "replication", 0), "target.replication", 0, [">= 1"]),
    (of("target", CASSANDRA, "replication", 2), "target.replication", 2, []),
    (of("target", ENDPOINT, "nodes", ["10.0.0.0/24"]), "target.nodes", None, []),
    (of("target", CASSANDRA, "volume", {"type": "nvme", "size_gib": 1}), "target.volume.type",
     "nvme", []),
    (of("target", ENDPOINT, "host", ""), "target.host", "", ["at least 1 long"]),
    (of("target", ENDPOINT, "port", 0), "target.port", 0, [">= 1"]),
    (of("target", ENDPOINT, "tls", "on"), "target.tls", "on", ["verify", "require", "off"]),
    (of("target", ENDPOINT, "statement_mode", "text"), "target.statement_mode", "text",
     ["prepared", "simple"]),
    (of("target", ENDPOINT, "statement_mode", "simple"), "target.statement_mode", None, []),
    (of("target", ENDPOINT, "allow_md5", "yes"), "target.allow_md5", "yes", ["true", "false"]),
    (of("target", ENDPOINT, "allow_writes", 2), "target.allow_writes", 2, ["true", "false"]),
    (of("target", ENDPOINT, "stop_if", ["p42"]), "target.stop_if[0]", "p42",
     [r"^(p50|p99|max|errors|rate)(\.[A-Za-z0-9_-]{1,64})?( ?> ?.{1,24})?$"]),
    (of("target", ENDPOINT, "secret_arn", "s"), "target.secret_arn", "s",
     ["^arn:aws[a-z-]*:secretsmanager:"]),
    # the workload
    ({"workload": {"name": "ycsb-q", "records": 1}}, "workload.name", "ycsb-q",
      list_builtin_names()),
    ({"workload": {"name": "ycsb-a", "records": 0}}, "workload.records", 0, [">= 1"]),
    ({"workload": {"name": "ycsb-a"}}, "workload.records", None, []),
    ({"workload": {"name": "ycsb-a", "records": 1, "parameters": {"x": 1}}},
     "workload.parameters.x", None, ["consistency"]),
    ({"workload": {"name": "sysbench-oltp-read-write", "records": 1,
                   "parameters": {"range_size": 0}}},
     "workload.parameters.range_size", 0, ["1 to 1,000,000"]),
    ({"workload": {"definition": {"about": ""}, "records": 1}}, "workload.definition.operations",
     None, []),
    ({"workload": {"definition": 3, "records": 1}}, "workload.definition", 3, []),
    # load, preparation, search
    ({"load": {"warmup_s": -1}}, "load.warmup_s", -1, [">= 0.0"]),
    ({"load": {"duration_s": 0}}, "load.duration_s", 0, ["> 0.0"]),
    ({"load": {"duration_s": 601}}, "load.duration_s", 601, ["<= 600.0"]),
    ({"load": {"timeout_ms": 0}}, "load.timeout_ms", 0, [">= 1"]),
    ({"load": {"poll_us": -1}}, "load.poll_us", -1, [">= 0"]),
    ({"load": {"recovery_max_s": 3601}}, "load.recovery_max_s", 3601, ["<= 3600.0"]),
    ({"load": {"calm_max_s": 3601}}, "load.calm_max_s", 3601, ["<= 3600.0"]),
    ({"load": {"seed": 2**63}}, "load.seed", 2**63, [f"< {2**63}"]),
    ({"prepare": {"clients": 101}}, "prepare.clients", 101, ["<= 100"]),
    ({"prepare": {"connections_per_client": 0}}, "prepare.connections_per_client", 0, [">= 1"]),
    ({"prepare": {"pgbench": 0}}, "prepare.pgbench", 0, [">= 1"]),
    ({"prepare": {"schema_sql": 1}}, "prepare.schema_sql", 1, []),
    ({"prepare": {"load_order": "x"}}, "prepare.load_order", "x", ["key", "number"]),
    ({"prepare": {"warm_s": 601}}, "prepare.warm_s", 601, ["<= 600.0"]),
    ({"prepare": {"warm_max_s": 3601}}, "prepare.warm_max_s", 3601, ["<= 3600.0"]),
    ({"search": {"strategy": "magic"}}, "search.strategy", "magic", ["steps", "ramp", "rate"]),
    ({"search": {"strategy": "steps", "clients": [1, 0]}}, "search.clients[1]", 0, [">= 1"]),
    ({"search": {"strategy": "steps", "clients": []}}, "search.clients", None,
     ["at least 1 long"]),
    ({"search": {"strategy": "steps", "clients": [2, 1]}}, "search.clients", None, []),
    ({"search": {"strategy": "steps", "whole_list": "maybe"}}, "search.whole_list", "maybe",
     ["true", "false"]),
    ({"search": {"strategy": "steps", "open_loop_probe": "maybe"}}, "search.open_loop_probe",
     "maybe", ["true", "false"]),
    (of("search", RAMP, "connections_first", 600), "search.connections_max", 512, [">= 600"]),
    (of("search", RAMP, "connections_first", 0), "search.connections_first", 0, [">= 1"]),
    (of("search", RAMP, "connections_per_client", 0), "search.connections_per_client", 0,
     [">= 1"]),
    (of("search", RAMP, "clients_max", 10_001), "search.clients_max", 10_001, ["<= 10000"]),
    (of("search", RAMP, "factor", 1), "search.factor", 1, ["> 1.0"]),
    (of("search", RAMP, "resolution", 0.6), "search.resolution", 0.6, ["<= 0.5"]),
    (of("search", RAMP, "probes_max", 0), "search.probes_max", 0, [">= 1"]),
    (of("search", RATE, "rate_first_ops_per_second", 0), "search.rate_first_ops_per_second", 0,
     ["> 0.0"]),
    (of("search", RATE, "rate_max_ops_per_second", 1), "search.rate_max_ops_per_second", 1,
     [">= 10.0"]),
    (of("search", RATE, "clients_max", 0), "search.clients_max", 0, [">= 1"]),
    (of("search", RATE, "clients", 200), "search.clients_max", 100, [">= 200"]),
    # the limits
    ({"limits": {"limits_us": {"read": 0}}}, "limits.limits_us.read", 0, ["> 0.0"]),
    ({"limits": {"limits_us": {"raed": 9}}}, "limits.limits_us.raed", None, ["read", "update"]),
    ({"limits": {"statistic": "p42"}}, "limits.statistic", "p42",
     ["mean", "p50", "p95", "p99", "p999", "max"]),
    ({"limits": {"audits_off": ["x"]}}, "limits.audits_off[0]", "x",
     list(get_args(AuditName))),
    ({"limits": {"deterioration": 1}}, "limits.deterioration", 1, ["> 1.0"]),
    ({"limits": {"cv_max": 0}}, "limits.cv_max", 0, ["> 0.0"]),
    ({"limits": {"soak_s": -1}}, "limits.soak_s", -1, [">= 0.0"]),
    ({"limits": {"soak_window_s": 20}}, "limits.soak_window_s", 20, [">= 30.0"]),
    ({"limits": {"soak_s": 80, "soak_window_s": 40}}, "limits.soak_window_s", 40, []),
    ({"limits": {"soak_s": 1800}, "load": {"warmup_s": 300}}, "limits.soak_s", 1800,
     []),
    ({"limits": {"soak_s": 1800}, "search": {"strategy": "steps", "probes_max": 3}},
     "limits.soak_s", 1800, ["<= 1200"]),
    ({"limits": {"client_busy_max": 2}}, "limits.client_busy_max", 2, ["<= 1.0"]),
    ({"limits": {"errors_max_share": 2}}, "limits.errors_max_share", 2, ["<= 1.0"]),
    ({"limits": {"kept_up_share": 0}}, "limits.kept_up_share", 0, ["> 0.0"]),
    ({"limits": {"littles_law_factor": 0}}, "limits.littles_law_factor", 0, [">= 1.0"]),
    ({"limits": {"plateau_share": 1}}, "limits.plateau_share", 1, ["< 1.0"]),
    ({"limits": {"retrograde_share": 0}}, "limits.retrograde_share", 0, ["> 0.0"]),
    ({"limits": {"confirmation": {"least": 2}}}, "limits.confirmation.least", 2, [">= 3"]),
    ({"limits": {"confirmation": {"least": 11}}}, "limits.confirmation.most", 10, [">= 11"]),
    ({"limits": {"confirmation": {"pass_share": 0.5}}}, "limits.confirmation.pass_share", 0.5,
     ["> 0.5"]),
    ({"limits": {"confirmation": {"precision": 1}}}, "limits.confirmation.precision", 1,
     ["<= 0.5"]),
    # phases before the search
    ({"phases": [{**phase()["phases"][0], "name": "A"}]}, "phases[0].name", "A", [NAME]),
    (phase({"name": "no such"}), "phases[0].workload.name", "no such",
     ["^[a-z0-9]+([-_][a-z0-9]+)*$"]),
    (phase({"definition": 3}), "phases[0].workload.definition", 3, []),
    (phase({"parameters": {"x": 1}}), "phases[0].workload.parameters.x", None,
     ["rows_per_statement"]),
    (phase({"input": {"csv": ""}}), "phases[0].workload.input.csv", "", ["at least 1 long"]),
    (phase(records=0), "phases[0].to_completion.records", 0, [">= 1"]),
    (phase(connections=[0]), "phases[0].to_completion.connections[0]", 0, [">= 1"]),
    (phase(connections_per_client=0), "phases[0].to_completion.connections_per_client", 0,
     [">= 1"]),
    (phase(repetitions=16), "phases[0].to_completion.repetitions", 16, ["<= 15"]),
    (phase(longest_s=811), "phases[0].to_completion.longest_s", 811, ["<= 810.0"]),
    (phase(records=20_000, connections=[20_000], connections_per_client=2, longest_s=800),
     "phases[0].to_completion.longest_s", 800, ["<= 760.0"]),
    ({"phases": [{"name": "ask", "workload": {"name": "ycsb-c"},
                  "search": {"strategy": "steps", "clients": [0]}}]},
     "phases[0].search.clients[0]", 0, [">= 1"]),
    # two states of the target
    (toggle(states=[OFF, {**ON, "name": "A"}]), "toggle.states[1].name", "A", [NAME]),
    (toggle(states=[OFF, {**ON, "parameters": {}}]), "toggle.states[1].parameters", None, []),
    (reached(host=""), "toggle.states[1].endpoint.host", "", ["at least 1 long"]),
    (reached(port=0), "toggle.states[1].endpoint.port", 0, [">= 1"]),
    (reached(secret_arn="s"), "toggle.states[1].endpoint.secret_arn", "s",
     [r"^arn:aws[a-z-]*:secretsmanager:"]),
    (reached(tls="no"), "toggle.states[1].endpoint.tls", "no", ["verify", "require", "off"]),
    (reached(statement_mode="text"), "toggle.states[1].endpoint.statement_mode", "text",
     ["prepared", "simple"]),
    (reached(allow_md5="yes"), "toggle.states[1].endpoint.allow_md5", "yes", ["true", "false"]),
    (toggle(pairs=2), "toggle.pairs", 2, [">= 3"]),
    (toggle(pairs=15), "toggle.pairs", 15, ["<= 14"]),
    (toggle(restart="never"), "toggle.restart", "never", ["needed", "always"]),
    # faults on purpose
    ({"faults": [{**STALL, "step": 0}]}, "faults[0].step", 0, [">= 1"]),
    ({"faults": [{**STALL, "after_s": -1}]}, "faults[0].after_s", -1, [">= 0.0"]),
    (fault(kind="x"), "faults[0].volume.kind", "x", ["stall", "slow", "fail", "drain", "heal"]),
    (fault(kind="drain"), "faults[0].volume.kind", "drain", []),
    (fault(kind="stall", duration_s=0), "faults[0].volume.duration_s", 0, ["> 0.0"]),
    (fault(kind="stall", duration_s=1, start_after_s=-1), "faults[0].volume.start_after_s", -1,
     [">= 0.0"]),
    (fault(kind="slow", factor=0, duration_s=1), "faults[0].volume.factor", 0, [">= 1.0"]),
    (fault(kind="fail", error="EPERM"), "faults[0].volume.error", "EPERM", ["EIO", "ENOSPC"]),
    (fault(kind="fail", error="EIO", after_operations=-1),
     "faults[0].volume.after_operations", -1, [">= 0"]),
    (fault(kind="fail", error="EIO", operations=0), "faults[0].volume.operations", 0, [">= 1"]),
    (fault(kind="drain", left_share=2), "faults[0].volume.left_share", 2, ["<= 1.0"]),
    (of("target", RDS, "volume", {"type": "gp3", "size_gib": 100, "credits_start": 0.5}),
     "target.volume.credits_start", 0.5, []),
    # what runs beside it
    ({"background_pairs": 21}, "background_pairs", 21, ["<= 20"]),
    (beside(name="A"), "background[0].name", "A", [NAME]),
    (beside(workload={"name": "ycsb-q", "records": 1}), "background[0].workload.name", "ycsb-q",
     list_builtin_names()),
    (beside(workload={"name": "log-flush", "records": 0}), "background[0].workload.records", 0,
     [">= 1"]),
    (beside(workload={"name": "log-flush", "records": 1, "parameters": {"x": 1}}),
     "background[0].workload.parameters.x", None, ["rows_per_statement"]),
    (beside(workload={"definition": 3, "records": 1}), "background[0].workload.definition", 3, []),
    (beside(clients=0), "background[0].clients", 0, [">= 1"]),
    (beside(connections_per_client=0), "background[0].connections_per_client", 0, [">= 1"]),
    (beside(rate_ops_per_second=0), "background[0].rate_ops_per_second", 0, ["> 0.0"]),
    (beside(every_s=61, for_s=1), "background[0].every_s", 61, ["<= 60"]),
    (beside(at_s=90, for_s=1), "background[0].at_s", 90, []),
    (beside(every_s=10, for_s=10), "background[0].for_s", 10, ["1 to 9"]),
    (beside(tables="others"), "background[0].tables", "others", ["own", "same"]),
    # fields that nothing knows of: what stands there is not repeated
    ({"foo": "hunter2"}, "foo", None, sorted(Request.model_fields)),
    (of("target", ENDPOINT, "password", "hunter2"), "target.password", None,
     ["allow_md5", "allow_writes", "database", "engine", "host", "kind", "nodes", "port",
      "secret_arn", "statement_mode", "stop_if", "tls", "volume"]),
]  # fmt: skip


def complaints(change: dict[str, Any]) -> tuple[Complaint, ...]:
    with pytest.raises(UsageError) as caught:
        validate_request({**deepcopy(REQUESTED), **change})
    return caught.value.complaints


@pytest.mark.parametrize(("change", "field", "value", "allowed"), WRONG)
def test_a_wrong_value_is_told_with_its_field_and_what_is_allowed(
    change: dict[str, Any], field: str, value: object, allowed: list[str]
) -> None:
    [complaint] = complaints(change)
    assert (complaint.field, complaint.value) == (field, value)
    assert list(complaint.allowed_words) == allowed


def fields(model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[str]:
    """Name every field of a model that is no model itself, without indexes."""
    for name, field in model.model_fields.items():
        inner = list(models_in(field.annotation))
        if not inner:
            yield ".".join((*path, name))
        for part in inner:
            yield from fields(part, (*path, name))


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)


def of_the_run(field: str) -> str:
    """A phase's search and limits are of the run's models: their values are told above."""
    shared = ("phases.search.", "phases.limits.")
    return field.removeprefix("phases.") if field.startswith(shared) else field


def test_every_field_of_a_request_has_a_wrong_value_above() -> None:
    told = {field.replace("[0]", "").replace("[1]", "") for _, field, _, _ in WRONG}
    lacking = {
        field
        for field in map(of_the_run, fields(Request))
        if not any(other == field or other.startswith(f"{field}.") for other in told)
    }
    assert lacking == set()


def test_what_has_one_of_two_types_is_told_by_its_own_path() -> None:
    both = complaints({"target": {**RDS, "parameters": {"max_connections": 1.5}}})
    assert {(one.field, one.value) for one in both} == {("target.parameters.max_connections", 1.5)}


def test_a_list_is_not_called_too_short_where_its_entries_are_wrong() -> None:
    [complaint] = complaints({"search": {"strategy": "steps", "clients": [0]}})
    assert complaint.field == "search.clients[0]"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[WorkloadChoice]:
    """The workloads that are read to be compiled, in order."""
    read: list[WorkloadChoice] = []

    def noting(choice: WorkloadChoice) -> Workload:
        read.append(choice)
        return read_workload_choice(choice)

    monkeypatch.setattr(checked_request, "read_workload_choice", noting)
    return read


def test_a_workload_is_compiled_once_however_many_parts_of_a_request_send_it(
    compiled: list[WorkloadChoice],
) -> None:
    search = {**RAMP, "connections_max": 8}
    phases = [{"name": name, "search": search} for name in ("one", "two")]
    checked = validate_request({**REQUESTED, "phases": phases})
    assert compiled == [checked.request.workload]
    assert checked.of_phase("two") is checked.of_phase(None) is checked.workload


def test_a_workload_is_compiled_once_however_many_runs_of_an_experiment_send_it(
    compiled: list[WorkloadChoice],
) -> None:
    shared = {name: value for name, value in REQUESTED.items() if name != "name"}
    seeds = {f"s{seed}": {"load": {"seed": seed}} for seed in range(3)}
    checked = validate_experiment({"name": "m", "request": shared, "axes": {"seed": seeds}})
    assert len(checked.requests) == 3
    assert len(compiled) == 1


SAMPLED = {
    "tables": {
        "orders": {
            "rows": "$records",
            "keys": "sampled",
            "primary_key": ["id"],
            "columns": {"id": {"type": "bigint", "value": "row"}},
        }
    },
    "operations": {
        "read": {
            "weight": 1,
            "statements": [
                {"sql": "SELECT id FROM {orders} WHERE id = ?", "binds": [{"key": "orders"}]}
            ],
        }
    },
}


def test_keys_are_sampled_only_where_a_database_is_searched_from_this_machine() -> None:
    """The request beside a report of `find`, which could not be run again."""
    given = {**REQUESTED, "workload": {"definition": {"about": "-", **SAMPLED}, "records": 10}}
    here = {"kind": "endpoint", "engine": "mariadb", "host": "127.0.0.1"}
    assert validate_request({**given, "target": here}).workload.sampled == ("orders",)
    on_aws = {**here, "secret_arn": ENDPOINT["secret_arn"]}
    for target in (on_aws, REQUESTED["target"]):
        with pytest.raises(UsageError, match="a run makes rows whose keys it knows"):
            validate_request({**given, "target": target})
