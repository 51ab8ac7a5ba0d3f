"""What a search asks for never exceeds what its user allows."""

import os

import pytest

from plimsoll.load_line.options import FindOptions
from plimsoll.load_line.request import choose_search
from plimsoll.model.request.search_request import RateSearch


@pytest.mark.parametrize("cores", [1, 2, 16])
@pytest.mark.parametrize("connections", [1, 3, 256])
def test_all_clients_together_have_no_more_connections_than_allowed(
    monkeypatch: pytest.MonkeyPatch, cores: int, connections: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    search = choose_search(FindOptions(strategy="rate", max_connections=connections, max_rate=500))
    assert isinstance(search, RateSearch)
    assert 1 <= search.clients_max * search.connections_per_client <= connections
