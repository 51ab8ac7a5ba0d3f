"""Fetching with the Maven client, over a network that may stumble."""

import shutil
import subprocess
from pathlib import Path

from plimsoll.errors import MissingToolError, PlimsollError

# One file of a thousand that is cut off ends Maven; it keeps what has come, and goes on from there.
TRIES = 3
# A server that is busy is asked again; one that falls silent is given up within minutes, and not
# after half an hour. Maven 3.9 has another name for that, and asks busy servers by itself.
_PATIENCE = (
    "-Dmaven.wagon.http.serviceUnavailableRetryStrategy.class=standard",
    "-Dmaven.wagon.rto=120000",
    "-Daether.connector.requestTimeout=120000",
)


def run_maven(artifact: str, goal: str, *settings: str, folder: Path, how_to_get: str) -> None:
    """Run a goal of Maven that fetches an artifact; where it fails, a few times.

    Args:
        artifact: What it fetches, for the words of an error.
        goal: Of which plugin.
        settings: Of the goal.
        folder: Where it runs, and where it finds a `pom.xml` if the goal needs one.
        how_to_get: What to do where there is no Maven.

    Raises:
        MissingToolError: Maven is not there.
        PlimsollError: It failed each time; its own reason is told.
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
