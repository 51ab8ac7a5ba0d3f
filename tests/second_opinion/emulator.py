"""ministack, an emulator of AWS that others wrote, as a process that ends with the check.

`environment/mended_ministack.py` says what it lacks, and mends it.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from plimsoll.local.account import REGION
from plimsoll.local.databases.certificates import Authority
from tests.second_opinion import environment_of_its_own as environment
from tests.second_opinion.rds_server import HOLD
from tests.support.tls_proxy import run_tls_proxy

ROOT = Path(__file__).parents[2]
ACCOUNT = "111122223333"
_READY_S = 120
_OF_THIS_PROCESS = {
    "PYTHONPATH",
    "PYTHONDONTWRITEBYTECODE",
    "HTTPS_PROXY",
    "https_proxy",
    "NO_PROXY",
}


@dataclass(frozen=True)
class Emulator:
    """A running emulator.

    Attributes:
        url: Where it answers as every service of AWS.
        secured: Whether it enforces policies.
        proxy: The variables with which a program reaches APIs at the hosts that AWS gives them.
        folder: The folder of its log and of its databases.
    """

    url: str
    secured: bool
    proxy: Mapping[str, str]
    folder: Path

    @property
    def variables(self) -> dict[str, str]:
        """The variables with which a program calls it, as the account's root, instead of AWS."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ENDPOINT_URL_S3": self.url,
            "AWS_ACCESS_KEY_ID": ACCOUNT,
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }

    def client(self, service: str) -> Any:
        """Make a client of one of its services."""
        session: Any = boto3.session.Session(
            aws_access_key_id=ACCOUNT, aws_secret_access_key="test", region_name=REGION
        )
        return session.client(service, endpoint_url=self.url, config=Config(proxies={}))

    def outputs(self, stack: str) -> dict[str, str]:
        """Read a stack's outputs."""
        described = self.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
        return {each["OutputKey"]: each["OutputValue"] for each in described["Outputs"]}

    def make_user(self, name: str, *actions: str) -> dict[str, str]:
        """Make an IAM user who may do some actions, and nothing else.

        Returns:
            The variables with which programs call it as this user.
        """
        iam = self.client("iam")
        iam.create_user(UserName=name)
        statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_user_policy(UserName=name, PolicyName=name, PolicyDocument=policy)
        key = iam.create_access_key(UserName=name)["AccessKey"]
        return {
            **self.variables,
            **self.proxy,
            "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
        }

    def hold_databases(self) -> None:
        """Let no RDS instance become ready until `release_databases`."""
        (self.folder / HOLD).touch()

    def release_databases(self) -> None:
        """Let RDS instances become ready again."""
        (self.folder / HOLD).unlink()


def run_program(
    *command: str, variables: Mapping[str, str], folder: Path = ROOT
) -> tuple[int, str]:
    """Run a program to its end, without an account of this machine's user.

    Returns:
        Its exit code, and what it printed.
    """
    done = subprocess.run(
        command,
        cwd=folder,
        env={**_without_aws(os.environ), **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@contextmanager
def run_emulator(folder: Path, *, secured: bool) -> Iterator[Emulator]:
    """Run an emulator, with its log in `folder/emulator.log`, and end it.

    Args:
        folder: The folder of its log, its temporary files, and the servers of its RDS instances.
        secured: Whether it enforces the policies of every caller but the account's root.
    """
    authority = Authority.new()
    certificate = authority.sign(folder / "tls", "127.0.0.1")
    (folder / "authority.pem").write_text(authority.pem)
    (folder / "temporary").mkdir()
    server = [sys.executable, "-m", "tests.second_opinion.rds_server", str(folder)]
    port = _find_free_port()
    variables = {
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "MINISTACK_ACCOUNT_ID": ACCOUNT,
        "MINISTACK_REGION": REGION,
        "AUTH": "true" if secured else "false",
        "TMPDIR": str(folder / "temporary"),
        "RDS_AUTHORITY": str(folder / "authority.pem"),
        "RDS_SERVER": json.dumps([*server, str(certificate.certificate), str(certificate.key)]),
    }
    program = environment.PINNED / "mended_ministack.py"
    log = folder / "emulator.log"
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [environment.emulator_python(), program],
            cwd=ROOT,
            env={**_without_aws(os.environ), **variables},
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_ready(process, url, log)
        hosts = f"*.execute-api.{REGION}.amazonaws.com"
        with run_tls_proxy(folder / "proxy", hosts, ("127.0.0.1", port)) as proxy:
            yield Emulator(url, secured, proxy, folder)
    finally:
        (folder / HOLD).unlink(missing_ok=True)  # it ends when nothing goes on in it
        process.terminate()
        process.wait()
        with suppress(ProcessLookupError):  # functions whose environment is still warm
            os.killpg(process.pid, signal.SIGKILL)
        # gigabytes: each environment unpacks its package
        shutil.rmtree(folder / "temporary", ignore_errors=True)


def _without_aws(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of this process but those that name an account or other packages."""
    return {
        name: value
        for name, value in variables.items()
        if not name.startswith(("AWS_", "PLIMSOLL_API_")) and name not in _OF_THIS_PROCESS
    }


def _find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


def _wait_until_ready(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    deadline = time.monotonic() + _READY_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_ministack/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"the emulator did not start:\n{log.read_text()[-3000:]}")
