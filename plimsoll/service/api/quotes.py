"""The quotes: `POST /quotes`."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from plimsoll.model.quote import Quote
from plimsoll.model.request import Request
from plimsoll.service.api.context import deployment_of
from plimsoll.service.quotes import quote

router = APIGatewayRouter()


@router.post(
    "/quotes",
    summary="Time and money of a request",
    description="Says item by item what a run would take, least, expected and most; makes nothing."
    " Where a price is not known, `missing` names it and there is no sum (docs/costs.md).",
    response_description="The quote.",
    operation_id="quote_run",
    tags=["runs"],
)
def quote_run(
    request: Annotated[Request, Body(description="As for `POST /runs`.")],
) -> Quote:
    """Quote a request."""
    return quote(request, deployment_of(router).price_table)
