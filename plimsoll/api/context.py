"""What every route needs: the deployment that it serves, and who calls."""

from aws_lambda_powertools.event_handler.api_gateway import BaseRouter

from plimsoll.aws.function_settings import Deployment
from plimsoll.teams.teams import Caller


def deployment_of(router: BaseRouter) -> Deployment:
    """The deployment that is served."""
    deployment: Deployment = router.context["deployment"]
    return deployment


def caller_of(router: BaseRouter) -> Caller:
    """Who calls; every route but /health has one."""
    caller: Caller = router.context["caller"]
    return caller
