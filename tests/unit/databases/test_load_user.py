"""The load user's password."""

from plimsoll.databases.load_user import derive_load_password, switch_to_load_user
from plimsoll.model.engine.asked import EngineTarget

MASTER = EngineTarget(
    protocol="mysql", host="h", port=3306, user="plimsoll", password="m4ster", database="plimsoll"
)


def test_it_is_the_same_for_a_run_and_another_for_another() -> None:
    drawn = derive_load_password("m4ster", "run-1")
    assert drawn == derive_load_password("m4ster", "run-1")
    assert (
        len(
            {drawn, derive_load_password("m4ster", "run-2"), derive_load_password("other", "run-1")}
        )
        == 3
    )
    assert "m4ster" not in drawn


def test_it_meets_rules_for_passwords() -> None:
    drawn = derive_load_password("m4ster", "run-1")
    assert 40 < len(drawn) < 64  # MySQL's and RDS's users may have more
    assert any(c.isupper() for c in drawn)
    assert any(c.islower() for c in drawn)
    assert any(c.isdigit() for c in drawn)
    assert "-" in drawn
    assert "'" not in drawn
    assert "\\" not in drawn


def test_the_target_is_the_same_but_for_who_connects() -> None:
    load = switch_to_load_user(MASTER, "run-1")
    assert load.user == "plimsoll_load"
    assert load.model_copy(update={"user": "plimsoll", "password": "m4ster"}) == MASTER
