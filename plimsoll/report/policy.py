"""A page's Content-Security-Policy: its own style and scripts by their hashes, nothing else."""

import base64
import hashlib
import re

_INLINE = re.compile(r"<(script|style)([^>]*)>(.*?)</\1>", re.DOTALL)
_DATA = "application/json"  # is not run, so that no policy applies to it


def content_security_policy(page: str) -> str:
    """Give the strictest policy under which a page works, for a header or a `meta` element.

    Args:
        page: The whole page, as it is served.
    """
    hashes: dict[str, list[str]] = {"script": [], "style": []}
    for kind, attributes, text in _INLINE.findall(page):
        if _DATA not in attributes:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            hashes[kind].append(f"'sha256-{digest}'")
    allowed = {kind: " ".join(dict.fromkeys(of)) or "'none'" for kind, of in hashes.items()}
    return (
        f"default-src 'none'; script-src {allowed['script']}; style-src {allowed['style']};"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )
