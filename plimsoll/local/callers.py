"""Which calls a port of this machine answers: those of programs, none of a page in a browser.

Any page can call 127.0.0.1 from the browser of whoever looks at it. What it cannot leave out is
what the browser adds: the `Origin` of what its script asks for, and, where the page's own name has
been moved to this machine (DNS rebinding), that name as the `Host`.
"""

_OWN_NAMES = ("127.0.0.1", "localhost")


def is_of_a_page(*, host: str | None, origin: str | None, port: int) -> bool:
    """Say whether a call came through a browser's page rather than from a program.

    Args:
        host: Its header `Host`.
        origin: Its header `Origin`; no program sends one.
        port: Where it came in, on 127.0.0.1.
    """
    return origin is not None or host not in {f"{name}:{port}" for name in _OWN_NAMES}
