"""The account and the region that the local stand-in for AWS plays, and who may call it."""

import secrets
from dataclasses import asdict, dataclass
from typing import Any, Self

ACCOUNT = "123456789012"
REGION = "us-east-1"
RDS_CA_FILE = "rds-ca.pem"  # in the twin's folder: who signs its servers' certificates


@dataclass(frozen=True)
class Keys:
    """What calls of one twin are signed with; credentials of this machine's user are never read."""

    aws_access_key_id: str
    aws_secret_access_key: str

    @classmethod
    def random(cls) -> Self:
        """Make a pair that nobody else knows: 64 bits for a name, 256 bits for a secret."""
        return cls(f"TWIN{secrets.token_hex(8).upper()}", secrets.token_urlsafe(32))

    @property
    def session(self) -> dict[str, Any]:
        """What boto3's session is made with."""
        return {**asdict(self), "region_name": REGION}

    @property
    def environment(self) -> dict[str, str]:
        """The same as variables."""
        variables = {name.upper(): value for name, value in asdict(self).items()}
        return {**variables, "AWS_DEFAULT_REGION": REGION, "AWS_REGION": REGION}
