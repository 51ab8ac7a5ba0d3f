"""What every route needs: the settings of the deployment that it serves, and who calls."""

from aws_lambda_powertools.event_handler.api_gateway import BaseRouter

from plimsoll.model.function_settings import ApiSettings
from plimsoll.teams.teams import Caller


def settings_of(router: BaseRouter) -> ApiSettings:
    """The settings of the deployment that is served."""
    settings: ApiSettings = router.context["settings"]
    return settings


def caller_of(router: BaseRouter) -> Caller:
    """Who calls; every route but /health has one."""
    caller: Caller = router.context["caller"]
    return caller
