"""What a check may ask for, and the words that refuse the rest."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from plimsoll.model.request.check import Check, CheckDefinition
from tests.unit.checks.histories import CHECK, REQUEST, check

LATENCY = {"kind": "latency", "operation": "read", "rate_ops_per_second": 500}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schedule": "every day"}, "'every day' is not a schedule"),
        ({"schedule": "rate(0 days)"}, "at least 1 day"),
        ({"schedule": "cron(0 2 * * * *)"}, "?"),
        ({"schedule": "at(2026-12-01T00:00:00)"}, "happens once, and has no history"),
        ({"time_zone": "Europe/Atlantis"}, "'Europe/Atlantis' is not a time zone"),
        ({"flexible_minutes": 1441}, "less than or equal to 1440"),
        ({"compare": []}, "at least 1 item"),
        ({"compare": [LATENCY, LATENCY]}, "latency of read at 500 ops/s is given twice"),
        (
            {"compare": [LATENCY | {"rate_ops_per_second": 600}]},
            "600 is not measured by every run; give request.search.rate_first_ops_per_second, 500",
        ),
        (
            {
                "compare": [LATENCY],
                "request": REQUEST | {"search": {"strategy": "steps", "clients": [1]}},
            },
            "needs request.search.strategy `rate`, not `steps`",
        ),
        ({"thresholds": {"min_change": 0}}, "greater than 0"),
        ({"thresholds": {"p_value_max": 0.5}}, "less than or equal to 0.05"),
        ({"treshold": {}}, "Extra inputs are not permitted"),
    ],
)
def test_what_cannot_be_is_refused_in_words(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as error:
        check(**changes)
    assert words in str(error.value)


def test_a_controls_run_is_the_same_on_another_target() -> None:
    control = REQUEST["target"] | {"instance_class": "db.m6i.large"}
    long_name = REQUEST | {"name": "a-name-of-thirty-nine-letters-and-a-bit"}
    made = check(request=long_name, control=control)
    asked = made.control_request
    assert asked is not None
    assert asked.target == made.control
    assert asked.name == "a-name-of-thirty-nine-letters-an-control"
    same = {"target", "name"}
    assert asked.model_dump(exclude=same) == made.request.model_dump(exclude=same)
    assert check().control_request is None


def test_it_says_the_same_after_json() -> None:
    made = Check.model_validate(CHECK | {"compare": [LATENCY, {"kind": "capacity"}]})
    assert Check.model_validate_json(made.model_dump_json()) == made


def test_the_example_of_the_docs_is_a_check() -> None:
    page = (Path(__file__).parents[4] / "docs" / "checks.md").read_text()
    example = page.split("```yaml\n")[1].split("```")[0]
    found = CheckDefinition.model_validate(yaml.safe_load(example))
    assert [one.metric for one in found.compare] == ["capacity", "latency of read at 500 ops/s"]
    assert found.control is not None
