"""`GET /health`."""

import contextlib

from aws_lambda_powertools.event_handler.router import APIGatewayRouter

import plimsoll
from plimsoll.api.context import read_settings
from plimsoll.aws.run_records import records_of
from plimsoll.errors import RunNotFoundError
from plimsoll.model.service.answers import Health

router = APIGatewayRouter()


@router.get(
    "/health",
    summary="Check the service",
    description="Answers if the service can read its table of runs.",
    response_description="The service works.",
    operation_id="get_health",
    tags=["service"],
)
def get_health() -> Health:
    """Check that the table answers, by looking for a run that cannot exist."""
    with contextlib.suppress(RunNotFoundError):
        records_of(read_settings(router)).get("health")
    return Health(status="ok", version=plimsoll.__version__)
