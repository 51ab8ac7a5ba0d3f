"""The user that a run's load connects as: it may read and write rows of its own database alone.

RDS gives a target one user, its master, who may do everything. A run makes a second user with the
master's help, and the workload's statements come from that one. Its password is derived from the
master's and the run's id, so it is stored nowhere: whoever may read the target's secret can derive
it again.
"""

import base64
import hashlib
import hmac

from plimsoll.model.engine.asked import EngineTarget

LOAD_USER = "plimsoll_load"


def load_password(master_password: str, run_id: str) -> str:
    """Draw the load user's password (HMAC-SHA-256, RFC 2104); it does not tell the master's."""
    key, message = master_password.encode(), f"{LOAD_USER} {run_id}".encode()
    digest = hmac.new(key, message, hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=") + "-aA1"  # for password rules


def as_load_user(master: EngineTarget, run_id: str) -> EngineTarget:
    """Connect to a target as its load user."""
    password = load_password(master.password, run_id)
    return master.model_copy(update={"user": LOAD_USER, "password": password})
