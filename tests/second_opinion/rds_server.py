"""The server of an RDS instance on the emulator: a real MariaDB, for as long as its input is open.

Its first line of output says where it is and what its master user is, in JSON.
"""

import json
import secrets
import sys
import tempfile
import time
from pathlib import Path

from plimsoll.local.databases.certificates import CertificateFiles
from plimsoll.local.databases.mariadb_server import MariaDbServer

MASTER = "plimsoll"
HOLD = "hold"  # file of the folder: while it is there, no instance becomes ready
_LOOK_S = 0.2


def main(folder: Path, certificate: CertificateFiles, database: str) -> None:
    """Start a server with a database and a password of its own; end it with the input."""
    while (folder / HOLD).exists():
        time.sleep(_LOOK_S)
    password = secrets.token_urlsafe(24)
    server = MariaDbServer.start(
        directory=Path(tempfile.mkdtemp(dir=folder)) / "server",
        settings=certificate.settings,
        user=MASTER,
        password=password,
        database=database,
    )
    try:
        account = {"username": MASTER, "password": password}
        print(json.dumps({"host": server.host, "port": server.port, **account}), flush=True)
        sys.stdin.read()
    finally:
        server.remove()


if __name__ == "__main__":
    place, certificate_file, key_file, name = sys.argv[1:]
    main(Path(place), CertificateFiles(Path(certificate_file), Path(key_file)), name)
