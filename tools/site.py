"""Build the site of docs/ into .cache/site and follow its links: `make docs`.

Zensical keeps its cache in the folder `.cache` beside its configuration and empties that, so it
works on a copy.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
SITE = ROOT / ".cache" / "site"
CONFIGURATION = ROOT / "tools" / "mkdocs.yml"
COLORS = re.compile(r"\x1b\[[0-9;]*m")
# what a browser fetches without being asked; every other address is a link
LOADED = {("img", "src"), ("script", "src"), ("source", "srcset"), ("link", "href")}


def build_site(site: Path, docs: Path = ROOT / "docs") -> None:
    """Write the site of a folder of pages into a new folder; ValueError with what is wrong."""
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(docs, Path(scratch, "docs"))
        shutil.copy(CONFIGURATION, scratch)
        command = [sys.executable, "-m", "zensical", "build", "--strict"]
        built = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        if built.returncode:
            raise ValueError(COLORS.sub("", built.stdout + built.stderr))
        shutil.copytree(Path(scratch, "site"), site)


@dataclass
class Page(HTMLParser):
    """What a page of the site names.

    Attributes:
        anchors: The ids of its elements.
        links: Addresses that a reader may follow.
        loaded: Addresses that a browser fetches with the page.
    """

    anchors: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses and the id of an element."""
        for name, value in attrs:
            if name == "id":
                self.anchors.add(value or "")
            elif value and (tag, name) in LOADED:
                self.loaded.add(value)
            elif value and name in {"href", "src"}:
                self.links.add(value)


def read_pages(site: Path) -> dict[Path, Page]:
    """Return the pages of a built site by their paths."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = page = Page()
        page.feed(path.read_text("utf-8"))
    return pages


def find_dead_links(site: Path) -> Iterator[str]:
    """Yield `PAGE: ADDRESS` for each address that leads to no file or no heading of the site."""
    pages = read_pages(site)
    for path, page in pages.items():
        for address in sorted(page.links | page.loaded):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            wanted = unquote(parts.fragment)
            known = pages[target].anchors if target in pages else set()
            if not target.is_file() or (wanted and target in pages and wanted not in known):
                yield f"{path.relative_to(site)}: {address}"


def find_foreign_parts(site: Path) -> Iterator[str]:
    """Yield `PAGE: ADDRESS` for each font, script, style or picture that comes from elsewhere."""
    for path, page in read_pages(site).items():
        for address in sorted(page.loaded):
            if urlsplit(address).netloc:
                yield f"{path.relative_to(site)}: {address}"


if __name__ == "__main__":
    shutil.rmtree(SITE, ignore_errors=True)
    build_site(SITE)
    wrong = [*find_dead_links(SITE), *find_foreign_parts(SITE)]
    print(*wrong, *[] if wrong else [f"{SITE.relative_to(ROOT)}/index.html"], sep="\n")
    sys.exit(bool(wrong))
