"""The page's own files, as the front serves them; they contain no secret and nothing of a run."""

import hashlib
from importlib import resources
from importlib.resources.abc import Traversable

from plimsoll.console.config import CONTENT_SECURITY_POLICY, ConsoleConfig
from plimsoll.local.rest_api import HttpAnswer

BASE = "/console/"
CONFIG = f"{BASE}config.json"
CHARTS = f"{BASE}charts/"  # not files: the front draws them of what the page sends
# The page draws its charts as the report does, with the same files
_SHARED_WITH_REPORT = ("charts.css", "charts.js")
_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "ico": "image/x-icon",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}
_HEADERS = (
    ("Content-Security-Policy", CONTENT_SECURITY_POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-cache"),
)


class ConsoleFiles:
    """The files by path; nothing else is served, whatever a path says."""

    def __init__(self, config: ConsoleConfig) -> None:
        self._config = config.model_dump_json().encode()
        report = resources.files("plimsoll.report").joinpath("assets")
        self._files = dict(
            _list_files(resources.files("plimsoll.console").joinpath("assets"), BASE)
        ) | {f"{BASE}{name}": report.joinpath(name) for name in _SHARED_WITH_REPORT}

    def answer(self, path: str, known: str | None) -> HttpAnswer | None:
        """Return the answer with a file; None if there is no file of this path.

        Args:
            path: The path as it was sent.
            known: The header `If-None-Match`.
        """
        if path == "/":
            return HttpAnswer(302, (("Location", BASE), *_HEADERS), b"")
        if not path.startswith(BASE):
            return None
        path = f"{BASE}index.html" if path == BASE else path
        if path == CONFIG:
            return _answer_with_file(path, self._config, known)
        if path not in self._files:
            return HttpAnswer(
                404, (("Content-Type", "text/plain"), *_HEADERS), b"there is no such file"
            )
        return _answer_with_file(path, self._files[path].read_bytes(), known)


def _list_files(folder: Traversable, path: str) -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _list_files(entry, f"{path}{entry.name}/")
        elif entry.name.rpartition(".")[2] in _TYPES:
            found.append((f"{path}{entry.name}", entry))
    return found


def _answer_with_file(path: str, content: bytes, known: str | None) -> HttpAnswer:
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = (("Content-Type", _TYPES[path.rpartition(".")[2]]), ("ETag", tag), *_HEADERS)
    return HttpAnswer(304, headers, b"") if known == tag else HttpAnswer(200, headers, content)
