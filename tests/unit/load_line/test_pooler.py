"""What is done with a pooler that answers at a database's address."""

import pytest

from plimsoll.databases.connecting import Pooler
from plimsoll.errors import PlimsollError
from plimsoll.load_line import pooler as module
from plimsoll.load_line.pooler import adapt_to_pooler
from plimsoll.model.request.dsn import parse_dsn

MYSQL, POSTGRES = parse_dsn("mysql://u@127.0.0.1/d"), parse_dsn("postgres://u@127.0.0.1/d")


class Family:
    """A family with a pooler."""

    def __init__(self, pooler: Pooler | None) -> None:
        self.pooler = pooler

    def find_pooler(self, _: object) -> Pooler | None:
        return self.pooler


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Family:
    family = Family(None)
    monkeypatch.setattr(module, "find_family", lambda _: family)
    return family


def test_without_a_pooler_all_stays(found: Family) -> None:
    assert found.pooler is None
    assert adapt_to_pooler(MYSQL) == (MYSQL, ())


def test_it_is_named_and_what_differs_is_said(found: Family) -> None:
    found.pooler = Pooler("ProxySQL", {"sql_mode": "ANSI"})
    target, notes = adapt_to_pooler(MYSQL)
    assert target.session_settings == ()
    together, differs = notes
    assert together.startswith("127.0.0.1:3306 is ProxySQL: the figures are of both together, and")
    assert differs.startswith("its sessions have sql_mode = ANSI; on the server itself Plimsoll")


@pytest.mark.parametrize(
    ("target", "setting", "why"),
    [
        (MYSQL, "autocommit", "no update of a load would be committed"),
        (MYSQL, "completion_type", "a COMMIT would begin another transaction"),
        (POSTGRES, "standard_conforming_strings", "texts would mean something else"),
    ],
)
def test_what_would_be_measured_wrongly_is_refused(
    found: Family, target: object, setting: str, why: str
) -> None:
    found.pooler = Pooler(None, {setting: "0"})
    with pytest.raises(PlimsollError, match=f"{setting} = 0: {why}"):
        adapt_to_pooler(target)  # type: ignore[arg-type]
