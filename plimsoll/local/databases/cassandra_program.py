"""The Cassandra server program: its jars, pinned one by one, and the Java that runs them."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from plimsoll.cache import lock_cache, open_cache_directory
from plimsoll.errors import MissingToolError, PlimsollError
from plimsoll.local.databases.maven import hash_file, run_maven
from plimsoll.model.request.cassandra_target import VERSION

ARTIFACT = f"org.apache.cassandra:cassandra-all:{VERSION}"
JAVA_RELEASE = 17  # Cassandra 5.0 runs on 11 and 17
JAVA_FOLDER = Path("/usr/lib/jvm")  # on Debian and its children
HOW_TO_GET_JAVA = "apt-get install openjdk-17-jre-headless"
HOW_TO_GET = "apt-get install maven, and the first run fetches it"
_MAVEN_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
_POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>plimsoll</groupId>
  <artifactId>cassandra</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{version}</version>
    </dependency>
  </dependencies>
</project>
"""


def find_java() -> Path:
    """Find the Java for Cassandra: from `JAVA_HOME`, on PATH, or in Debian's folder.

    Raises:
        MissingToolError: There is none of release 17; says how to get it.
    """
    seen = []
    for java in _list_javas():
        release = _read_release(java)
        if release == JAVA_RELEASE:
            return java
        if release is not None:
            seen.append(f"{java} is release {release}")
    other = f" ({'; '.join(seen)})" if seen else ""
    raise MissingToolError(
        f"Cassandra needs Java {JAVA_RELEASE}, which is not on this machine{other}; get it:"
        f" {HOW_TO_GET_JAVA}"
    )


def _list_javas() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin/java"
    if on_path := shutil.which("java"):
        yield Path(on_path)
    yield from sorted(JAVA_FOLDER.glob(f"*-{JAVA_RELEASE}-*/bin/java"))


def _read_release(java: Path) -> int | None:
    """Return a Java's release; None if it cannot run."""
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    version = re.search(r'version "(\d+)', answer.stderr)
    return int(version[1]) if version else None


def find_cassandra() -> Path:
    """Find the folder with Cassandra's jars.

    Raises:
        MissingToolError: They have not been fetched; says how to get them.
    """
    if not _locate_fetched_folder().is_dir():
        raise MissingToolError(f"Cassandra {VERSION} has not been fetched; get it: {HOW_TO_GET}")
    return _locate_fetched_folder()


def fetch_cassandra() -> Path:
    """Fetch Cassandra's jars with the Maven client into the cache, and check each.

    Returns:
        Their folder. Nothing is fetched if it is there already.

    Raises:
        MissingToolError: Maven is not there.
        PlimsollError: They could not be fetched, or are not what was pinned.
    """
    with lock_cache("cassandra"):
        if not _locate_fetched_folder().is_dir():
            part = _locate_fetched_folder().with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            _download(part)
            check_jars(part)
            (part / "pom.xml").unlink()
            part.rename(_locate_fetched_folder())
    return _locate_fetched_folder()


def read_pinned_jars() -> dict[str, str]:
    """Return the SHA-256 of every jar, by name."""
    text = (files("plimsoll.local.databases") / "cassandra.sha256").read_text()
    pairs = (line.split() for line in text.splitlines())
    return {name: digest for digest, name in pairs}


def check_jars(folder: Path) -> None:
    """Compare a folder's jars with what is pinned.

    Raises:
        PlimsollError: A jar is missing, is not pinned, or differs from the pinned one.
    """
    pinned = read_pinned_jars()
    jars = {jar.name: jar for jar in folder.glob("*.jar")}
    if strange := sorted(jars.keys() ^ pinned.keys()):
        what = "is missing" if strange[0] in pinned else "is not pinned"
        raise PlimsollError(f"{ARTIFACT}: {strange[0]} {what}")
    for name, jar in jars.items():
        digest = hash_file(jar)
        if digest != pinned[name]:
            raise PlimsollError(f"{ARTIFACT}: {name} has sha256 {digest}, not {pinned[name]}")


def _locate_fetched_folder() -> Path:
    return open_cache_directory() / f"cassandra-{VERSION}"


def _download(folder: Path) -> None:
    folder.mkdir(parents=True)
    group, artifact, version = ARTIFACT.split(":")
    pom = _POM.format(group=group, artifact=artifact, version=version)
    (folder / "pom.xml").write_text(pom)
    settings = ("-DincludeScope=runtime", f"-DoutputDirectory={folder}")
    run_maven(ARTIFACT, _MAVEN_GOAL, *settings, folder=folder, how_to_get=HOW_TO_GET)


if __name__ == "__main__":
    import sys

    try:
        fetch_cassandra()
    except PlimsollError as failure:
        sys.exit(f"plimsoll: {failure}")
