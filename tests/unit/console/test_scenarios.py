"""The scenarios, as a form begins from them."""

from plimsoll.console.scenarios import scenarios
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.request.request import Request


def test_each_is_what_the_api_takes() -> None:
    for scenario in scenarios().scenarios:
        for written in scenario.requests.values():
            Request.model_validate(written)
        if scenario.experiment is not None:
            Experiment.model_validate(scenario.experiment)
        assert bool(scenario.requests) != bool(scenario.experiment), scenario.name


def test_the_demo_is_two_runs_that_share_the_most_of_it() -> None:
    demo = next(one for one in scenarios().scenarios if one.name == "r1-demo")
    assert demo.kind == "runs"
    low, high = demo.requests.values()
    assert 2 * low["target"]["volume"]["iops"] == high["target"]["volume"]["iops"]
    assert demo.about.startswith("The same MariaDB with two settings of provisioned IOPS")
    assert demo.yaml.startswith("# The same MariaDB")


def test_they_are_as_short_as_they_were_written() -> None:
    demo = next(one for one in scenarios().scenarios if one.name == "r1-demo")
    assert "time_limit_s" not in next(iter(demo.requests.values())) or "time_limit_s" in demo.yaml
