"""First data directories of PostgreSQL: its own tables, one account, one database."""

import shutil
import subprocess
from pathlib import Path

from plimsoll.errors import PlimsollError
from plimsoll.local.databases.plain_user import as_plain_user

# Owns the server's own tables, as on RDS; it has no password, so that nobody logs in as it.
_OWNER = "rdsadmin"
_MOST_S = 180
# What RDS gives its master user, who is no superuser: the user guide's "Understanding the
# rds_superuser role" (Appendix.PostgreSQL.CommonDBATasks.Roles.rds_superuser, read 2026-11)
_RDS_RIGHTS = "pg_monitor, pg_signal_backend, pg_checkpoint"


def new_data_directory(
    postgres: Path, target: Path, *, account: tuple[str, str, str], as_on_rds: bool
) -> None:
    """Make a data directory with one account.

    Args:
        postgres: The server program.
        target: The directory, which is not there.
        account: User, password and database.
        as_on_rds: The user gets what RDS gives a master user; else he is a superuser.

    Raises:
        PlimsollError: The server could not make one.
    """
    part = target.with_suffix(".part")  # what is half made is never taken for a whole one
    shutil.rmtree(part, ignore_errors=True)
    _run(
        [
            postgres.with_name("initdb"),
            f"--pgdata={part}",
            f"--username={_OWNER}",
            "--locale=C",
            "--encoding=UTF8",
            "--auth=scram-sha-256",
            "--pwfile=/dev/stdin",  # demanded with that way to log in; taken away below
            "--no-instructions",
            "--no-sync",  # the server's own first checkpoint does that
        ],
        "none\n",
    )
    _run_single(postgres, part, _statements(account, as_on_rds=as_on_rds))
    part.rename(target)


def renew_password(postgres: Path, data: Path, user: str, password: str) -> None:
    """Give a user of a data directory, which no server runs on, another password.

    Raises:
        PlimsollError: The server could not.
    """
    _run_single(postgres, data, [f"ALTER ROLE {_name(user)} PASSWORD {_text(password)}"])


def _run_single(postgres: Path, data: Path, statements: list[str]) -> None:
    script = "".join(f"{statement};\n\n" for statement in statements)  # each ends so (-j)
    _run([postgres, "--single", "-j", "-D", data, "-c", "exit_on_error=on", "template1"], script)


def _statements(account: tuple[str, str, str], *, as_on_rds: bool) -> list[str]:
    """Make the account and its database; what is made in template1 is in that database too."""
    user, password, database = _name(account[0]), _text(account[1]), _name(account[2])
    rights = "CREATEDB CREATEROLE" if as_on_rds else "SUPERUSER"
    rds = [
        "CREATE ROLE rds_superuser",
        f"GRANT {_RDS_RIGHTS} TO rds_superuser WITH ADMIN OPTION",
        "GRANT EXECUTE ON FUNCTION pg_stat_statements_reset TO rds_superuser",
        f"GRANT rds_superuser TO {user}",
    ]
    return [
        f"ALTER ROLE {_OWNER} PASSWORD NULL",
        f"CREATE ROLE {user} {rights} LOGIN PASSWORD {password}",
        "CREATE EXTENSION pg_stat_statements",
        *(rds if as_on_rds else ()),
        f"CREATE DATABASE {database} OWNER {user}",
    ]


def _run(command: list[str | Path], script: str) -> None:
    try:
        done = subprocess.run(
            as_plain_user(command),
            input=script,
            capture_output=True,
            text=True,
            check=False,
            timeout=_MOST_S,
        )
    except subprocess.TimeoutExpired:
        raise PlimsollError(f"{command[0]} had made no data directory after {_MOST_S} s") from None
    if done.returncode != 0:
        lines = done.stderr.splitlines()
        errors = [line for line in lines if "rror:" in line or "FATAL:" in line or "ERROR:" in line]
        reason = (errors or lines or ["it said nothing"])[0]
        raise PlimsollError(f"{command[0]} could not make a data directory: {reason}")


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
