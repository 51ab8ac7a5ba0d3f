"""The account and the region that the local stand-in for AWS plays."""

from typing import Any

ACCOUNT = "123456789012"
REGION = "us-east-1"
RDS_CA_FILE = "rds-ca.pem"  # in the twin's folder: who signs its servers' certificates

# What a client signs with. Credentials of this machine's user are never read.
NO_ACCOUNT: dict[str, Any] = {
    "aws_access_key_id": "twin",
    "aws_secret_access_key": "twin",
    "region_name": REGION,
}
