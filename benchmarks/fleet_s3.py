"""A stand-in for S3 on loopback: GET, PUT and a listing of a folder's files, nothing else.

    python -m benchmarks.fleet_s3 FOLDER

Prints its address. It looks at no signature; `benchmarks/fleet.py` measures whoever calls it.
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

PAGE = 1_000  # keys, as S3 has them


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    folder = Path()
    listings: dict[tuple[str, str], list[str]] = {}  # noqa: RUF012 - of the whole server

    def do_GET(self) -> None:
        """Give a file, or a page of a listing."""
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        if "list-type" in query:
            self._answer(200, self._page(url.path.strip("/"), query))
            return
        place = self.folder / unquote(url.path).strip("/")
        if place.is_file():
            self._answer(200, place.read_bytes())
        else:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

    def do_PUT(self) -> None:
        """Take a file."""
        place = self.folder / unquote(urlsplit(self.path).path).strip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer(200, b"")

    def _page(self, bucket: str, query: dict[str, list[str]]) -> bytes:
        prefix, first = query["prefix"][0], int(query.get("continuation-token", ["0"])[0])
        if first == 0:
            root = self.folder / bucket
            paths = (path for path in root.rglob("*") if path.is_file())
            keys = sorted(str(path.relative_to(root)) for path in paths)
            self.listings[bucket, prefix] = [key for key in keys if key.startswith(prefix)]
        keys = self.listings[bucket, prefix]
        page, past = keys[first : first + PAGE], first + PAGE
        contents = "".join(f"<Contents><Key>{escape(key)}</Key></Contents>" for key in page)
        more = past < len(keys)
        token = f"<NextContinuationToken>{past}</NextContinuationToken>" if more else ""
        return (
            f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>"
            f"{token}{contents}</ListBucketResult>"
        ).encode()

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing of each call."""


def main() -> None:
    """Serve until the end."""
    Handler.folder = Path(sys.argv[1])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
