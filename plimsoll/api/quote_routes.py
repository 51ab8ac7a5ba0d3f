"""Quotes: `POST /quotes`, `POST /quotes/experiments`."""

from functools import cache
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from plimsoll.api.context import read_caller, read_settings
from plimsoll.api.started import assign_to_team, check_run
from plimsoll.experiments.lifecycle import require_possible_experiment
from plimsoll.model.deployment.deployment import Team
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.request.request import Request
from plimsoll.model.run.quote import ExperimentQuote, Quote
from plimsoll.quoting.experiment_quotes import quote_experiment
from plimsoll.quoting.prices import override_prices
from plimsoll.requests.cells import check_experiment
from plimsoll.targets.engine_version import resolve_rds_version
from plimsoll.teams.registry import find_team
from plimsoll.workflow.submit import quote_possible_run, resolve_version

router = APIGatewayRouter()


@router.post(
    "/quotes",
    summary="Quote a run",
    description="Estimates item by item the time and cost of a run: minimum, expected and maximum."
    " Creates nothing, and refuses what `POST /runs` would refuse at any time. If a price is not"
    " known, `missing` names it and there is no sum (docs/costs.md).",
    response_description="The quote.",
    operation_id="quote_run",
    tags=["runs"],
)
def quote_run(
    request: Annotated[Request, Body(description="Request, as for `POST /runs`.")],
) -> Quote:
    """Quote a request."""
    settings, caller = read_settings(router), read_caller(router)
    return quote_possible_run(settings, check_run(request, caller))


@router.post(
    "/quotes/experiments",
    summary="Quote an experiment",
    description="Estimates time and cost of each of its runs, item by item, and of all together,"
    " with as many at the same time as the request and the team's limits allow. Creates nothing,"
    " and refuses what `POST /experiments` would refuse at any time.",
    response_description="The quote.",
    operation_id="quote_experiment",
    tags=["experiments"],
)
def quote_matrix(
    experiment: Annotated[Experiment, Body(description="Experiment, as for `POST /experiments`.")],
) -> ExperimentQuote:
    """Quote an experiment."""
    settings, caller = read_settings(router), read_caller(router)
    team = find_team(settings, caller.team) or Team()
    prices = override_prices(settings.prices)
    ask = cache(resolve_rds_version)
    checked = check_experiment(assign_to_team(experiment, caller))
    require_possible_experiment(settings, checked, require_run=quote_possible_run)
    return quote_experiment(
        checked,
        prices,
        runs_most=team.concurrent_runs,
        version_of=lambda request: resolve_version(settings, request.target, ask=ask),
    )
