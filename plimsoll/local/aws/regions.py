"""The regions that the twin's process knows: its own."""

import boto3

from plimsoll.local.account import REGION
from plimsoll.local.replacing import replace_members


def offer_one_region() -> None:
    """Offer every service in one region alone.

    moto asks for the regions of each service, three times already when it is imported, and boto3
    reads the service's whole model to tell: half a second of processor time in all.
    """

    def list_regions(_self: object, _service: str, partition_name: str = "aws") -> list[str]:
        return [REGION] if partition_name == "aws" else []

    replace_members(boto3.Session, get_available_regions=list_regions)
