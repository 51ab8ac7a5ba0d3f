"""Making the load user in a target, with the rights that a workload needs and no others."""

from contextlib import closing

from plimsoll.families.load_user import LOAD_USER, load_password
from plimsoll.families.mysql.session import connect, execute
from plimsoll.model.engine import EngineTarget

RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE")


def make_load_user(master: EngineTarget, run_id: str) -> str:
    """Make the user, or set its password and rights again.

    Returns:
        Its name.

    Raises:
        PlimsollError: The server refuses.
    """
    account = f"'{LOAD_USER}'@'%'"
    account_with_values = account.replace("%", "%%")  # beside values, PyMySQL reads %% as %
    password = [load_password(master.password, run_id)]
    # in GRANT, _ and % of a database's name stand for any character unless they are escaped
    name = master.database.replace("`", "``").replace("_", r"\_").replace("%", r"\%")
    with closing(connect(master)) as connection:
        for verb in ("CREATE USER IF NOT EXISTS", "ALTER USER"):
            execute(connection, f"{verb} {account_with_values} IDENTIFIED BY %s", password)
        execute(connection, f"GRANT {', '.join(RIGHTS)} ON `{name}`.* TO {account}")
    return LOAD_USER
