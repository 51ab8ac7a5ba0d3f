"""A Cassandra target's user data, executed: its steps, its answer, what it says of a failure."""

from pathlib import Path

import pytest

from tests.infrastructure.installing import Instance, lines
from tests.infrastructure.template import Template
from tests.infrastructure.test_cassandra_target import I3, user_data


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    return Instance(tmp_path)


@pytest.fixture
def script(target_templates: dict[str, Template]) -> str:
    return user_data(target_templates["cassandra"])


def test_it_comes_to_an_answer_of_success(instance: Instance, script: str) -> None:
    done = instance.install(script)
    assert (done.status, done.errors) == (0, "")
    assert done.answers == (
        {
            "Status": "SUCCESS",
            "Reason": "Cassandra listens",
            "UniqueId": "cassandra",
            "Data": "",
        },
    )
    assert f"mount -o noatime /dev/nvme1n1 {done.root}/var/lib/cassandra" in done.calls
    assert done.settings["data_file_directories"] == [f"{done.root}/var/lib/cassandra/data"]
    unit = (done.root / "etc/systemd/system/cassandra.service").read_text()
    assert f"\nExecStart={done.root}/opt/cassandra/bin/cassandra -f\n" in unit
    huge_pages = done.root / "sys/kernel/mm/transparent_hugepage/defrag"
    assert huge_pages.read_text() == "defer+madvise\n"
    assert done.calls.count("sleep 2") == 2  # it asked until Cassandra listened
    assert " -X PUT -H Content-Type: " in done.calls[-1]
    assert done.calls[-1].endswith(" <Answer>")


def test_a_volume_made_from_a_snapshot_keeps_its_data_and_takes_its_whole_size(
    instance: Instance, script: str
) -> None:
    instance.replace("blkid", "echo 'TYPE=xfs'")
    done = instance.install(script)
    assert (done.status, done.errors) == (0, "")
    assert not any(call.startswith("mkfs.xfs") for call in done.calls)
    assert f"xfs_growfs {done.root}/var/lib/cassandra" in done.calls


def test_before_anything_else_it_arms_its_own_end(instance: Instance, script: str) -> None:
    done = instance.install(script)
    assert done.calls[0].startswith("systemd-run --quiet --on-calendar=")
    assert done.calls[0].endswith(" systemctl poweroff")
    (moment,) = (line for line in lines(instance.folder / "calendar") if "Normalized" in line)
    assert moment.split(": ")[1] == "2026-12-01 10:00:00 UTC"


def test_an_instance_store_of_two_disks_becomes_one_volume(
    instance: Instance, target_templates: dict[str, Template]
) -> None:
    script = user_data(target_templates["cassandra"], "nvme")
    done = instance.install(script, disks=I3, root_disk="xvda")
    assert [answer["Status"] for answer in done.answers] == ["SUCCESS"]
    made = "mdadm --create /dev/md0 --run --level 0 --raid-devices 2 /dev/nvme0n1 /dev/nvme1n1"
    assert made in done.calls
    assert "mkfs.xfs -q -f /dev/md0" in done.calls


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("systemd-run", "systemd-run --quiet"),
        ("dnf", "dnf install"),
        ("mkfs.xfs", 'blkid "$device"'),  # on the line that asks whether it is needed
        ("aws", "aws s3 cp"),
        ("useradd", "useradd --system"),
    ],
)
def test_a_command_that_fails_is_answered_with_its_line(
    instance: Instance, script: str, program: str, line: str
) -> None:
    instance.replace(program, "exit 3")
    done = instance.install(script)
    assert done.status == 3
    (number,) = (n for n, text in enumerate(script.splitlines(), 1) if text.startswith(line))
    assert [(answer["Status"], answer["Reason"]) for answer in done.answers] == [
        ("FAILURE", f"line {number} of the user data failed")
    ]


def test_another_archive_than_the_pinned_one_is_not_installed(
    instance: Instance, script: str
) -> None:
    instance.replace("aws", 'echo "something else" >"${@: -1}"')
    done = instance.install(script)
    assert [answer["Status"] for answer in done.answers] == ["FAILURE"]
    assert not (done.root / "opt/cassandra").exists()


def test_a_volume_that_never_comes_is_told(instance: Instance, script: str) -> None:
    done = instance.install(script, disks="/dev/nvme0n1 disk Amazon Elastic Block Store\n")
    assert done.status == 1
    assert [answer["Reason"] for answer in done.answers] == ["the instance has no gp3 volume"]


def test_a_cassandra_that_ends_is_told(instance: Instance, script: str) -> None:
    instance.replace("systemctl", 'if [ "$1" = is-active ]; then exit 3; fi')
    done = instance.install(script)
    assert done.status == 1
    assert [answer["Reason"] for answer in done.answers] == [
        "Cassandra ended while it started: 0 of 1 nodes are up"
    ]
