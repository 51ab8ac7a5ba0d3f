"""A Cassandra target's user data, executed: what would change the machine is a stub.

Its folders stand in a root of the test's own, and nothing is on its PATH but the stubs and the
programs named here: a command that is neither fails, as it would on an instance without it.
"""

import hashlib
import io
import json
import re
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from stacks.targets.cassandra_template import SHA512
from tests.infrastructure.template import Template
from tests.infrastructure.test_cassandra_target import I3, NITRO, user_data

REAL = ("awk", "bash", "cat", "gzip", "head", "mkdir", "sed", "sha512sum", "tar")
SILENT = ("blockdev", "chown", "dnf", "mdadm", "mkfs.xfs", "mount", "sleep", "swapoff", "sysctl")
STUBS = {
    **dict.fromkeys((*SILENT, "systemctl", "useradd", "xfs_growfs"), ""),
    "blkid": "exit 2",  # nothing is on the volume
    "aws": 'cp "$ARCHIVE" "${@: -1}"',
    "curl": 'while [ "$1" != --data ]; do shift; done; echo "$2" >>"$ANSWERS"',
    "findmnt": "echo /dev/nvme0n1p1",
    # systemd's own lookup of a host's name may begin with a link-local address
    "hostname": '[ "$1" = --all-ip-addresses ] || printf "fe80::1%%ens5 "; echo "10.73.0.5 "',
    "lsblk": 'if [[ "$*" == *PKNAME* ]]; then echo "$ROOT_DISK"; else cat "$DISKS"; fi',
    # what makes the timer is real: it takes or refuses the time as systemd on the instance does
    "systemd-run": '"$SYSTEMD_ANALYZE" calendar "${2#--on-calendar=}" >"$CALENDAR"',
}
SETTINGS = """\
cluster_name: 'Test Cluster'
# data_file_directories:
#     - /var/lib/cassandra/data
listen_address: localhost
rpc_address: localhost
"""
LISTENS_THE_THIRD_TIME = """\
#!/bin/bash
echo >>"$ANSWERS.asked"
[ "$(wc -l <"$ANSWERS.asked")" -ge 3 ] || exit 1
echo running
"""


@dataclass(frozen=True)
class Installation:
    """What the script left behind."""

    root: Path
    status: int
    errors: str
    answers: tuple[dict[str, str], ...]  # to the stack's wait condition
    calls: tuple[str, ...]  # of stubs, with their arguments


class Instance:
    """A machine to install on, whose programs a test may replace before it does."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.programs = folder / "programs"
        self.folder = folder
        for made in (self.programs, *(self.root / name for name in ("tmp", "etc/systemd/system"))):
            made.mkdir(parents=True)
        (self.root / "sys/kernel/mm/transparent_hugepage").mkdir(parents=True)
        for name in (*REAL, "cp", "wc"):
            (self.programs / name).symlink_to(found(name))
        for name, body in STUBS.items():
            self.replace(name, body)

    def replace(self, name: str, body: str) -> None:
        stub = self.programs / name
        stub.write_text(f'#!/bin/bash\nset -e\necho "{name} $*" >>"$CALLS"\n{body}\n')
        stub.chmod(0o755)

    def install(
        self, script: str, *, disks: str = NITRO, root_disk: str = "nvme0n1"
    ) -> Installation:
        archive = self.folder / "archive.tar.gz"
        write_archive(archive)
        script = script.replace(SHA512, hashlib.sha512(archive.read_bytes()).hexdigest())
        script = re.sub(r"(?<=[\s=>(])/(?=(etc|opt|sys|tmp|var)/)", f"{self.root}/", script)
        (self.folder / "disks").write_text(disks)
        done = subprocess.run(
            [found("bash"), "-c", script],
            env={
                "PATH": str(self.programs),
                "ANSWERS": str(self.folder / "answers"),
                "ARCHIVE": str(archive),
                "CALENDAR": str(self.folder / "calendar"),
                "CALLS": str(self.folder / "calls"),
                "DISKS": str(self.folder / "disks"),
                "ROOT_DISK": root_disk,
                "SYSTEMD_ANALYZE": found("systemd-analyze"),
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return Installation(
            root=self.root,
            status=done.returncode,
            errors=done.stderr,
            answers=tuple(json.loads(line) for line in lines(self.folder / "answers")),
            calls=lines(self.folder / "calls"),
        )


def lines(file: Path) -> tuple[str, ...]:
    return tuple(file.read_text().splitlines()) if file.exists() else ()


def found(program: str) -> str:
    path = shutil.which(program)
    assert path, f"{program} is not on PATH; on Debian or Ubuntu `make systemd` brings systemd's"
    return path


def write_archive(file: Path) -> None:
    """Write what the script takes for Cassandra's archive: what it edits, and what it calls."""
    members = {"conf/cassandra.yaml": SETTINGS, "bin/nodetool": LISTENS_THE_THIRD_TIME}
    with tarfile.open(file, "w:gz") as archive:
        for name, text in members.items():
            member = tarfile.TarInfo(f"apache-cassandra/{name}")
            member.size, member.mode = len(text), 0o755
            archive.addfile(member, io.BytesIO(text.encode()))


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
    settings = (done.root / "opt/cassandra/conf/cassandra.yaml").read_text()
    assert "\nlisten_address: 127.0.0.1\nrpc_address: 10.73.0.5\n" in settings
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
        "Cassandra did not start within 300 s, or ended"
    ]
