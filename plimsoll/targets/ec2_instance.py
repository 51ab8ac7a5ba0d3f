"""What EC2 says of a target's instance."""

from plimsoll.aws import clients
from plimsoll.model.cassandra_target import DATA_DEVICE


def data_volume_id(instance_id: str) -> str | None:
    """Name an instance's data volume, which CloudFormation does not: EBS's metrics are by volume.

    None where the instance has none.
    """
    found = clients.ec2().describe_volumes(
        Filters=[
            {"Name": "attachment.instance-id", "Values": [instance_id]},
            {"Name": "attachment.device", "Values": [DATA_DEVICE]},
        ]
    )["Volumes"]
    return found[0]["VolumeId"] if found else None
