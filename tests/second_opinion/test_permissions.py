"""What a whole run calls is allowed by the synthesized policies, and what it must never do is not.

`@cloud-copilot/iam-simulate` evaluates the policies of the template that `cdk deploy` deploys.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from aws_cdk import App

from plimsoll.local.account import ACCOUNT, REGION
from plimsoll.local.twin import LocalTwin
from plimsoll.model.deployment.deployment import read_deployment
from plimsoll.model.deployment.functions import FUNCTIONS, Setting
from plimsoll.model.deployment.rules import EXECUTION_RULES
from plimsoll.statemachines import STATE_MACHINES
from plimsoll.targets.snapshots import DELETE_ACTIONS
from stacks.plimsoll import PlimsollStack
from tests.local.workflow.pool import ROOT
from tests.second_opinion.deployed import Deployed
from tests.second_opinion.iam_requests import (
    AT,
    TLS,
    IamRequest,
    Simulation,
    pass_role,
    request_of_schedule,
    requests_of,
    simulate,
    stack_arn,
)
from tests.second_opinion.journal import AwsCall, read_calls, write_functions
from tests.second_opinion.lives import LIVES
from tests.second_opinion.scenarios import tasks
from tests.second_opinion.scripted_aws import WRITTEN

# The twin is given the names of the deployment, so that what is written down needs no translation.
NAMED = (
    Setting.RESULTS_BUCKET,
    Setting.RUNS_TABLE,
    Setting.SERVICE_TABLE,
    Setting.SCHEDULE_GROUP,
    Setting.CHECK_GROUP,
    Setting.EVENT_BUS,
    Setting.ALARM_TOPIC_ARN,
    Setting.TARGET_SERVICE_ROLE_ARN,
    Setting.DELETION_ROLE_ARN,
    Setting.CHECK_ROLE_ARN,
    Setting.ON_ONE_MACHINE,
)


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """What `cdk deploy` deploys without any configuration."""
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    app = App(
        outdir=str(tmp_path_factory.mktemp("app")),
        analytics_reporting=False,
        context={**context, "aws:cdk:bundling-stacks": []},
    )
    PlimsollStack(app, "Plimsoll", read_deployment({}))
    return Deployed(app.synth().stacks[0].template)


def _settings(deployed: Deployed) -> dict[Setting, str]:
    found: dict[Setting, str] = {}
    for name, function in FUNCTIONS.items():
        environment = deployed.environment(name)
        for variable, setting in function.environment.items():
            if setting in NAMED and variable in environment:
                found[setting] = environment[variable]
    return found


@pytest.fixture(scope="module")
def calls(deployed: Deployed, tmp_path_factory: pytest.TempPathFactory) -> list[AwsCall]:
    """All that functions call in a run, an experiment, a check's life and a stop by the API."""
    home = tmp_path_factory.mktemp("journal")
    file = home / "calls"
    functions = write_functions(home / "functions", file)
    with LocalTwin(
        home / "twin", functions_directory=functions, settings=_settings(deployed)
    ) as twin:
        for live in LIVES:
            live(twin)
    return read_calls(file)


def _asked(deployed: Deployed, role: str, request: IamRequest) -> Simulation:
    bucket = next(iter(deployed.of_type("AWS::S3::Bucket")))
    of_bucket = deployed.bucket_policy(bucket) if request.action.startswith("s3:") else None
    return Simulation(role, deployed.policy(role), request, of_bucket)


def _verdicts(simulations: list[Simulation]) -> dict[str, str]:
    """What the simulator says, by role and request; each question once."""
    once = {f"{simulation.role}: {simulation.request}": simulation for simulation in simulations}
    return dict(zip(once, simulate(list(once.values())), strict=True))


def _as_deployed(request: IamRequest) -> IamRequest:
    """A name of a machine or function on one machine lacks the deployment's prefix."""
    arn = request.resource
    for kind in (":stateMachine:", ":execution:", ":function:"):
        arn = arn.replace(kind, f"{kind}plimsoll-")
    return IamRequest(request.action, arn, request.context)


def test_every_call_of_whole_runs_is_allowed(
    deployed: Deployed, calls: list[AwsCall], record_property: Any
) -> None:
    assert {call.function for call in calls} == set(FUNCTIONS)
    simulations = [
        _asked(deployed, deployed.function_role(call.function), _as_deployed(request))
        for call in calls
        for request in requests_of(call)
    ]
    verdicts = _verdicts(simulations)
    record_property("counted", f"{len(calls)} calls, {len(verdicts)} questions")
    assert {asked: told for asked, told in verdicts.items() if told != "Allowed"} == {}


def _of_machines(deployed: Deployed) -> Iterator[tuple[str, IamRequest]]:
    """What a machine's role needs: its tasks, and what AWS's guide names for each integration."""
    for machine in STATE_MACHINES:
        role = deployed.machine_role(machine)
        for _, called in tasks(machine):
            if called == "bus":
                bus = next(iter(deployed.of_type("AWS::Events::EventBus")))
                yield role, IamRequest("events:PutEvents", deployed.arn(bus))
            elif called == WRITTEN:
                bucket = f"arn:aws:s3:::{_settings(deployed)[Setting.RESULTS_BUCKET]}"
                for path in ("steps/1/failures/0", "prepare/failures/0-0"):
                    yield role, IamRequest("s3:PutObject", f"{bucket}/runs/r/{path}.json", TLS)
            elif called == "run":
                yield from ((role, request) for request in _nested("plimsoll-run"))
            else:
                function = f"arn:aws:lambda:{AT}:function:plimsoll-{called}"
                yield role, IamRequest("lambda:InvokeFunction", function)
    run = deployed.machine_role("run")  # its Distributed Maps start children of its own
    children = f"arn:aws:states:{AT}:execution:plimsoll-run/RunClients:0123"
    yield run, IamRequest("states:StartExecution", f"arn:aws:states:{AT}:stateMachine:plimsoll-run")
    for action in ("DescribeExecution", "StopExecution"):
        yield run, IamRequest(f"states:{action}", children)


def _nested(machine: str) -> Iterator[IamRequest]:
    """What AWS's guide names for startExecution.sync.

    https://docs.aws.amazon.com/step-functions/latest/dg/connect-stepfunctions.html
    """
    yield IamRequest("states:StartExecution", f"arn:aws:states:{AT}:stateMachine:{machine}")
    for action in ("DescribeExecution", "StopExecution"):
        yield IamRequest(f"states:{action}", f"arn:aws:states:{AT}:execution:{machine}:0123")
    rule = f"arn:aws:events:{AT}:rule/StepFunctionsGetEventsForStepFunctionsExecutionRule"
    for action in ("PutTargets", "PutRule", "DescribeRule"):
        yield IamRequest(f"events:{action}", rule)


def test_every_machine_may_call_what_its_states_name(
    deployed: Deployed, record_property: Any
) -> None:
    asked = [_asked(deployed, role, request) for role, request in _of_machines(deployed)]
    verdicts = _verdicts(asked)
    record_property("counted", f"{len(verdicts)} questions")
    assert {asked: told for asked, told in verdicts.items() if told != "Allowed"} == {}


def _of_schedules(deployed: Deployed, calls: list[AwsCall]) -> Iterator[tuple[str, IamRequest]]:
    """What Scheduler does with the roles that it is given: by every schedule of whole runs.

    One that no schedule of the twin's runs names is that of a snapshot of EBS.
    """
    for call in calls:
        if call.operation == "CreateSchedule":
            target = call.parameters["Target"]
            yield _role_of(deployed, target["RoleArn"]), _as_deployed(request_of_schedule(target))
    action, named = DELETE_ACTIONS["cassandra"]
    arn = f"arn:aws:scheduler:::aws-sdk:{action}"
    target = {"Arn": arn, "Input": json.dumps({named: "snap-0a1b2c3d"})}
    role = _role_of(deployed, _settings(deployed)[Setting.DELETION_ROLE_ARN])
    yield role, request_of_schedule(target)


def _of_rules(deployed: Deployed) -> Iterator[tuple[str, IamRequest]]:
    """What EventBridge does with the role of a rule: it starts the machine that clears up."""
    for rule in deployed.of_type("AWS::Events::Rule").values():
        for target in rule["Targets"]:
            if "RoleArn" in target:
                machine = deployed.value(target["Arn"])
                yield target["RoleArn"]["Fn::GetAtt"][0], _start(machine)


def _start(machine: str) -> IamRequest:
    return IamRequest("states:StartExecution", machine)


def test_schedules_and_rules_may_do_what_they_name(
    deployed: Deployed, calls: list[AwsCall], record_property: Any
) -> None:
    schedules = list(_of_schedules(deployed, calls))
    done = {request.action for _, request in schedules}
    assert done == {
        "cloudformation:DeleteStack", "rds:DeleteDBSnapshot", "ec2:DeleteSnapshot",
        "lambda:InvokeFunction",
    }  # fmt: skip
    rules = list(_of_rules(deployed))
    assert len(rules) == len(EXECUTION_RULES)
    verdicts = _verdicts([_asked(deployed, *each) for each in (*schedules, *rules)])
    record_property("counted", f"{len(verdicts)} questions")
    assert {asked: told for asked, told in verdicts.items() if told != "Allowed"} == {}


ANOTHERS_ROLE = f"arn:aws:iam::{ACCOUNT}:role/administrator"
ANOTHERS_SECRET = f"arn:aws:secretsmanager:{AT}:secret:rds!db-0a1b2c3d-AbCdEf"
ANOTHERS_STACK = stack_arn("payroll")
OURS = stack_arn("plimsoll-run-20260101-000000-abcdef")


def _never_of_a_function(deployed: Deployed) -> Iterator[IamRequest]:
    """What no function may do, whichever it is."""
    names = _settings(deployed)
    bucket = f"arn:aws:s3:::{names[Setting.RESULTS_BUCKET]}"
    table = f"arn:aws:dynamodb:{AT}:table/{names[Setting.RUNS_TABLE]}"
    yield IamRequest("s3:DeleteBucket", bucket, TLS)
    yield IamRequest("s3:PutBucketPolicy", bucket, TLS)
    yield IamRequest("s3:DeleteObject", f"{bucket}/runs/r/result.json", TLS)
    yield IamRequest(
        "s3:GetObject", f"{bucket}/runs/r/request.json", {"aws:SecureTransport": "false"}
    )
    yield IamRequest("s3:GetObject", "arn:aws:s3:::payroll/salaries.csv", TLS)
    yield IamRequest("s3:PutObject", f"{bucket}/elsewhere/x", TLS)
    yield IamRequest("dynamodb:DeleteTable", table)
    yield IamRequest("dynamodb:GetItem", f"arn:aws:dynamodb:{AT}:table/payroll")
    yield IamRequest("iam:CreateRole", ANOTHERS_ROLE)
    yield IamRequest("cloudformation:DeleteStack", ANOTHERS_STACK)
    yield IamRequest("cloudformation:UpdateStack", OURS)
    yield from (pass_role(ANOTHERS_ROLE, service) for service in ("cloudformation", "scheduler"))
    yield IamRequest("secretsmanager:GetSecretValue", ANOTHERS_SECRET, _tagged("payroll"))
    yield IamRequest("secretsmanager:GetSecretValue", ANOTHERS_SECRET)
    yield IamRequest("lambda:InvokeFunction", f"arn:aws:lambda:{AT}:function:payroll")
    yield IamRequest("states:StartExecution", f"arn:aws:states:{AT}:stateMachine:payroll")
    yield IamRequest("events:PutEvents", f"arn:aws:events:{AT}:event-bus/default")
    yield IamRequest("sns:Publish", f"arn:aws:sns:{AT}:payroll")
    yield IamRequest("rds:DeleteDBInstance", f"arn:aws:rds:{AT}:db:plimsoll-r")
    yield IamRequest("ec2:TerminateInstances", f"arn:aws:ec2:{AT}:instance/i-0a1b2c3d")


def _tagged(instance: str) -> Mapping[str, str]:
    key = "aws:ResourceTag/aws:rds:primaryDBInstanceArn"
    return {key: f"arn:aws:rds:{AT}:db:{instance}"}


def _never_of_one(deployed: Deployed) -> Iterator[tuple[str, IamRequest]]:
    """What one role may nearly do: it differs from what is allowed in a single thing."""
    names = _settings(deployed)
    service_role = names[Setting.TARGET_SERVICE_ROLE_ARN]
    url = f"https://{names[Setting.RESULTS_BUCKET]}.s3.{REGION}.amazonaws.com/runs/r/"
    right = {
        "cloudformation:RoleArn": service_role,
        "cloudformation:TemplateUrl": f"{url}target.template.json",
    }
    create = deployed.function_role("create-target")
    for stack, wrong in (
        (ANOTHERS_STACK, {}),
        (OURS, {"cloudformation:RoleArn": ANOTHERS_ROLE}),
        (OURS, {"cloudformation:TemplateUrl": f"{url}other.json"}),
        (OURS, {"cloudformation:TemplateUrl": "https://elsewhere.example/target.template.json"}),
    ):
        yield create, IamRequest("cloudformation:CreateStack", stack, {**right, **wrong})
    yield create, pass_role(service_role, "ec2")
    arm = deployed.function_role("arm-deletion")
    yield arm, pass_role(service_role, "scheduler")
    schedule = f"arn:aws:scheduler:{AT}:schedule/default/plimsoll-run-r"
    yield arm, IamRequest("scheduler:CreateSchedule", schedule)
    loads = deployed.function_role("load-client")
    source = {"lambda:SourceFunctionArn": f"arn:aws:lambda:{AT}:function:plimsoll-load-client"}
    yield loads, IamRequest("ec2:CreateNetworkInterface", "*", source)
    table = f"arn:aws:dynamodb:{AT}:table/{names[Setting.RUNS_TABLE]}"
    yield loads, IamRequest("dynamodb:UpdateItem", table)
    api = deployed.function_role("api")
    yield api, IamRequest("states:StopExecution", f"arn:aws:states:{AT}:execution:payroll:1")
    yield api, IamRequest("cloudformation:DeleteStack", OURS)
    for setting in (Setting.DELETION_ROLE_ARN, Setting.TARGET_SERVICE_ROLE_ARN):
        role = _role_of(deployed, names[setting])
        yield role, IamRequest("cloudformation:DeleteStack", ANOTHERS_STACK)
        yield role, IamRequest("rds:DeleteDBInstance", f"arn:aws:rds:{AT}:db:payroll")
        yield role, IamRequest("iam:CreateRole", ANOTHERS_ROLE)
    bucket = f"arn:aws:s3:::{names[Setting.RESULTS_BUCKET]}"
    for path in ("runs/r/result.json", "runs/r/steps/1/clients/0.json", "experiments/e/failures/0"):
        yield deployed.machine_role("run"), IamRequest("s3:PutObject", f"{bucket}/{path}", TLS)
    function = IamRequest("lambda:InvokeFunction", f"arn:aws:lambda:{AT}:function:payroll")
    for machine in STATE_MACHINES:
        yield deployed.machine_role(machine), function
    yield _role_of(deployed, names[Setting.CHECK_ROLE_ARN]), function
    deletion = _role_of(deployed, names[Setting.DELETION_ROLE_ARN])
    yield deletion, IamRequest("rds:DeleteDBSnapshot", f"arn:aws:rds:{AT}:snapshot:payroll")
    yield (
        deletion,
        IamRequest("ec2:DeleteSnapshot", f"arn:aws:ec2:{REGION}::snapshot/snap-0a1b2c3d"),
    )
    for role, _ in _of_rules(deployed):
        yield role, _start(f"arn:aws:states:{AT}:stateMachine:payroll")


def _role_of(deployed: Deployed, arn: str) -> str:
    roles = deployed.of_type("AWS::IAM::Role")
    return next(role for role in roles if deployed.arn(role) == arn)


def test_what_must_never_be_is_denied(deployed: Deployed, record_property: Any) -> None:
    asked = [
        _asked(deployed, role, request)
        for role in (deployed.function_role(name) for name in FUNCTIONS)
        for request in _never_of_a_function(deployed)
    ]
    asked += [_asked(deployed, role, request) for role, request in _never_of_one(deployed)]
    verdicts = _verdicts(asked)
    record_property("counted", f"{len(verdicts)} questions")
    denied = {"ImplicitlyDenied", "ExplicitlyDenied"}
    assert {asked: told for asked, told in verdicts.items() if told not in denied} == {}
