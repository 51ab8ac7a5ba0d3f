"""An instance that a Cassandra target's user data is executed on: what would change it is a stub.

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
from typing import Any

import yaml

from tests.infrastructure.test_cassandra_target import NITRO

REAL = ("awk", "bash", "cat", "gzip", "head", "mkdir", "rm", "sed", "sha512sum", "tar")
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
num_tokens: 16
allocate_tokens_for_local_replication_factor: 3
# initial_token:
# data_file_directories:
#     - /var/lib/cassandra/data
seed_provider:
  # Addresses of hosts that are deemed contact points.
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      # seeds is actually a comma-delimited list of addresses.
      # Ex: "<ip1>,<ip2>,<ip3>"
      - seeds: "127.0.0.1:7000"
storage_port: 7000
listen_address: localhost
# broadcast_address: 1.2.3.4
rpc_address: localhost
endpoint_snitch: SimpleSnitch
"""  # of Cassandra's own conf/cassandra.yaml, what is edited, as it stands there
# It answers from the third look on, and then sees one node more up in each look.
NODETOOL = """\
#!/bin/bash
[ "$1" = status ] && echo >>"$ANSWERS.asked"
looks="$(wc -l <"$ANSWERS.asked")"
[ "$looks" -ge 3 ] || exit 1
if [ "$1" = statusbinary ]; then echo running; exit; fi
echo "Datacenter: datacenter1"
echo "Status=Up/Down"
for ((n = 3; n <= looks; n++)); do echo "UN  10.73.0.$n  104.3 KiB  1  33.3%  id  eu-west-1a"; done
echo "UJ  10.73.0.99  104.3 KiB  1  ?  id  eu-west-1a"
"""


@dataclass(frozen=True)
class Installation:
    """What the script left behind."""

    root: Path
    status: int
    errors: str
    answers: tuple[dict[str, str], ...]  # to the stack's wait condition
    calls: tuple[str, ...]  # of stubs, with their arguments

    @property
    def settings(self) -> dict[str, Any]:
        """Cassandra's configuration file."""
        text = (self.root / "opt/cassandra/conf/cassandra.yaml").read_text()
        read: dict[str, Any] = yaml.safe_load(text)
        return read


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
        from stacks.targets.cassandra_template import SHA512

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
    members = {"conf/cassandra.yaml": SETTINGS, "bin/nodetool": NODETOOL}
    members["conf/cassandra-topology.properties"] = "default=DC1:r1\n"
    with tarfile.open(file, "w:gz") as archive:
        for name, text in members.items():
            member = tarfile.TarInfo(f"apache-cassandra/{name}")
            member.size, member.mode = len(text), 0o755
            archive.addfile(member, io.BytesIO(text.encode()))
