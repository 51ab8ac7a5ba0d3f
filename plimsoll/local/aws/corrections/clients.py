"""The interpreter's own calls: to this server's port on loopback, by clients made once.

moto makes a client for each task, which costs tens of milliseconds and is not thread-safe, and
calls `localhost`. A service's name in a state machine is translated to botocore's. For each
service's model moto makes a loader, which first looks through the folders of all services.
"""

import sys
import threading
from functools import lru_cache
from typing import Any

import boto3
from botocore.config import Config
from moto.core import loaders, utils
from moto.settings import moto_server_port
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import (
    state_task_service,
)

from plimsoll.local.replacing import replace_members

# https://docs.aws.amazon.com/step-functions/latest/dg/supported-services-awssdk.html
_BOTOCORE_NAMES = {
    "cloudwatchlogs": "logs",
    "eventbridge": "events",
    "sfn": "stepfunctions",
    "states": "stepfunctions",
    "timestreamwrite": "timestream-write",
    "timestreamquery": "timestream-query",
}
_lock = threading.Lock()


@lru_cache
def _session() -> Any:  # boto3's types accept a service's name only as a literal
    """Return the one session: it keeps the models that it has read."""
    return boto3.session.Session()


@lru_cache
def _client(service: str, region: str) -> Any:
    return _session().client(
        service,
        region_name=region,
        endpoint_url=f"http://127.0.0.1:{moto_server_port()}",
        config=Config(
            retries={"total_max_attempts": 1},
            connect_timeout=10,
            read_timeout=24 * 3600,
            max_pool_connections=1000,
        ),
    )


def boto_client_for(region: str, service: str, state_credentials: object = None) -> Any:
    """Return the one client of a service."""
    del state_credentials
    with _lock:  # botocore's loaders are not thread-safe
        return _client(find_botocore_name(service), region)


def find_botocore_name(service: str) -> str:
    """Translate a service's name in a state machine into botocore's."""
    return _BOTOCORE_NAMES.get(service.lower(), service.lower())


def apply() -> None:
    """Replace the client factory wherever it was imported, and keep the loader of models."""
    replace_members(utils, create_loader=lru_cache(loaders.create_loader))
    for name, module in list(sys.modules.items()):
        if name.startswith("moto.stepfunctions.") and hasattr(module, "boto_client_for"):
            replace_members(module, boto_client_for=boto_client_for)
    names = state_task_service.StateTaskService._SERVICE_NAME_SFN_TO_BOTO_OVERRIDES  # noqa: SLF001
    names.update(_BOTOCORE_NAMES)
