"""LocalStack's Step Functions and the twin's carry the four machines out in the same way."""

from typing import Any

import pytest

from tests.second_opinion.scenarios import Scenario, scenarios
from tests.second_opinion.scripted_aws import WRITTEN


def _marks(scenario: Scenario) -> list[pytest.MarkDecorator]:
    known = pytest.mark.xfail(reason=scenario.differs)
    return [*([pytest.mark.whole] if scenario.slow else []), *([known] if scenario.differs else [])]


@pytest.mark.parametrize(
    "scenario", [pytest.param(one, id=one.name, marks=_marks(one)) for one in scenarios()]
)
def test_both_interpreters_call_the_same_in_the_same_order(
    scenario: Scenario, executions: Any
) -> None:
    twin, other = (executions[name][scenario.name] for name in ("twin", "LocalStack"))
    assert twin.calls, "nothing was called"
    assert scenario.status in (None, twin.status)
    assert twin.calls == other.calls
    if scenario.whole_fleet:
        assert WRITTEN not in {name for name, _ in twin.calls}
    assert (twin.status, *twin.end) == (other.status, *other.end)
