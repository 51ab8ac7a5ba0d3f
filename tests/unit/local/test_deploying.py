from plimsoll.local.deploying import default_settings
from plimsoll.model.functions import FUNCTIONS, Setting


def test_every_setting_has_a_value_on_one_machine() -> None:
    assert set(default_settings()) == set(Setting)


def test_every_setting_that_a_function_wants_is_one() -> None:
    wanted = {s for function in FUNCTIONS.values() for s in function.environment.values()}
    assert wanted <= set(default_settings())
