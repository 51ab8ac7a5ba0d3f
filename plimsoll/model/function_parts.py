"""Permissions that several functions share."""

from plimsoll.model.function import Permission, Resource

READ_RUN = Permission(actions=("s3:GetObject",), resource=Resource.RUN_FILES)
WRITE_RUN = Permission(actions=("s3:PutObject",), resource=Resource.RUN_FILES)
LIST_RUN = Permission(actions=("s3:ListBucket",), resource=Resource.RUN_LISTING)
READ_RECORD = Permission(actions=("dynamodb:GetItem",), resource=Resource.RUNS_TABLE)
WRITE_RECORD = Permission(actions=("dynamodb:UpdateItem",), resource=Resource.RUNS_TABLE)
READ_METRICS = Permission(
    actions=("cloudwatch:GetMetricData",),
    resource=Resource.ANY,
    why="CloudWatch has no resources for reading metrics",
)
READ_SECRET = Permission(
    actions=("secretsmanager:GetSecretValue",), resource=Resource.TARGET_SECRETS
)
SEE_STACK = Permission(actions=("cloudformation:DescribeStacks",), resource=Resource.TARGET_STACKS)
DELETE_STACK = Permission(actions=("cloudformation:DeleteStack",), resource=Resource.TARGET_STACKS)
CHANGE_LIMITS = Permission(
    actions=("dynamodb:GetItem", "dynamodb:UpdateItem"), resource=Resource.SERVICE_TABLE
)
PASS_TARGET_ROLE = Permission(actions=("iam:PassRole",), resource=Resource.TARGET_SERVICE_ROLE)
READ_EXPERIMENT = Permission(actions=("s3:GetObject",), resource=Resource.EXPERIMENT_FILES)
READ_EXPERIMENT_RECORD = Permission(actions=("dynamodb:GetItem",), resource=Resource.SERVICE_TABLE)
CHANGE_EXPERIMENT = Permission(
    actions=("dynamodb:GetItem", "dynamodb:UpdateItem"), resource=Resource.SERVICE_TABLE
)
SERVE_EXPERIMENTS = (
    READ_EXPERIMENT,
    Permission(actions=("s3:PutObject",), resource=Resource.EXPERIMENT_FILES),
    CHANGE_EXPERIMENT,
    Permission(actions=("dynamodb:PutItem",), resource=Resource.SERVICE_TABLE),
    Permission(actions=("states:StartExecution",), resource=Resource.EXPERIMENT_MACHINE),
    Permission(actions=("states:StopExecution",), resource=Resource.EXPERIMENT_EXECUTIONS),
)
STOP_RUN = Permission(actions=("states:StopExecution",), resource=Resource.RUN_EXECUTIONS)
RESOLVE_VERSION = Permission(
    actions=("rds:DescribeDBEngineVersions",),
    resource=Resource.ANY,
    why="the versions that RDS offers belong to no resource of an account",
)
SEE_RUN = Permission(actions=("states:DescribeExecution",), resource=Resource.RUN_EXECUTIONS)
SEE_SNAPSHOTS = Permission(
    actions=("rds:DescribeDBSnapshots", "ec2:DescribeSnapshots"),
    resource=Resource.ANY,
    why="a listing of all snapshots has no resource",
)
DELETE_SNAPSHOTS = (
    Permission(actions=("rds:DeleteDBSnapshot",), resource=Resource.DATASET_SNAPSHOTS),
    Permission(actions=("ec2:DeleteSnapshot",), resource=Resource.DATASET_VOLUME_SNAPSHOTS),
)
TELL = Permission(actions=("events:PutEvents",), resource=Resource.EVENT_BUS)
