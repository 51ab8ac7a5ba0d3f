"""Cassandra on EC2: the volume asked for, and an instance that only the fleet and SSM reach."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from plimsoll.model.deployment.function_settings import Zone
from plimsoll.targets.cluster_template import add_nodes
from tests.infrastructure.template import Resolved, Template, walk

VOLUMES: dict[str, dict[str, str]] = {
    "gp2": {"SizeGib": "1000"},
    "gp3": {"SizeGib": "1000", "Iops": "6000", "ThroughputMibS": "500"},
    "io1": {"SizeGib": "1000", "Iops": "10000"},
    "io2": {"SizeGib": "1000", "Iops": "10000"},
    "nvme": {},
}


ZONES = [Zone(name=f"eu-west-1{z}", subnet_id=f"subnet-0{z}", clients="") for z in "ab"]
MOST_BYTES_OF_A_TEMPLATE = 2**20  # that CloudFormation reads from S3


def resolved(template: Template, volume: str, *, nodes: int = 1) -> Resolved:
    return Resolved(
        json.loads(add_nodes(json.dumps(template.body), nodes, ZONES)),
        {
            "RunId": "r2",
            "Team": "dba",
            "ExpiresAt": "2026-12-01T10:00:00Z",
            "AvailabilityZone": "eu-west-1a",
            "SecurityGroupId": "sg-0a",
            "SubnetId": "subnet-0a1b2c3d",
            "InstanceProfileName": "plimsoll",
            "InstanceType": "i3.2xlarge" if volume == "nvme" else "r4.4xlarge",
            "StorageType": volume,
            "ArchiveUrl": "s3://assets/apache-cassandra.tar.gz",
            **VOLUMES[volume],
        },
    )


def user_data(template: Template, volume: str = "gp3", *, node: int = 1, nodes: int = 1) -> str:
    name = f"Instance{node}" if node > 1 else "Instance"
    text = resolved(template, volume, nodes=nodes).resources[name]["UserData"]
    assert isinstance(text, str)
    return text


@pytest.fixture
def template(target_templates: dict[str, Template]) -> Template:
    return target_templates["cassandra"]


@pytest.mark.parametrize("volume", VOLUMES)
def test_the_instance_has_the_volume_asked_for(template: Template, volume: str) -> None:
    data = resolved(template, volume).resources["LaunchTemplate"]["LaunchTemplateData"]
    root, *more = data["BlockDeviceMappings"]
    assert root["DeviceName"] == "/dev/xvda"
    if volume == "nvme":  # it comes with the instance
        assert more == []
        return
    (mapping,) = more
    wanted: dict[str, Any] = {
        "VolumeType": volume,
        "VolumeSize": "1000",
        "Encrypted": True,
        "DeleteOnTermination": True,
    }
    given = VOLUMES[volume]
    wanted |= {"Iops": given["Iops"]} if "Iops" in given else {}
    wanted |= {"Throughput": given["ThroughputMibS"]} if "ThroughputMibS" in given else {}
    assert mapping["Ebs"] == wanted


@pytest.mark.parametrize("volume", VOLUMES)
def test_every_volume_is_encrypted_and_goes_with_the_instance(
    template: Template, volume: str
) -> None:
    data = resolved(template, volume).resources["LaunchTemplate"]["LaunchTemplateData"]
    for mapping in data["BlockDeviceMappings"]:
        assert mapping["Ebs"]["Encrypted"] is True
        assert mapping["Ebs"]["DeleteOnTermination"] is True


def test_its_metadata_takes_a_token_and_it_takes_no_ssh(template: Template) -> None:
    made = resolved(template, "gp3").resources
    options = made["LaunchTemplate"]["LaunchTemplateData"]["MetadataOptions"]
    assert options == {"HttpTokens": "required", "HttpPutResponseHopLimit": 1}
    assert not [path for path, _ in walk(made) if path.endswith("/KeyName")]
    assert made["Instance"]["SecurityGroupIds"] == ["sg-0a"]
    assert "AssociatePublicIpAddress" not in str(made)


def test_it_ends_itself_at_the_latest_when_its_run_must(template: Template) -> None:
    instance = resolved(template, "gp3").resources["Instance"]
    assert instance["InstanceInitiatedShutdownBehavior"] == "terminate"
    assert instance["DisableApiTermination"] is False
    assert "EXPIRES_AT='2026-12-01T10:00:00Z'" in instance["UserData"]


def test_it_is_ready_when_cassandra_says_so(template: Template) -> None:
    body = template.body["Resources"]
    assert body["Listens"]["DependsOn"] == ["Instance"]
    assert body["Listens"]["Properties"]["Handle"] == {"Ref": "Answer"}
    assert "ANSWER_TO='<Answer>'" in user_data(template)


def test_what_it_installs_is_pinned_by_digest(template: Template) -> None:
    from stacks.targets.cassandra_template import SHA512

    assert len(SHA512) == 128
    assert f"ARCHIVE_SHA512='{SHA512}'" in user_data(template)


def test_user_data_is_within_what_ec2_takes_and_parses(template: Template, tmp_path: Path) -> None:
    script = tmp_path / "user-data"
    script.write_text(user_data(template))
    assert script.read_text().startswith("#!/bin/bash\n")
    assert script.stat().st_size < 16 * 1024
    done = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_twelve_nodes_are_alike_but_for_their_places(template: Template) -> None:
    made = resolved(template, "io1", nodes=12)
    instances = {name: one for name, one in made.resources.items() if "UserData" in one}
    assert len(instances) == 12
    own = {"AvailabilityZone", "SubnetId", "Tags", "UserData"}
    alike = [{k: v for k, v in one.items() if k not in own} for one in instances.values()]
    assert alike == alike[:1] * 12
    assert len({one["UserData"] for one in instances.values()}) == 12
    for one in instances.values():
        assert len(one["UserData"]) < 16 * 1024
        assert {"Key": "plimsoll:run-id", "Value": "r2"} in one["Tags"]
    whole = add_nodes(json.dumps(template.body), 12, ZONES)
    assert len(whole) < MOST_BYTES_OF_A_TEMPLATE


def test_a_cluster_is_made_without_a_circle(template: Template) -> None:
    body = json.loads(add_nodes(json.dumps(template.body), 12, ZONES))
    needs = {
        name: {other for other in body["Resources"] if leads_to(one, other)}
        for name, one in body["Resources"].items()
    }
    made: list[str] = []
    while ready := [name for name in needs if name not in made and needs[name] <= {*made}]:
        made += ready
    assert len(made) == len(needs)
    nodes = [name for name in made if name.startswith("Listens")]
    assert nodes == ["Listens", *(f"Listens{number}" for number in range(2, 13))]


def leads_to(resource: Mapping[str, Any], other: str) -> bool:
    """Whether a resource waits for another: DependsOn, Ref or Fn::GetAtt."""
    found = [value for _, value in walk(resource)]
    refers = {"Ref": other} in found or ["Fn::GetAtt", other] in [
        ["Fn::GetAtt", value["Fn::GetAtt"][0]]
        for value in found
        if isinstance(value, dict) and "Fn::GetAtt" in value
    ]
    return refers or other in resource.get("DependsOn", [])


NITRO = """\
/dev/nvme0n1 disk Amazon Elastic Block Store
/dev/nvme1n1 disk Amazon Elastic Block Store
"""
I3 = """\
/dev/xvda    disk
/dev/xvdf    disk
/dev/nvme0n1 disk Amazon EC2 NVMe Instance Storage
/dev/nvme1n1 disk Amazon EC2 NVMe Instance Storage
"""


@pytest.mark.parametrize(
    ("disks", "root", "volume", "chosen"),
    [
        (NITRO, "/dev/nvme0n1", "gp3", ["/dev/nvme1n1"]),
        (NITRO, "/dev/nvme1n1", "io2", ["/dev/nvme0n1"]),
        (NITRO, "/dev/nvme0n1", "nvme", []),
        (I3, "/dev/xvda", "gp2", ["/dev/xvdf"]),
        (I3, "/dev/xvda", "nvme", ["/dev/nvme0n1", "/dev/nvme1n1"]),
    ],
)
def test_the_data_goes_on_the_volume_that_is_measured(
    disks: str, root: str, volume: str, chosen: list[str]
) -> None:
    from stacks.targets.cassandra_template import SCRIPT

    text = SCRIPT.read_text()
    function = text[text.index("disks() {") : text.index("\n}\n", text.index("disks() {")) + 3]
    stub = f"lsblk() {{ cat <<'DISKS'\n{disks}DISKS\n}}\nroot_disk={root}\n"
    done = subprocess.run(
        ["bash", "-c", f"{stub}{function}disks {volume}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == chosen
