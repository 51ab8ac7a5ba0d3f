"""What EC2 says of a target's instance."""

from plimsoll.aws import clients
from plimsoll.model.request.cassandra_target import DATA_DEVICE


def data_volume_id(instance_id: str) -> str | None:
    """Name an instance's data volume; None where it has none.

    EBS's metrics are by volume, and CloudFormation does not say which one an instance has.
    """
    volumes = clients.ec2().describe_volumes(
        Filters=[
            {"Name": "attachment.instance-id", "Values": [instance_id]},
            {"Name": "attachment.device", "Values": [DATA_DEVICE]},
        ]
    )["Volumes"]
    return volumes[0]["VolumeId"] if volumes else None
