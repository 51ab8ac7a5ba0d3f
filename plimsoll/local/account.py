"""The account, region and credentials of the local stand-in for AWS."""

import secrets
from dataclasses import asdict, dataclass
from typing import Any, Self

ACCOUNT = "123456789012"
REGION = "us-east-1"
# in the twin's folder: the authority that signs its servers' certificates
RDS_CA_FILE = "rds-ca.pem"


@dataclass(frozen=True)
class Keys:
    """The credentials of a twin's callers; this machine's own AWS credentials are never read."""

    aws_access_key_id: str
    aws_secret_access_key: str

    @classmethod
    def random(cls) -> Self:
        """Create a random pair: a 64-bit access key id, a 256-bit secret."""
        return cls(f"TWIN{secrets.token_hex(8).upper()}", secrets.token_urlsafe(32))

    @property
    def session(self) -> dict[str, Any]:
        """Return the arguments for boto3's session."""
        return {**asdict(self), "region_name": REGION}

    @property
    def environment(self) -> dict[str, str]:
        """Return the credentials as environment variables."""
        variables = {name.upper(): value for name, value in asdict(self).items()}
        return {**variables, "AWS_DEFAULT_REGION": REGION, "AWS_REGION": REGION}
