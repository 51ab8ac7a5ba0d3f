"""The user as which a run's load connects; it may only read and write rows of its database.

RDS gives a target one user, its master, who may do everything. With it a run creates a second user
for the workload's statements. That user's password is derived from the master's and the run's id,
so it is stored nowhere: whoever may read the target's secret can derive it again.
"""

import base64
import hashlib
import hmac

from plimsoll.model.engine.asked import EngineTarget

LOAD_USER = "plimsoll_load"


def derive_load_password(master_password: str, run_id: str) -> str:
    """Derive the load user's password (HMAC-SHA-256, RFC 2104); it does not reveal the master's."""
    key, message = master_password.encode(), f"{LOAD_USER} {run_id}".encode()
    digest = hmac.new(key, message, hashlib.sha256).digest()
    # the suffix satisfies password rules
    return base64.urlsafe_b64encode(digest).decode().rstrip("=") + "-aA1"


def switch_to_load_user(master: EngineTarget, run_id: str) -> EngineTarget:
    """Return the connection settings with the load user in place of the master."""
    password = derive_load_password(master.password, run_id)
    return master.model_copy(update={"user": LOAD_USER, "password": password})
