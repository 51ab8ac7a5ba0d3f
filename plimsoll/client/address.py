"""The address of the service: given by the user, or the output of a deployed stack."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from plimsoll.complaints import Complaint
from plimsoll.errors import NotDeployedError, UsageError

URL_VARIABLE = "PLIMSOLL_API_URL"
DEFAULT_STACK = "Plimsoll"
OUTPUT = "ApiUrl"
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_EXECUTE_API = re.compile(r"\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?$")


@dataclass(frozen=True)
class Address:
    """The address of the service.

    Attributes:
        url: The URL without a trailing slash.
        region: The AWS region to sign for; None for that of the caller's profile.
        signed: Whether calls are signed. On this machine a token is sent instead.
    """

    url: str
    region: str | None
    signed: bool


def read_address(url: str, *, source: str) -> Address:
    """Check and split an address.

    Args:
        url: The URL of the API, with its stage.
        source: The option or variable that it comes from, for error messages.

    Raises:
        UsageError: It is no valid URL, or would send signed calls over the network unencrypted.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        parts.port  # noqa: B018 - raises ValueError if the port is invalid
    except ValueError:
        parts, host = urlsplit(""), ""
    if parts.scheme not in {"http", "https"} or not host or parts.query or parts.fragment:
        problem = f"must be an address such as https://HOST/STAGE, not {url!r}"
        raise UsageError(Complaint((source,), problem, url))
    here = host in _LOOPBACK
    if parts.scheme == "http" and not here:
        problem = f"must be https, except on this machine, not {url!r}"
        raise UsageError(Complaint((source,), problem, url))
    region = _EXECUTE_API.search(host)
    return Address(url.rstrip("/"), region[1] if region else None, signed=not here)


def find_address(*, url: str | None, stack: str | None, variable: str | None) -> Address:
    """Choose the address from `--url`, `--stack`, the variable, or the default stack.

    Raises:
        UsageError: Both options are given, or the address is not valid.
        NotDeployedError: The stack does not exist, or is not Plimsoll's.
    """
    if url is not None and stack is not None:
        raise UsageError(Complaint(("--url, --stack",), "give one of them"))
    if url is not None:
        return read_address(url, source="--url")
    if stack is None and variable:
        return read_address(variable, source=URL_VARIABLE)
    address = read_stack_output(stack or DEFAULT_STACK, OUTPUT)
    return read_address(address, source=f"the stack's output {OUTPUT}")


def read_stack_output(stack: str, output: str) -> str:
    """Return an output of a deployed stack.

    Raises:
        NotDeployedError: The stack does not exist, or is not Plimsoll's.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - slow to load

    from plimsoll.aws import clients  # noqa: PLC0415 - slow to load

    hint = f"--stack {stack}"
    try:
        described = clients.cloudformation().describe_stacks(StackName=stack)["Stacks"][0]
    except ClientError as error:
        raise NotDeployedError(f"{hint}: {error.response['Error']['Message']}") from error
    except BotoCoreError as error:
        raise NotDeployedError(
            f"{hint}: {error} (or name the service by --url or {URL_VARIABLE})"
        ) from error
    outputs = {each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", [])}
    if output not in outputs:
        raise NotDeployedError(
            f"{hint}: not a deployment of Plimsoll, or an older one: it has no output {output}"
        )
    return outputs[output]
