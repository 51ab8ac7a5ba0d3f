"""Reads of a target's EC2 instance."""

from plimsoll.aws import clients
from plimsoll.model.request.cassandra_target import DATA_DEVICE


def find_data_volume_id(instance_id: str) -> str | None:
    """Return the id of an instance's data volume; None if it has none.

    CloudWatch's EBS metrics need the volume, which CloudFormation does not name.
    """
    volumes = clients.ec2().describe_volumes(
        Filters=[
            {"Name": "attachment.instance-id", "Values": [instance_id]},
            {"Name": "attachment.device", "Values": [DATA_DEVICE]},
        ]
    )["Volumes"]
    return volumes[0]["VolumeId"] if volumes else None
