"""Deploys to the local stand-in what `stacks/` deploys to AWS: from the same tables and files.

Through the public APIs alone, so that what is deployed is checked as AWS checks it.
"""

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from plimsoll.local.account import ACCOUNT, REGION
from plimsoll.model.events import SOURCE, RunEnded
from plimsoll.model.functions import Function, Setting
from plimsoll.model.run_record import RUNS_BY_TEAM
from plimsoll.statemachines import machine_placeholder, substitute

ROLE = f"arn:aws:iam::{ACCOUNT}:role/plimsoll-twin"
PRINCIPAL = f"arn:aws:iam::{ACCOUNT}:user/local"  # who calls the API on one machine
ONE_MACHINE = {  # nothing is spent there
    "principals": [PRINCIPAL],
    "concurrent_runs": 20,
    "clients": 2000,
    "provisioned_iops": None,
    "usd_per_run": None,
    "spend_usd_per_month": None,
}
EVENTS_TOPIC = f"arn:aws:sns:{REGION}:{ACCOUNT}:plimsoll-events"
_ENDED_BADLY = ["FAILED", "ABORTED", "TIMED_OUT"]

ClientFactory = Callable[[str], Any]


def default_settings() -> dict[Setting, str]:
    """Give every setting of a deployment its value on one machine."""
    return {
        Setting.RESULTS_BUCKET: "plimsoll-results",
        Setting.RUNS_TABLE: "plimsoll-runs",
        Setting.SERVICE_TABLE: "plimsoll-service",
        Setting.TARGET_SERVICE_ROLE: ROLE,
        Setting.DELETION_ROLE: ROLE,
        Setting.SCHEDULE_GROUP: "plimsoll",
        Setting.TARGET_SUBNET_GROUP: "plimsoll-targets",
        Setting.TARGET_SECURITY_GROUP: "sg-00000000000000001",
        Setting.TARGET_AVAILABILITY_ZONE: f"{REGION}a",
        Setting.CASSANDRA: json.dumps(
            {
                "archive_url": "s3://plimsoll-archives/cassandra.tar.gz",  # never read: it is here
                "instance_profile": "plimsoll-cassandra",
                "subnet_id": "subnet-00000000000000001",
            }
        ),
        Setting.TARGET_KINDS: json.dumps(["rds", "cassandra", "endpoint"]),
        Setting.POLL_SECONDS: "1",
        Setting.START_LEAD_MS: "900",
        Setting.START_LEAD_MS_PER_CLIENT: "90",  # docs/local.md: 100 cold clients on two cores
        Setting.METRIC_PERIOD_SECONDS: "1",
        Setting.ALLOWED_ENDPOINTS: "{}",
        Setting.PRICES: "{}",
        Setting.ALARM_TOPIC: f"arn:aws:sns:{REGION}:{ACCOUNT}:plimsoll-alarms",
        Setting.EVENT_BUS: "plimsoll",
        Setting.CHECK_GROUP: "plimsoll-checks",
        Setting.CHECK_ROLE: ROLE,
        Setting.START_CHECK: function_arn("start-check"),
        Setting.RUN_MACHINE: state_machine_arn("run"),
        Setting.EXPERIMENT_MACHINE: state_machine_arn("experiment"),
        Setting.TEAMS: json.dumps({"default": ONE_MACHINE}),
        Setting.RESULTS_DAYS: "",
        Setting.ON_ONE_MACHINE: "true",
    }


def function_arn(name: str) -> str:
    """Give a function's ARN."""
    return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"


def state_machine_arn(name: str) -> str:
    """Give a state machine's ARN."""
    return f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:{name}"


class Deployment:
    """What is put into the stand-in before a run."""

    def __init__(self, client: ClientFactory, settings: Mapping[Setting, str]) -> None:
        self._client = client
        self._settings = settings

    def storage(self) -> None:
        """Make the results bucket, the tables, the schedule groups, the topics and the bus."""
        self._client("s3").create_bucket(Bucket=self._settings[Setting.RESULTS_BUCKET])
        self._tables()
        for group in (Setting.SCHEDULE_GROUP, Setting.CHECK_GROUP):
            self._client("scheduler").create_schedule_group(Name=self._settings[group])
        for topic in (self._settings[Setting.ALARM_TOPIC], EVENTS_TOPIC):
            self._client("sns").create_topic(Name=topic.split(":")[-1])
        self._client("events").create_event_bus(Name=self._settings[Setting.EVENT_BUS])
        self._rule("plimsoll-events", {"source": [SOURCE]}, EVENTS_TOPIC)

    def judge_checks(self, name: str) -> None:
        """Call a function at the end of every run."""
        pattern = {"source": [SOURCE], "detail-type": [RunEnded.detail_type]}
        self._rule(f"plimsoll-{name}", pattern, function_arn(name))

    def _rule(self, name: str, pattern: Mapping[str, Any], target_arn: str) -> None:
        bus = self._settings[Setting.EVENT_BUS]
        events = self._client("events")
        events.put_rule(Name=name, EventBusName=bus, EventPattern=json.dumps(pattern))
        target = {"Id": "target", "Arn": target_arn}
        events.put_targets(Rule=name, EventBusName=bus, Targets=[target])

    def _tables(self) -> None:
        client = self._client("dynamodb")
        client.create_table(
            TableName=self._settings[Setting.RUNS_TABLE],
            KeySchema=_key("run_id"),
            AttributeDefinitions=_text_attributes("run_id", "team", "submitted_at"),
            GlobalSecondaryIndexes=[
                {
                    "IndexName": RUNS_BY_TEAM,
                    "KeySchema": _key("team", "submitted_at"),
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        client.create_table(
            TableName=self._settings[Setting.SERVICE_TABLE],
            KeySchema=_key("pk", "sk"),
            AttributeDefinitions=_text_attributes("pk", "sk"),
            BillingMode="PAY_PER_REQUEST",
        )

    def functions(self, functions: Mapping[str, Function]) -> None:
        """Make every function of the table."""
        trust = {"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole"}]}
        self._client("iam").create_role(
            RoleName=ROLE.split("/")[1], AssumeRolePolicyDocument=json.dumps(trust)
        )
        client = self._client("lambda")
        for function in functions.values():
            variables = {
                name: self._settings[setting] for name, setting in function.environment.items()
            }
            client.create_function(
                FunctionName=function.name,
                Runtime="python3.13",
                Role=ROLE,
                Handler="handler.handler",
                Code={"ZipFile": _EMPTY_PACKAGE},  # the code is run from its own folder
                Timeout=function.timeout_s,
                MemorySize=function.memory_mib,
                Environment={"Variables": variables},
            )
            client.put_function_event_invoke_config(
                FunctionName=function.name, MaximumRetryAttempts=function.retries
            )

    def state_machines(self, folder: Path, functions: Mapping[str, Function]) -> list[str]:
        """Make a state machine of every `*.asl.json`; returns their names."""
        values = {str(setting): value for setting, value in self._settings.items()}
        values |= {f.arn_placeholder: function_arn(f.name) for f in functions.values()}
        files = sorted(folder.glob("*.asl.json"))
        names = [file.name.removesuffix(".asl.json") for file in files]
        values |= {machine_placeholder(name): state_machine_arn(name) for name in names}
        for name, file in zip(names, files, strict=True):
            self._client("stepfunctions").create_state_machine(
                name=name, definition=substitute(file.read_text(), values), roleArn=ROLE
            )
        return names

    def end_rule(self, *, machine: str, starts: str, name: str) -> None:
        """Start another machine for every execution that ended in a way that no Catch sees.

        Args:
            machine: Whose executions.
            starts: The machine that is started.
            name: What its input calls the execution's name.
        """
        events = self._client("events")
        pattern = {
            "source": ["aws.states"],
            "detail-type": ["Step Functions Execution Status Change"],
            "detail": {"stateMachineArn": [state_machine_arn(machine)], "status": _ENDED_BADLY},
        }
        rule = f"plimsoll-{starts}"
        events.put_rule(Name=rule, EventPattern=json.dumps(pattern))
        target = {
            "Id": starts,
            "Arn": state_machine_arn(starts),
            "RoleArn": ROLE,
            "InputTransformer": {
                "InputPathsMap": {"name": "$.detail.name", "ended": "$.detail.status"},
                "InputTemplate": f'{{"{name}": <name>, "ended": <ended>}}',
            },
        }
        events.put_targets(Rule=rule, Targets=[target])

    def janitor(self, name: str, every_minutes: int) -> None:
        """Call the janitor again and again."""
        self._client("scheduler").create_schedule(
            Name=name,
            GroupName=self._settings[Setting.SCHEDULE_GROUP],
            ScheduleExpression=f"rate({every_minutes} minutes)",
            FlexibleTimeWindow={"Mode": "OFF"},
            Target={"Arn": function_arn(name), "RoleArn": ROLE, "Input": "{}"},
        )


def _key(partition: str, sort: str | None = None) -> list[dict[str, str]]:
    key = [{"AttributeName": partition, "KeyType": "HASH"}]
    return [*key, {"AttributeName": sort, "KeyType": "RANGE"}] if sort else key


def _text_attributes(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


def _empty_package() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("README", "the code is run from its own folder\n")
    return buffer.getvalue()


_EMPTY_PACKAGE = _empty_package()
