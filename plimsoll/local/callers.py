"""Which calls a port of this machine answers: those of programs, and of its own page alone.

Any page can call 127.0.0.1 from the browser of whoever looks at it. What it cannot leave out is
what the browser adds: the `Origin` of what its script asks for, and, where the page's own name has
been moved to this machine (DNS rebinding), that name as the `Host`. Browsers of today also say
whether a call comes from the very page that it goes to (`Sec-Fetch-Site`); older ones send an
`Origin` with whatever could change something.
"""

_OWN_NAMES = ("127.0.0.1", "localhost")
_OWN_SITE = {None, "same-origin", "none"}  # `none`: typed by its user, or a bookmark


def is_own_host(host: str | None, *, port: int) -> bool:
    """Say whether a call names this port of this machine, as its header `Host` has it."""
    return host in {f"{name}:{port}" for name in _OWN_NAMES}


def is_of_a_page(*, host: str | None, origin: str | None, port: int) -> bool:
    """Say whether a call came through a browser's page rather than from a program.

    Args:
        host: Its header `Host`.
        origin: Its header `Origin`; no program sends one.
        port: Where it came in, on 127.0.0.1.
    """
    return origin is not None or not is_own_host(host, port=port)


def is_of_another_page(
    *, host: str | None, origin: str | None, fetch_site: str | None, port: int
) -> bool:
    """Say whether a call came through a page in a browser that this port has not served itself.

    Args:
        host: Its header `Host`.
        origin: Its header `Origin`; the port's own page has the address that it calls.
        fetch_site: Its header `Sec-Fetch-Site`; another port of this machine is `same-site`.
        port: Where it came in, on 127.0.0.1.
    """
    own = origin is None or origin == f"http://{host}"
    return not is_own_host(host, port=port) or not own or fetch_site not in _OWN_SITE
