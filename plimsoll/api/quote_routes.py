"""Quotes: `POST /quotes`, `POST /quotes/experiments`."""

from functools import cache
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from plimsoll.api.context import caller_of, settings_of
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.request.request import Request
from plimsoll.model.run.quote import ExperimentQuote, Quote
from plimsoll.quoting.experiment_quotes import quote_experiment
from plimsoll.quoting.prices import prices_for
from plimsoll.quoting.quotes import quote
from plimsoll.targets.engine_version import rds_version
from plimsoll.workflow.submit import version_made

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
    settings = settings_of(router)
    version = version_made(settings, request.target)
    return quote(request, prices_for(settings.prices), database_version=version)


@router.post(
    "/quotes/experiments",
    summary="Time and money of an experiment",
    description="The quote of each of its runs, item by item, and what all of them come to, so many"
    " at once (no more than the team may have); makes nothing.",
    response_description="The quote.",
    operation_id="quote_experiment",
    tags=["experiments"],
)
def quote_matrix(
    experiment: Annotated[Experiment, Body(description="As for `POST /experiments`.")],
) -> ExperimentQuote:
    """Quote an experiment."""
    settings = settings_of(router)
    team = settings.teams[caller_of(router).team]
    prices = prices_for(settings.prices)
    ask = cache(rds_version)
    return quote_experiment(
        experiment,
        prices,
        runs_most=team.concurrent_runs,
        version_of=lambda request: version_made(settings, request.target, ask=ask),
    )
