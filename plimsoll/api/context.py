"""Shared by routes: settings, the caller, the header with an idempotency key, the body's type."""

from typing import Annotated

from aws_lambda_powertools.event_handler.api_gateway import BaseRouter
from aws_lambda_powertools.event_handler.openapi.params import Header

from plimsoll.model.deployment.function_settings import ApiSettings
from plimsoll.teams.caller import Caller

JSON = "application/json"
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[!-~]{1,200}$",
        description="Identifier of your choice for this call: printable ASCII.",
    ),
]


def read_settings(router: BaseRouter) -> ApiSettings:
    """Return the settings of the deployment."""
    settings: ApiSettings = router.context["settings"]
    return settings


def read_caller(router: BaseRouter) -> Caller:
    """Return the caller; every route but /health has one."""
    caller: Caller = router.context["caller"]
    return caller
