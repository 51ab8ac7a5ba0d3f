"""First data directories: made once per server version, then copied."""

import hashlib
import shutil
import subprocess
from pathlib import Path

from plimsoll.cache import cache_directory, cache_lock
from plimsoll.errors import PlimsollError
from plimsoll.local.databases.mariadb_program import share_directory, version

_SCRIPTS = (
    "mariadb_system_tables.sql",
    "mariadb_performance_tables.sql",
    "mariadb_system_tables_data.sql",
)
# The root accounts without a password that the scripts make have no place in a listening server.
_CLOSE = "DELETE FROM mysql.global_priv WHERE User = 'root';\nDELETE FROM mysql.proxies_priv;\n"


def new_data_directory(mariadbd: Path, target: Path) -> None:
    """Make a data directory with the server's own tables and no account.

    Raises:
        PlimsollError: The server could not make one.
    """
    shutil.copytree(_template(mariadbd), target)
    target.chmod(0o700)


def _template(mariadbd: Path) -> Path:
    recipe = f"{mariadbd} {version(mariadbd)} {_CLOSE}"
    name = "mariadb-data-" + hashlib.sha256(recipe.encode()).hexdigest()[:12]
    ready = cache_directory() / name
    with cache_lock(name):
        if not ready.is_dir():
            part = ready.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(mode=0o700)
            _bootstrap(mariadbd, part)
            part.rename(ready)
    return ready


def _bootstrap(mariadbd: Path, data: Path) -> None:
    share = share_directory(mariadbd)
    script = "create database mysql;\nuse mysql;\nset @auth_root_socket = null;\n"
    script += "".join((share / name).read_text() for name in _SCRIPTS) + _CLOSE
    result = subprocess.run(
        [
            mariadbd,
            "--no-defaults",
            "--bootstrap",
            f"--datadir={data}",
            f"--tmpdir={data}",  # not where other servers have temporary tables: it removes them
            f"--lc-messages-dir={share}",
            f"--character-sets-dir={share / 'charsets'}",
            "--enforce-storage-engine=",
            "--innodb-log-file-size=4M",
            "--innodb-use-native-aio=0",
            "--max-allowed-packet=8M",
            "--log-warnings=0",
            "--user=root",  # ignored by an ordinary user's server, demanded by root's
        ],
        input=script,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        errors = [line for line in result.stderr.splitlines() if "ERROR" in line]
        raise PlimsollError(f"{mariadbd} could not make a data directory: {(errors or ['?'])[0]}")
