"""Initial data directories of PostgreSQL: its own tables, one account, one database."""

import shutil
import subprocess
from pathlib import Path

from plimsoll.errors import PlimsollError
from plimsoll.local.databases.plain_user import wrap_for_plain_user
from plimsoll.local.databases.postgres_program import version

# Owner of the server's own tables, as on RDS; without a password, so nobody can log in as it.
_OWNER = "rdsadmin"
_MOST_S = 180
_NO_INSTRUCTIONS_FROM = 14
# The rights of RDS's master user, who is no superuser: the user guide's "Understanding the
# rds_superuser role" (Appendix.PostgreSQL.CommonDBATasks.Roles.rds_superuser, read 2026-11)
_RDS_RIGHTS = "pg_monitor, pg_signal_backend"
_CHECKPOINT_ROLE_FROM = 15  # before, only a superuser requests a checkpoint


def create_data_directory(
    postgres: Path, target: Path, *, account: tuple[str, str, str], as_on_rds: bool
) -> None:
    """Create a data directory with one account.

    Args:
        postgres: The server program.
        target: The directory, which must not exist.
        account: User, password and database.
        as_on_rds: Whether the user has the rights of an RDS master user; otherwise he is a
            superuser.

    Raises:
        PlimsollError: The server could not create one.
    """
    major = int(version(postgres).partition(".")[0])
    part = target.with_suffix(".part")  # so that an incomplete directory is never used
    shutil.rmtree(part, ignore_errors=True)
    _run(
        [
            postgres.with_name("initdb"),
            f"--pgdata={part}",
            f"--username={_OWNER}",
            "--locale=C",
            "--encoding=UTF8",
            "--auth=scram-sha-256",
            "--pwfile=/dev/stdin",  # initdb requires one for this login method; it is removed below
            *(["--no-instructions"] if major >= _NO_INSTRUCTIONS_FROM else []),
            "--no-sync",  # the server's first checkpoint does that
        ],
        "none\n",
    )
    _run_single(postgres, part, _list_first_statements(account, major, as_on_rds=as_on_rds))
    part.rename(target)


def renew_password(postgres: Path, data: Path, user: str, password: str) -> None:
    """Change a user's password in a data directory on which no server runs.

    Raises:
        PlimsollError: The server could not.
    """
    _run_single(
        postgres, data, [f"ALTER ROLE {_quote_name(user)} PASSWORD {_quote_text(password)}"]
    )


def _run_single(postgres: Path, data: Path, statements: list[str]) -> None:
    # with -j each statement ends with an empty line
    script = "".join(f"{statement};\n\n" for statement in statements)
    _run([postgres, "--single", "-j", "-D", data, "-c", "exit_on_error=on", "template1"], script)


def _list_first_statements(
    account: tuple[str, str, str], major: int, *, as_on_rds: bool
) -> list[str]:
    """Return the statements for the account and its database; template1 is copied into it."""
    user, password, database = (
        _quote_name(account[0]),
        _quote_text(account[1]),
        _quote_name(account[2]),
    )
    of_rds = _RDS_RIGHTS + (", pg_checkpoint" if major >= _CHECKPOINT_ROLE_FROM else "")
    rights = "CREATEDB CREATEROLE" if as_on_rds else "SUPERUSER"
    rds = [
        "CREATE ROLE rds_superuser",
        f"GRANT {of_rds} TO rds_superuser WITH ADMIN OPTION",
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
            wrap_for_plain_user(command),
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


def _quote_name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
