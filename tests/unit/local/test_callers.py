"""Which calls come from the port's own page or a program, and which from another page."""

import pytest

from plimsoll.local.callers import is_from_other_page, is_from_page

PORT = 8080
OWN = "127.0.0.1:8080"


def foreign(host: str | None = OWN, origin: str | None = None, site: str | None = None) -> bool:
    return is_from_other_page(host=host, origin=origin, fetch_site=site, port=PORT)


@pytest.mark.parametrize("host", [OWN, "localhost:8080"])
@pytest.mark.parametrize("site", [None, "same-origin", "none"])
def test_its_own_page_and_programs_are_let_through(host: str, site: str | None) -> None:
    assert not foreign(host, f"http://{host}", site)
    assert not foreign(host, None, site)


@pytest.mark.parametrize(
    "origin",
    [
        "https://page.example",
        "null",  # a sandboxed frame, or a file
        "http://127.0.0.1",
        "http://127.0.0.1:8081",
        "https://127.0.0.1:8080",
        "http://localhost:8080",  # another origin than the address that is called
        "http://127.0.0.1:8080.page.example",
        "http://127.0.0.1:8080/",
        "",
    ],
)
def test_another_origin_is_refused(origin: str) -> None:
    assert foreign(origin=origin, site="same-origin")
    assert foreign(origin=origin)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "same-origin, cross-site"])
def test_what_a_browser_says_of_another_page_counts_without_an_origin(site: str) -> None:
    """An image, a script or a form of another page, and of another port of this machine."""
    assert foreign(site=site)


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "127.0.0.1",
        "127.0.0.1:8081",
        "page.example:8080",
        "127.0.0.1:8080.page.example",
        "localhost.page.example:8080",
        "[::1]:8080",
        "0.0.0.0:8080",
        "127.0.0.1:08080",
    ],
)
def test_a_name_that_was_moved_here_is_refused(host: str | None) -> None:
    assert foreign(host, None if host is None else f"http://{host}", "same-origin")


def test_where_no_page_is_served_none_is_answered() -> None:
    assert is_from_page(host=OWN, origin=f"http://{OWN}", port=PORT)
    assert not is_from_page(host=OWN, origin=None, port=PORT)
