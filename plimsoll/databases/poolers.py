"""Connection poolers and proxies before a server: PgBouncer, ProxySQL, MaxScale, RDS Proxy.

A server tells each client the number of its session at the login (PostgreSQL: the process in
BackendKeyData; MySQL: the thread in the greeting), and again when it is asked. A pooler logs in
for itself, so the two numbers differ through one. In transaction mode it gives each transaction a
session that others used before and use afterwards: what is SET there stays on their connections.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Pooler:
    """A pooler or proxy that answers at a server's address.

    Attributes:
        name: The product; None if it does not say.
        differs: Settings that a load relies on and that its sessions do not have, each with the
            value in force.
    """

    name: str | None = None
    differs: Mapping[str, str] = field(default_factory=dict)
