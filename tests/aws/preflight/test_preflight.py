"""What can be known before a run is submitted: against moto, and AWS's answers as recorded."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.rds.exceptions import RDSClientError
from moto.rds.responses import RDSResponse

import plimsoll
from plimsoll.client.address import read_address
from plimsoll.client.http import Http
from plimsoll.client.service_client import Service
from plimsoll.model.request.request import Request
from plimsoll.preflight.checks import Check, ask_aws, make_passed
from plimsoll.preflight.ec2_checks import find_instance_family
from plimsoll.preflight.preflight import run_preflight
from plimsoll.preflight.rds_checks import ROLE_NAME
from tests.support.requested import REQUESTED

pytestmark = pytest.mark.usefixtures("account")
URL = "https://abc123.execute-api.eu-west-1.amazonaws.com/v1"
HERE = "http://127.0.0.1:8000"
NO_TEAM = {"type": "urn:plimsoll:problem:unknown-principal", "detail": "you belong to no team"}
CASSANDRA = {
    "kind": "cassandra",
    "instance_type": "m5.large",
    "volume": {"type": "gp3", "size_gib": 100},
}


class Answer:
    def __init__(self, status: int, body: Any) -> None:
        self.status_code, self.headers = status, dict[str, str]()
        self.content = json.dumps(body).encode()


class Api:
    """The service, as scripted."""

    def __init__(self, version: str = plimsoll.__version__, **changed: Answer) -> None:
        self.answers = {
            "health": Answer(200, {"status": "ok", "version": version}),
            "runs": Answer(200, {"runs": [], "next_cursor": None}),
            "quotes": Answer(400, {"message": "what it quotes is not looked at"}),
            **changed,
        }

    def at(self, url: str) -> Service:
        def send(request: Any) -> Answer:
            path = request.url.partition("?")[0].removeprefix(url).strip("/")
            return self.answers[path]

        return Service(Http(read_address(url, source="test"), send=send, sleep=lambda _: None))


def deploy(zones: str | None = "eu-west-1a") -> None:
    outputs = {"ApiUrl": {"Value": URL}}
    if zones is not None:
        outputs["TargetZones"] = {"Value": zones}
    template = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}, "Outputs": outputs}
    boto3.client("cloudformation").create_stack(
        StackName="Plimsoll", TemplateBody=json.dumps(template)
    )


def looked(
    *changes: Mapping[str, Any], api: Api | None = None, url: str = URL, at_once: int | None = None
) -> dict[str, Check]:
    """Look at runs of the small request, each changed, and give the checks by their names."""
    runs = {
        f"run-{number}": Request.model_validate({**REQUESTED, **changed})
        for number, changed in enumerate(changes or ({},))
    }
    address = read_address(url, source="test")
    found = run_preflight((api or Api()).at(url), address, runs, at_once=at_once)
    return {check.name + "".join(f" {run}" for run in check.runs): check for check in found.checks}


def rds(**changed: Any) -> dict[str, Any]:
    return {"target": {**REQUESTED["target"], **changed}}


def volume(kind: str, size_gib: int = 100, iops: int | None = 1000) -> dict[str, Any]:
    return rds(volume={"type": kind, "size_gib": size_gib, "iops": iops})


def test_a_request_that_can_be_made_passes_every_check_but_what_is_not_there_yet() -> None:
    deploy()
    boto3.client("iam").create_role(RoleName=ROLE_NAME, AssumeRolePolicyDocument="{}")
    found = looked()
    del found["request"]  # see `test_the_service_has_its_own_word`
    assert {name: check.state for name, check in found.items() if check.state != "passed"} == {}
    assert found["engine version"].detail == "MariaDB 11.4.10, for 11.4"
    assert found["storage"].detail == "io1 100 GiB, 1,000 IOPS"
    assert found["zone"].detail == "db.m5.large with io1 is offered in eu-west-1a"
    need = "1 of 40 DB instances needed at once; 3 in use"
    assert found["quota: RDS instances"].detail == need
    assert found["quota: Lambda"].detail.startswith("24 of 1,000 concurrent executions needed")
    assert found["quota: Step Functions"].detail == (
        "1,300 starts at once and 300 a second; 800 state transitions at once and 40 a second, for"
        " 2 clients"
    )


AURORA = {
    "kind": "aurora",
    "engine": "aurora-postgresql",
    "engine_version": "17",
    "instance_class": "db.r7g.large",
}


def test_an_aurora_is_looked_at_with_its_storage_and_counts_as_an_instance() -> None:
    deploy()
    found = looked({"target": AURORA})
    assert found["engine version"].detail == "Aurora PostgreSQL 17.7, for 17"
    assert found["storage"].detail == "Standard storage"
    assert found["zone"].detail == "db.r7g.large with aurora is offered in eu-west-1a"
    assert found["quota: RDS instances"].detail == "1 of 40 DB instances needed at once; 3 in use"
    assert "quota: RDS storage" not in found
    optimized = looked({"target": {**AURORA, "storage": "io-optimized"}})
    assert optimized["zone"].state == "failed"
    assert "db.r7g.large with aurora-iopt1 is offered in eu-west-1b" in optimized["zone"].detail


def test_a_postgresql_is_looked_at_as_any_other() -> None:
    deploy()
    found = looked(rds(engine="postgres", engine_version="18"))
    assert found["engine version"].detail == "PostgreSQL 18.3, for 18"
    assert found["instance class"].detail == "RDS offers db.m5.large with PostgreSQL 18.3"
    assert [found[name].state for name in ("storage", "zone")] == ["passed", "passed"]


@pytest.mark.parametrize(
    ("changes", "name", "detail", "to_do"),
    [
        (rds(engine_version="11.4.99"), "engine version",
         "RDS does not offer MariaDB 11.4.99 in eu-west-1", "one of 11.4.10"),
        (rds(instance_class="db.m6i.large"), "instance class",
         "RDS has no db.m6i.large for MariaDB 11.4.10 in eu-west-1",
         "describe-orderable-db-instance-options --engine mariadb --engine-version 11.4.10"),
        (volume("io1", 2000, 50_000), "storage",
         "RDS does not offer iops 50,000 with db.m5.large", "volume.iops: 1,000 to 40,000"),
        (volume("io2"), "zone",
         "offered in eu-west-1c, and the deployment places its targets in eu-west-1a",
         "with a subnet in such a zone"),
        ({"search": {"strategy": "steps", "clients": [1, 990]}}, "quota: Lambda",
         "1,010 of 1,000 concurrent executions", "raise it to at least 1,010"),
        ({"search": {"strategy": "steps", "clients": [1, 600]}, "limits": {"soak_s": 1200}},
         "quota: Lambda", "1,220 of 1,000 concurrent executions", "raise it to at least 1,220"),
        ({"search": {"strategy": "steps", "clients": [1, 5000]}}, "quota: Step Functions",
         "800 state transitions at once and 40 a second start 3,200 of 5,000 clients in 60 s",
         "raise it to at least 70 a second: aws service-quotas request-service-quota-increase"),
    ],
)  # fmt: skip
def test_what_is_in_the_way_is_told_with_what_helps(
    changes: dict[str, Any], name: str, detail: str, to_do: str
) -> None:
    deploy()
    check = looked(changes)[name]
    assert check.state == "failed"
    assert detail in check.detail
    assert to_do in str(check.to_do)


def test_what_hangs_on_a_failed_check_is_not_to_be_known() -> None:
    deploy()
    found = looked(rds(engine_version="11.4.99"))
    for name in ("instance class", "storage", "zone"):
        assert found[name].state == "unknown"
        assert found[name].detail == "it depends on the engine version"


def test_the_runs_of_a_file_are_reckoned_together_and_each_target_is_told() -> None:
    deploy()
    found = looked(volume("gp2", 100, None), volume("gp2", 100, None), volume("io1"))
    assert found["quota: RDS instances"].detail.startswith("3 of 40 DB instances")
    assert found["quota: RDS storage"].detail.startswith("300 of 100,000 GB of storage")
    assert found["quota: Lambda"].detail.startswith("72 of 1,000")
    assert found["storage run-0 run-1"].detail == "gp2 100 GiB"
    assert found["storage run-2"].state == "passed"
    two = looked(*[volume("gp2", 100 + n, None) for n in range(4)], at_once=2)
    assert two["quota: RDS storage"].detail.startswith("205 of")


def test_a_cassandra_target_needs_its_type_its_zone_and_vcpus() -> None:
    deploy()
    found = looked({"target": CASSANDRA})
    assert found["instance type"].state == found["zone"].state == "passed"
    assert found["quota: EC2"].detail.startswith("2 of 5 vCPUs of standard instances needed")
    assert "service-linked role of RDS" not in found
    three = looked(*[{"target": CASSANDRA}] * 3)["quota: EC2"]
    assert three.state == "failed"
    assert "--service-code ec2 --quota-code L-1216C47A" in str(three.to_do)
    nowhere = looked({"target": {**CASSANDRA, "instance_type": "m99.large"}})
    assert nowhere["instance type"].state == "failed"
    other = looked({"target": {**CASSANDRA, "instance_type": "x2idn.16xlarge"}})
    assert other["quota: EC2"].state == "unknown"


def test_a_cluster_needs_the_vcpus_of_all_its_nodes_and_is_told_its_zones() -> None:
    deploy("eu-west-1a,eu-west-1b")
    two, three = ({"target": {**CASSANDRA, "nodes": nodes}} for nodes in (2, 3))
    found = looked(two)
    assert found["quota: EC2"].detail.startswith("4 of 5 vCPUs of standard instances needed")
    assert found["zone"].detail == (
        "m5.large is offered in eu-west-1a; 1 node in each of eu-west-1a, eu-west-1b"
    )
    assert looked(three)["quota: EC2"].state == "failed"


@pytest.mark.parametrize(
    ("instance_type", "family"),
    [("r5d.large", "r"), ("im4gn.large", "im"), ("x2idn.16xlarge", "x"), ("hpc7g.4xlarge", "hpc")],
)
def test_the_family_of_a_type(instance_type: str, family: str) -> None:
    assert find_instance_family(instance_type) == family


@pytest.mark.filterwarnings("ignore:.*AccessDenied does not match:UserWarning")  # moto's
def test_without_permission_a_check_is_not_to_be_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(_: Any) -> None:
        raise RDSClientError("AccessDenied", "no")

    deploy()
    monkeypatch.setattr(RDSResponse, "describe_orderable_db_instance_options", deny)
    found = looked()
    for name in ("instance class", "storage", "zone"):
        assert found[name].state == "unknown"
        why = "these credentials may not call DescribeOrderableDBInstanceOptions"
        assert found[name].detail == why


def test_any_other_error_is_told() -> None:
    def fail() -> list[Check]:
        told = {"Error": {"Code": "Throttling", "Message": "Rate exceeded"}}
        raise ClientError(told, "GetRole")  # type: ignore[arg-type]  # no metadata

    (check,) = ask_aws(["role"], fail)
    assert (check.state, check.detail) == ("unknown", "GetRole: Rate exceeded")
    assert ask_aws(["role"], lambda: [make_passed("role", "there")])[0].state == "passed"


def test_of_another_account_only_what_holds_for_the_whole_region_is_checked() -> None:
    found = looked()  # no such stack
    assert found["stack"].state == "unknown"
    assert found["storage"].state == "passed"
    assert found["zone"].state == "unknown"
    assert "eu-west-1a" in found["zone"].detail
    assert found["quotas, roles"].state == "unknown"
    assert not any(name.startswith("quota:") for name in found)


def test_the_first_zone_of_the_deployment_that_has_it_is_the_targets() -> None:
    deploy(zones="eu-west-1d,eu-west-1b,eu-west-1a")
    found = looked()["zone"]
    assert (found.state, found.detail) == (
        "passed",
        "db.m5.large with io1 is offered in eu-west-1b",
    )


def test_an_older_stack_does_not_say_its_zones() -> None:
    deploy(zones=None)
    assert looked()["zone"].state == "unknown"


def test_the_role_of_rds_is_made_by_the_first_database() -> None:
    deploy()
    role = looked()["service-linked role of RDS"]
    assert role.state == "unknown"
    assert role.to_do == "aws iam create-service-linked-role --aws-service-name rds.amazonaws.com"


def test_behind_one_machine_there_is_no_account_to_ask() -> None:
    found = looked(url=HERE)
    assert set(found) == {"API", "version", "team", "request", "AWS"}
    assert found["AWS"].state == "not applicable"
    assert f"no AWS account is behind {HERE}" in found["AWS"].detail


UNREACHABLE: Callable[[], Api] = lambda: Api(health=Answer(403, {"message": "Forbidden"}))  # noqa: E731 - as data


def test_an_api_that_does_not_let_the_caller_in_fails_and_the_rest_of_it_is_unknown() -> None:
    found = looked(api=UNREACHABLE(), url=HERE)
    assert found["API"].state == "failed"
    assert "not allowed for these credentials" in found["API"].detail
    assert {found[name].state for name in ("version", "team", "request")} == {"unknown"}


def test_a_caller_of_no_team_is_told_so() -> None:
    team = looked(api=Api(runs=Answer(403, NO_TEAM)), url=HERE)["team"]
    assert (team.state, team.detail) == ("failed", "you belong to no team")
    assert looked({"team": "web"}, url=HERE)["team"].detail == "the caller belongs to web"


@pytest.mark.parametrize(
    ("version", "state"), [("0.1.7", "passed"), ("0.2.0", "failed"), ("1.1.0", "failed")]
)
def test_a_service_of_another_version_is_told(version: str, state: str) -> None:
    check = looked(api=Api(version), url=HERE)["version"]
    assert check.state == state
    assert f"the service is {version}, this command" in check.detail


def test_the_service_has_its_own_word() -> None:
    wrong = {"detail": "wrong", "errors": [{"field": "target.kind", "detail": "none of these"}]}
    check = looked(api=Api(quotes=Answer(422, wrong)), url=HERE)["request"]
    assert (check.state, check.detail) == ("failed", "small: target.kind: none of these")
    never = {**wrong, "type": "urn:plimsoll:problem:limit-reached"}
    assert looked(api=Api(quotes=Answer(409, never)), url=HERE)["request"].state == "failed"
    broken = looked(api=Api(quotes=Answer(500, {"message": "x"})), url=HERE)["request"]
    assert broken.state == "unknown"
