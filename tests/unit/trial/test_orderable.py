"""The canary looks first whether the account can make its target."""

import pytest

from plimsoll.errors import PreflightError
from plimsoll.preflight.checks import Check, make_failed, make_passed, make_unknown
from plimsoll.trial import on_aws
from plimsoll.trial.on_aws import require_orderable
from tests.support.synthetic_run import request

FINE = (make_passed("class", "it is offered"),)


def found(monkeypatch: pytest.MonkeyPatch, **checks: tuple[Check, ...]) -> None:
    """Have the parts of the preflight find this."""
    for part in ("check_rds_target", "check_role", "check_quotas"):
        answer = checks.get(part, FINE)
        monkeypatch.setattr(on_aws, part, lambda *_, answer=answer: answer)


def test_what_passes_or_is_not_to_be_known_lets_it_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, check_role=(make_unknown("role", "these credentials may not call GetRole"),))
    require_orderable(request())


@pytest.mark.parametrize("part", ["check_rds_target", "check_role", "check_quotas"])
def test_any_part_that_fails_ends_it_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    bad = make_failed("class", "eu-north-1 has no db.t4g.small", "choose another region")
    found(monkeypatch, **{part: (*FINE, bad)})
    with pytest.raises(PreflightError) as error:
        require_orderable(request())
    assert str(error.value).splitlines() == [
        "nothing was created:",
        "class: eu-north-1 has no db.t4g.small; choose another region",
    ]
