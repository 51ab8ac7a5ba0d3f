"""Tells calls from programs and a port's own page from calls of other pages in a browser.

Any page can call 127.0.0.1 from the browser of whoever looks at it. But it cannot suppress what the
browser adds: the `Origin` of its script's requests and, if its own name has been pointed at this
machine (DNS rebinding), that name as the `Host`. Current browsers also say whether a call comes
from the page's own site (`Sec-Fetch-Site`); older ones send an `Origin` with every request that
could change something.
"""

_OWN_NAMES = ("127.0.0.1", "localhost")
_OWN_SITE = {None, "same-origin", "none"}  # `none`: an address typed by the user, or a bookmark


def is_own_host(host: str | None, *, port: int) -> bool:
    """Return whether the header `Host` names this port of this machine."""
    return host in {f"{name}:{port}" for name in _OWN_NAMES}


def is_from_page(*, host: str | None, origin: str | None, port: int) -> bool:
    """Return whether a call came from a page in a browser rather than from a program.

    Args:
        host: The header `Host`.
        origin: The header `Origin`; no program sends one.
        port: The port that was called, on 127.0.0.1.
    """
    return origin is not None or not is_own_host(host, port=port)


def is_from_other_page(
    *, host: str | None, origin: str | None, fetch_site: str | None, port: int
) -> bool:
    """Return whether a call came from a page in a browser that this port has not served.

    Args:
        host: The header `Host`.
        origin: The header `Origin`; for the port's own page, the address that it calls.
        fetch_site: The header `Sec-Fetch-Site`; another port of this machine is `same-site`.
        port: The port that was called, on 127.0.0.1.
    """
    own = origin is None or origin == f"http://{host}"
    return not is_own_host(host, port=port) or not own or fetch_site not in _OWN_SITE
