"""Fetches files with the Maven client, over an unreliable network."""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from plimsoll.errors import MissingToolError, PlimsollError

_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
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


def fetch_jar(artifact: str, sha256: str, *, folder: Path, how_to_get: str) -> Path:
    """Fetch one jar into a folder, which is created, and check it.

    Raises:
        MissingToolError: Maven is not installed.
        PlimsollError: It could not be fetched, or is not what was pinned.
    """
    folder.mkdir(parents=True)
    settings = (f"-Dartifact={artifact}", f"-DoutputDirectory={folder}")
    run_maven(artifact, _COPY, *settings, folder=folder, how_to_get=how_to_get)
    jars = list(folder.glob("*.jar"))
    if len(jars) != 1:
        raise PlimsollError(f"Maven could not fetch {artifact}: it left {len(jars)} jars, not one")
    digest = hash_file(jars[0])
    if digest != sha256:
        raise PlimsollError(f"{artifact} has sha256 {digest}, not the pinned {sha256}")
    return jars[0]


def hash_file(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal digits."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def fetch_or_exit(fetch: Callable[[], object], find: Callable[[], object]) -> None:
    """Fetch a server for `make setup`; without Maven, the machine's own will do.

    Raises:
        SystemExit: It could not be fetched, or there is neither Maven nor a server.
    """
    try:
        fetch()
    except MissingToolError as missing:
        try:
            find()
        except PlimsollError:
            sys.exit(f"plimsoll: {missing}")
    except PlimsollError as failure:
        sys.exit(f"plimsoll: {failure}")
