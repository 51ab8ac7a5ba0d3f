"""Links to dashboards: of the run and its time, encoded, and never anything but a web address."""

from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import TypeAdapter, ValidationError

from plimsoll.errors import UsageError
from plimsoll.model.run.dashboards import Dashboards, Links

BEGAN = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
ENDED = datetime(2026, 3, 2, 11, 30, tzinfo=UTC)
PAGE = (
    "https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1"
    "#dashboards/dashboard/Plimsoll"
)


def test_a_link_shows_the_run_and_its_time_with_five_minutes_around_it() -> None:
    both = Dashboards(grafana="https://grafana.example/d/plimsoll-run-influxdb/", cloudwatch=PAGE)
    links = both.links("20260302-100000-abcdef", since=BEGAN, until=ENDED)
    grafana = urlsplit(links["grafana"])
    assert (grafana.netloc, grafana.path) == ("grafana.example", "/d/plimsoll-run-influxdb")
    assert parse_qs(grafana.query) == {
        "var-run": ["20260302-100000-abcdef"],
        "from": [str(round(BEGAN.timestamp() * 1000) - 300_000)],
        "to": [str(round(ENDED.timestamp() * 1000) + 300_000)],
    }
    shown = "start=2026-03-02T09%3A55%3A00Z&end=2026-03-02T11%3A35%3A00Z"
    assert links["cloudwatch"] == f"{PAGE}?{shown}"


def test_a_run_under_way_is_shown_until_now() -> None:
    both = Dashboards(grafana="http://127.0.0.1:3000/d/a", cloudwatch=PAGE)
    links = both.links("r", since=BEGAN, until=None)
    assert links["grafana"].endswith("&to=now")
    assert links["cloudwatch"].endswith("&end=null")


def test_without_an_address_there_is_no_link() -> None:
    assert Dashboards().links("r", since=BEGAN, until=ENDED) == {}


@pytest.mark.parametrize("run_id", ['a"><script>', "a b&to=1#", "naïve", "a\nb"])
def test_what_a_run_is_called_is_encoded(run_id: str) -> None:
    link = Dashboards(grafana="https://g.example/d/a").links(run_id, since=BEGAN, until=ENDED)
    read = parse_qs(urlsplit(link["grafana"]).query)
    assert read["var-run"] == [run_id]
    assert set(read) == {"var-run", "from", "to"}
    TypeAdapter(Links).validate_python(link)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "https://user:secret@g.example/d/a",
        "https://g.example/d/a?token=secret",
        "https://g.example/d/a#x",
        "https://g.example/d/a b",
        "g.example/d/a",
        "https://g.example/d/" + "a" * 300,
    ],
)
def test_a_wrong_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(UsageError, match="PLIMSOLL_GRAFANA: must be") as refused:
        Dashboards.read_from_environment({"PLIMSOLL_GRAFANA": url})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("environment", [{}, {"PLIMSOLL_GRAFANA": ""}])
def test_no_address_is_the_default(environment: dict[str, str]) -> None:
    assert Dashboards.read_from_environment(environment) == Dashboards()


@pytest.mark.parametrize(
    "links",
    [
        {"grafana": "javascript:alert(1)"},
        {"grafana": 'https://g.example/"onclick'},
        {"grafana": "https://g.example/<b>"},
        {"kibana": "https://g.example/"},
    ],
)
def test_a_result_with_another_link_is_not_read(links: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Links).validate_python(links)
