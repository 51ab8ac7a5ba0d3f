"""How many bins a caller of the stream of events asks for."""

import pytest
from werkzeug.wrappers import Request

from plimsoll.errors import UsageError
from plimsoll.local.http_front import read_points


@pytest.mark.parametrize("points", [60, 600, 2000])
def test_a_number_in_range_is_taken(points: int) -> None:
    assert read_points(Request.from_values(f"/events?points={points}")) == points


@pytest.mark.parametrize("text", ["", "59", "2001", "000600999999", "9" * 40, "1e3", "-60", "²"])
def test_what_is_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="points"):
        read_points(Request.from_values(query_string={"points": text}))
