"""Deploys to the stand-in for AWS what `stacks/` deploys to AWS, from the same data and files.

It uses only public APIs, so that everything deployed is checked as AWS checks it.
"""

import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from plimsoll.local.account import ACCOUNT, REGION
from plimsoll.model.deployment.functions import Function, Setting
from plimsoll.model.deployment.rules import (
    ALARMS_TOPIC,
    BUS_NAME,
    CHECKS_GROUP,
    DELETIONS_GROUP,
    EVENTS_TOPIC,
    EVERY_EVENT,
    BusRule,
    ExecutionRule,
    FunctionRule,
    Schedule,
    Topic,
)
from plimsoll.model.deployment.tables import TABLES
from plimsoll.model.request.request import TargetKind
from plimsoll.model.run.dashboards import Dashboards
from plimsoll.model.timings import ONE_MACHINE_TIMINGS
from plimsoll.statemachines import fill_placeholders, name_machine_placeholder

ROLE = f"arn:aws:iam::{ACCOUNT}:role/plimsoll-twin"
PRINCIPAL = f"arn:aws:iam::{ACCOUNT}:user/local"  # caller of the API on one machine
ONE_MACHINE = {  # a team without cost limits, since nothing is bought there
    "principals": [PRINCIPAL],
    "provisioned_iops": None,
    "usd_per_run": None,
    "spend_usd_per_month": None,
}
ZONES = [  # one `load-client` function stands for those of both zones
    {"name": f"{REGION}{letter}", "subnet_id": f"subnet-0000000000000000{number}", "clients": ""}
    for number, letter in enumerate("ab", 1)
]
ClientFactory = Callable[[str], Any]


def make_default_settings() -> dict[Setting, str]:
    """Return the value of every setting of a deployment on one machine."""
    return {
        **{table.setting: f"plimsoll-{table.name}" for table in TABLES},
        **ONE_MACHINE_TIMINGS.settings,
        Setting.RESULTS_BUCKET: "plimsoll-results",
        Setting.TARGET_SERVICE_ROLE_ARN: ROLE,
        Setting.DELETION_ROLE_ARN: ROLE,
        Setting.SCHEDULE_GROUP: DELETIONS_GROUP,
        Setting.TARGET_SUBNET_GROUP: "plimsoll-targets",
        Setting.TARGET_SECURITY_GROUP: "sg-00000000000000001",
        Setting.ZONES: json.dumps(ZONES),
        Setting.CASSANDRA: json.dumps(
            {
                # never read: the archive is on this machine
                "archive_url": "s3://plimsoll-archives/cassandra.tar.gz",
                "instance_profile": "plimsoll-cassandra",
                "security_group_id": "sg-00000000000000002",
            }
        ),
        Setting.RDS_CA_FILE: "",
        Setting.KMS_KEY_ARN: "",
        Setting.LOG_LEVEL: "INFO",
        Setting.TARGET_KINDS: json.dumps(get_args(TargetKind)),
        Setting.ALLOWED_ENDPOINTS: "{}",
        Setting.ALLOWED_SNAPSHOTS: "[]",
        Setting.PRICES: "{}",
        Setting.TAGS: "{}",
        Setting.DASHBOARDS: Dashboards.read_from_environment(os.environ).model_dump_json(),
        Setting.METRICS_NAMESPACE: "Plimsoll",
        Setting.ALARM_TOPIC_ARN: topic_arn(ALARMS_TOPIC),
        Setting.EVENT_BUS: BUS_NAME,
        Setting.CHECK_GROUP: CHECKS_GROUP,
        Setting.CHECK_ROLE_ARN: ROLE,
        Setting.CREATE_TARGET_NAME: "create-target",
        Setting.START_CHECK_ARN: function_arn("start-check"),
        Setting.RUN_MACHINE_ARN: state_machine_arn("run"),
        Setting.EXPERIMENT_MACHINE_ARN: state_machine_arn("experiment"),
        **make_team_settings("default"),
        Setting.RESULTS_DAYS: "",
        Setting.ON_ONE_MACHINE: "true",
        Setting.CONFIGURATION: "",
    }


def make_team_settings(team: str) -> dict[Setting, str]:
    """Return the settings that make every caller on this machine a member of one team."""
    return {Setting.TEAMS: json.dumps({team: ONE_MACHINE})}


def topic_arn(topic: Topic) -> str:
    """Return a topic's ARN."""
    return f"arn:aws:sns:{REGION}:{ACCOUNT}:plimsoll-{topic.name}"


def function_arn(name: str) -> str:
    """Return a function's ARN."""
    return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"


def state_machine_arn(name: str) -> str:
    """Return a state machine's ARN."""
    return f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:{name}"


class Deployer:
    """Deploys everything into the stand-in."""

    def __init__(self, client: ClientFactory, settings: Mapping[Setting, str]) -> None:
        self._client = client
        self._settings = settings

    def storage(self) -> None:
        """Create the results bucket, tables, schedule groups, topics and the bus."""
        self._client("s3").create_bucket(Bucket=self._settings[Setting.RESULTS_BUCKET])
        self._tables()
        for group in (Setting.SCHEDULE_GROUP, Setting.CHECK_GROUP):
            self._client("scheduler").create_schedule_group(Name=self._settings[group])
        for topic in (ALARMS_TOPIC, EVENTS_TOPIC):
            self._client("sns").create_topic(Name=topic_arn(topic).split(":")[-1])
        self._client("events").create_event_bus(Name=self._settings[Setting.EVENT_BUS])
        topic = EVERY_EVENT.topic
        self._bus_rule(EVERY_EVENT, name=topic.name, target_arn=topic_arn(topic))

    def _tables(self) -> None:
        client = self._client("dynamodb")
        for table in TABLES:
            name = self._settings[table.setting]
            client.create_table(**table.creation(name))
            client.update_time_to_live(
                TableName=name,
                TimeToLiveSpecification={"Enabled": True, "AttributeName": table.time_to_live},
            )

    def function_rule(self, rule: FunctionRule) -> None:
        """Call a function with events of the bus."""
        self._bus_rule(rule, name=rule.function, target_arn=function_arn(rule.function))

    def _bus_rule(self, rule: BusRule, *, name: str, target_arn: str) -> None:
        bus = self._settings[Setting.EVENT_BUS]
        self._rule(name, rule.pattern, {"Arn": target_arn}, bus=bus)

    def execution_rule(self, rule: ExecutionRule) -> None:
        """Start a machine when executions of another one end."""
        fields = ", ".join(f'"{field}": <{field}>' for field in rule.input_paths)
        target = {
            "Arn": state_machine_arn(rule.starts),
            "RoleArn": ROLE,
            "InputTransformer": {
                "InputPathsMap": rule.input_paths,
                "InputTemplate": f"{{{fields}}}",
            },
        }
        pattern = rule.pattern(state_machine_arn(rule.machine))
        self._rule(rule.starts, pattern, target, bus="default")

    def _rule(
        self, name: str, pattern: Mapping[str, Any], target: Mapping[str, Any], *, bus: str
    ) -> None:
        events, rule = self._client("events"), f"plimsoll-{name}"
        events.put_rule(Name=rule, EventBusName=bus, EventPattern=json.dumps(pattern))
        events.put_targets(Rule=rule, EventBusName=bus, Targets=[{"Id": "target", **target}])

    def functions(self, functions: Mapping[str, Function]) -> None:
        """Create every function of the table."""
        trust = {"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole"}]}
        self._client("iam").create_role(
            RoleName=ROLE.split("/")[1], AssumeRolePolicyDocument=json.dumps(trust)
        )
        client = self._client("lambda")
        for function in functions.values():
            client.create_function(
                FunctionName=function.name,
                Runtime="python3.13",
                Role=ROLE,
                Handler="handler.handler",
                Code={"ZipFile": _EMPTY_PACKAGE},  # the code is run from its own folder
                Timeout=function.timeout_s,
                MemorySize=function.memory_mib,
                Environment={"Variables": function.settings.variables(self._settings)},
            )
            client.put_function_event_invoke_config(
                FunctionName=function.name, MaximumRetryAttempts=function.retries
            )

    def state_machines(self, folder: Path, functions: Mapping[str, Function]) -> list[str]:
        """Create a state machine from every `*.asl.json`; return their names."""
        values = {str(setting): value for setting, value in self._settings.items()}
        values |= {f.arn_placeholder: function_arn(f.name) for f in functions.values()}
        files = sorted(folder.glob("*.asl.json"))
        names = [file.name.removesuffix(".asl.json") for file in files]
        values |= {name_machine_placeholder(name): state_machine_arn(name) for name in names}
        for name, file in zip(names, files, strict=True):
            self._client("stepfunctions").create_state_machine(
                name=name, definition=fill_placeholders(file.read_text(), values), roleArn=ROLE
            )
        return names

    def schedule(self, schedule: Schedule) -> None:
        """Call a function on a schedule."""
        self._client("scheduler").create_schedule(
            Name=schedule.function,
            GroupName=self._settings[Setting.SCHEDULE_GROUP],
            ScheduleExpression=schedule.expression,
            FlexibleTimeWindow={"Mode": "OFF"},
            Target={"Arn": function_arn(schedule.function), "RoleArn": ROLE, "Input": "{}"},
        )


def _make_empty_package() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("README", "the code is run from its own folder\n")
    return buffer.getvalue()


_EMPTY_PACKAGE = _make_empty_package()
