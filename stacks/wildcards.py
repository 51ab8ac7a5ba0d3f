"""Every wildcard in the deployment's policies, with the reason why it cannot be a name."""

from aws_cdk import Acknowledgment, CfnResource, Stack, Validations

from plimsoll.model.deployment.deployment import DEFAULT_NAME
from plimsoll.model.deployment.rules import CHECKS_GROUP
from stacks.names import own_name

RUN_TIME = "runs and their targets are named when they start; the prefix is Plimsoll's own"
SCHEDULE = "schedule/<Deletions>/plimsoll-run-*"
SCHEDULE_OF_SNAPSHOT = "schedule/<Deletions>/plimsoll-dataset-*"
OF_THIS_ACCOUNT = {
    "cloudformation": {"stack/plimsoll-run-*/*": RUN_TIME},
    "ec2": {
        "instance/*": "EC2 names instances; only one with a run's tag may be made or ended",
        "volume/*": "EC2 names volumes; only one with a run's tag may be made",
        "launch-template/*": "EC2 names them; only one with a run's tag may be made, used, deleted",
        "network-interface/*": "EC2 names the interface that it makes with an instance",
    },
    "kms": {
        "key/*": "AWS's own keys of RDS, EC2 and Secrets Manager, through these services alone"
    },
    "rds": {
        "db:plimsoll-*": RUN_TIME,
        "pg:plimsoll-*": RUN_TIME,
        "cluster:plimsoll-*": RUN_TIME,
        "cluster-pg:plimsoll-*": RUN_TIME,
        "snapshot:plimsoll-dataset-*": RUN_TIME,
        "og:default:*": "every instance has its engine's default option group",
        "pg:default.*": "an Aurora writer has its engine's default parameter group",
    },
    "scheduler": {SCHEDULE: RUN_TIME, SCHEDULE_OF_SNAPSHOT: RUN_TIME},
    "secretsmanager": {
        f"secret:rds!{kind}-*": "RDS names the secret; reading one takes a plimsoll-* target's tag"
        for kind in ("db", "cluster")
    },
}
OF_THIS_DEPLOYMENT = {  # limited by this deployment's name
    "scheduler": {
        f"schedule/{CHECKS_GROUP}/*": "teams name their checks; the group holds nothing else"
    },
    "states": {
        "execution:plimsoll-run:*": "executions are named when they start",
        "execution:plimsoll-experiment:*": "executions are named when they start",
        "execution:plimsoll-run/*:*": "children of a Distributed Map are named when it runs",
    },
}
OF_AWS = {
    "ec2:<AWS::Region>::snapshot/*": "EC2 names snapshots; only one with a run's tag may be made,"
    " restored or deleted",
    "ec2:<AWS::Region>::image/*": "the image is AWS's latest; only Amazon's own may be used",
    "ssm:<AWS::Region>::parameter/aws/service/ami-amazon-linux-latest/*": "AWS's public list of"
    " images, one parameter for each architecture",
}
NO_RESOURCE = (
    "actions that know no resource, such as Describe calls, X-Ray and log delivery, and the"
    " network interfaces that the Lambda service makes; a test holds the list of them"
)
OF_BUCKET = {
    "runs/*": RUN_TIME,
    "runs/*/failures/*": RUN_TIME,
    "experiments/*": "experiments are named when they are submitted",
}
AGENT = "AmazonSSMManagedInstanceCore is AWS's own list of what its agent calls"


def explain_wildcards(stack: Stack, results: CfnResource) -> None:
    """Acknowledge the findings of cdk-nag's rules IAM4 and IAM5, each with its reason."""
    account = "<AWS::Region>:<AWS::AccountId>"
    reasons = {"*": NO_RESOURCE}
    for service, names in OF_THIS_ACCOUNT.items():
        for name, reason in names.items():
            reasons[f"arn:<AWS::Partition>:{service}:{account}:{name}"] = reason
    own = own_name(stack, DEFAULT_NAME)
    for service, names in OF_THIS_DEPLOYMENT.items():
        for name, reason in names.items():
            resource = name.replace(DEFAULT_NAME, own)
            reasons[f"arn:<AWS::Partition>:{service}:{account}:{resource}"] = reason
    for name, reason in OF_AWS.items():
        reasons[f"arn:<AWS::Partition>:{name}"] = reason
    for name, reason in OF_BUCKET.items():
        reasons[f"<{stack.get_logical_id(results)}.Arn>/{name}"] = reason
    ids = {f"AwsSolutions-IAM5[Resource::{name}]": reason for name, reason in reasons.items()}
    managed = "Policy::arn:<AWS::Partition>:iam::aws:policy/AmazonSSMManagedInstanceCore"
    ids[f"AwsSolutions-IAM4[{managed}]"] = AGENT
    Validations.of(stack).acknowledge(
        *[Acknowledgment(id=name, reason=reason) for name, reason in ids.items()]
    )
