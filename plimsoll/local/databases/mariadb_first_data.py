"""Initial data directories of MariaDB: created once for each version, then copied."""

import hashlib
import shutil
import subprocess
from pathlib import Path

from plimsoll.cache import lock_cache, open_cache_directory
from plimsoll.errors import PlimsollError
from plimsoll.local.databases.mariadb_program import (
    find_scripts,
    find_share_directory,
    read_version,
)

# The scripts create accounts without a password, which a listening server must not have.
_CLOSE = (
    "DELETE FROM mysql.global_priv WHERE User IN ('root', '');\nDELETE FROM mysql.proxies_priv;\n"
)


def create_data_directory(mariadbd: Path, target: Path) -> None:
    """Create a data directory with the server's own tables and no account.

    Raises:
        PlimsollError: The server could not create one.
    """
    shutil.copytree(find_first_data(mariadbd), target)
    target.chmod(0o700)


def find_first_data(mariadbd: Path) -> Path:
    """Find the data directory to copy from, which the server makes once.

    Raises:
        PlimsollError: The server could not make one.
    """
    recipe = f"{mariadbd} {read_version(mariadbd)} {_CLOSE}"
    name = "mariadb-data-" + hashlib.sha256(recipe.encode()).hexdigest()[:12]
    ready = open_cache_directory() / name
    with lock_cache(name):
        if not ready.is_dir():
            part = ready.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(mode=0o700)
            _bootstrap(mariadbd, part)
            part.rename(ready)
    return ready


def _bootstrap(mariadbd: Path, data: Path) -> None:
    share = find_share_directory(mariadbd)
    script = "create database mysql;\nuse mysql;\nset @auth_root_socket = null;\n"
    script += "".join(script.read_text() for script in find_scripts(mariadbd)) + _CLOSE
    result = subprocess.run(
        [
            mariadbd,
            "--no-defaults",
            "--bootstrap",
            f"--datadir={data}",
            # in a shared folder it would remove other servers' temporary tables
            f"--tmpdir={data}",
            f"--lc-messages-dir={share}",
            f"--character-sets-dir={share / 'charsets'}",
            "--enforce-storage-engine=",
            "--innodb-log-file-size=4M",
            "--innodb-use-native-aio=0",
            "--max-allowed-packet=8M",
            "--log-warnings=0",
            "--user=root",  # an ordinary user's server ignores it, root's requires it
        ],
        input=script,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        errors = [line for line in result.stderr.splitlines() if "ERROR" in line]
        raise PlimsollError(f"{mariadbd} could not make a data directory: {(errors or ['?'])[0]}")
