"""Fetching with the Maven client, over a network that may stumble."""

import shutil
import subprocess
from pathlib import Path

from plimsoll.errors import MissingToolError, PlimsollError

# Maven ends when one file of a thousand is cut off; a second run goes on from what it has.
TRIES = 3
# Ask a busy server again, and give up a silent one after two minutes rather than half an hour. The
# last setting is Maven 3.9's name for the second; it asks busy servers again by itself.
_PATIENCE = (
    "-Dmaven.wagon.http.serviceUnavailableRetryStrategy.class=standard",
    "-Dmaven.wagon.rto=120000",
    "-Daether.connector.requestTimeout=120000",
)


def run_maven(artifact: str, goal: str, *settings: str, folder: Path, how_to_get: str) -> None:
    """Run a goal of Maven that fetches an artifact; try again a few times where it fails.

    Args:
        artifact: What it fetches, for the words of an error.
        goal: With its plugin and version.
        settings: Of the goal.
        folder: Where it runs, and where it finds a `pom.xml` if the goal needs one.
        how_to_get: What to do where there is no Maven.

    Raises:
        MissingToolError: Maven is not there.
        PlimsollError: It failed each time; gives Maven's own reason.
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
