import json

from plimsoll.local.deploying import PRINCIPAL, make_default_settings
from plimsoll.model.deployment.deployment import Team
from plimsoll.model.deployment.functions import FUNCTIONS, Setting


def test_every_setting_has_a_value_on_one_machine() -> None:
    assert set(make_default_settings()) == set(Setting)


def test_every_setting_that_a_function_wants_is_one() -> None:
    wanted = {s for function in FUNCTIONS.values() for s in function.environment.values()}
    assert wanted <= set(make_default_settings())


def test_a_service_on_one_machine_has_the_limits_of_any_team_but_those_in_dollars() -> None:
    teams = json.loads(make_default_settings()[Setting.TEAMS])
    usual, here = Team(), Team.model_validate(teams["default"])
    assert here.principals == (PRINCIPAL,)
    assert (here.concurrent_runs, here.clients) == (usual.concurrent_runs, usual.clients)
    assert (here.usd_per_run, here.spend_usd_per_month) == (None, None)
