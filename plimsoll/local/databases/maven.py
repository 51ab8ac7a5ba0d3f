"""Fetches files with the Maven client, over an unreliable network."""

import shutil
import subprocess
from pathlib import Path

from plimsoll.errors import MissingToolError, PlimsollError

# Maven ends if one file of a thousand is cut off; a second run continues with what it has.
TRIES = 3
# Retry a busy server, and give up on a silent one after two minutes rather than half an hour. The
# last setting is Maven 3.9's name for the second; it retries busy servers by itself.
_PATIENCE = (
    "-Dmaven.wagon.http.serviceUnavailableRetryStrategy.class=standard",
    "-Dmaven.wagon.rto=120000",
    "-Daether.connector.requestTimeout=120000",
)


def run_maven(artifact: str, goal: str, *settings: str, folder: Path, how_to_get: str) -> None:
    """Run a goal of Maven that fetches an artifact; retry it a few times if it fails.

    Args:
        artifact: The artifact, for error messages.
        goal: The goal, with its plugin and version.
        settings: The goal's settings.
        folder: The working directory, with a `pom.xml` if the goal needs one.
        how_to_get: What to do if there is no Maven.

    Raises:
        MissingToolError: Maven is not installed.
        PlimsollError: It failed each time; the message has Maven's own reason.
    """
    maven = shutil.which("mvn")
    if maven is None:
        raise MissingToolError(f"Maven, which fetches {artifact}, is missing: {how_to_get}")
    for _ in range(TRIES):
        done = subprocess.run(
            [maven, "-q", "-B", *_PATIENCE, goal, *settings],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return
    reasons = [line for line in done.stdout.splitlines() if line.startswith("[ERROR]")]
    raise PlimsollError(f"Maven could not fetch {artifact}: {(reasons or ['no reason'])[0]}")
