"""The catalogs for forms: `GET /schemas/{name}` and `GET /scenarios`."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Path
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from plimsoll.console.scenarios import Scenarios, scenarios
from plimsoll.requests.schemas import SchemaName, schema

router = APIGatewayRouter()


@router.get(
    "/schemas/<name>",
    summary="The JSON Schema of a document to send",
    description="The schema in docs/schemas of this version; dialect 2020-12.",
    response_description="The schema.",
    operation_id="get_schema",
    tags=["service"],
)
def get_schema(
    name: Annotated[SchemaName, Path(description="Document that the schema describes.")],
) -> dict[str, Any]:
    """Return a schema."""
    return schema(name)


@router.get(
    "/scenarios",
    summary="The scenarios that come with Plimsoll",
    description="Requests to start from, as YAML text and as JSON.",
    response_description="All scenarios, sorted by name.",
    operation_id="list_scenarios",
    tags=["service"],
)
def list_scenarios() -> Scenarios:
    """List the scenarios."""
    return scenarios()
