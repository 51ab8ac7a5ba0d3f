"""The site of docs/: it is built, every link leads somewhere, nothing comes from elsewhere."""

import re
from pathlib import Path

import pytest

from tools.site import CONFIGURATION, ROOT, build_site, find_dead_links, find_foreign_parts

PAGE = "<a href='other.html#there'>a</a> <a href='https://example.org/'>b</a> <img src='a.png'>"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    built = tmp_path_factory.mktemp("site") / "site"
    build_site(built)
    return built


def test_every_link_leads_to_a_file_and_a_heading(site: Path) -> None:
    assert list(find_dead_links(site)) == []


def test_a_browser_loads_nothing_from_elsewhere(site: Path) -> None:
    assert list(find_foreign_parts(site)) == []


def test_it_has_a_search_and_a_light_and_a_dark_look(site: Path) -> None:
    page = (site / "finding.html").read_text()
    assert "prefers-color-scheme: dark" in page
    assert "prefers-color-scheme: light" in page
    assert 'data-md-component="search"' in page
    assert "finding.html" in (site / "search.json").read_text()


def test_every_page_stands_in_its_navigation_once(site: Path) -> None:
    listed = re.findall(r": ([\w/-]+\.md)$", CONFIGURATION.read_text(), re.MULTILINE)
    docs = ROOT / "docs"
    assert sorted(listed) == sorted(str(page.relative_to(docs)) for page in docs.rglob("*.md"))
    assert {page.name for page in site.glob("*.html")} >= {"index.html", "finding.html"}


def test_evidence_and_decisions_have_their_own_names_in_the_navigation() -> None:
    listed = re.findall(r'- "(.+)": (\w+/[\w.-]+\.md)$', CONFIGURATION.read_text(), re.MULTILINE)
    assert len(listed) > 30
    for name, page in listed:
        heading, *_ = (ROOT / "docs" / page).read_text().splitlines()
        own = re.sub(r"^# (\d+\. |Evidence: )?", "", heading)
        assert own.lower().startswith(name.lower()), page


@pytest.mark.parametrize(
    ("other", "picture", "dead"),
    [
        ("<p id='there'>", True, []),
        ("<p id='elsewhere'>", True, ["page.html: other.html#there"]),
        ("<p id='there'>", False, ["page.html: a.png"]),
    ],
)
def test_a_dead_link_is_found(tmp_path: Path, other: str, picture: bool, dead: list[str]) -> None:
    (tmp_path / "page.html").write_text(PAGE)
    (tmp_path / "other.html").write_text(other)
    if picture:
        (tmp_path / "a.png").touch()
    assert list(find_dead_links(tmp_path)) == dead


def test_a_part_from_elsewhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<script src='https://cdn.example/a.js'></script>")
    assert list(find_foreign_parts(tmp_path)) == ["page.html: https://cdn.example/a.js"]


def test_a_page_that_names_no_page_is_refused(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "README.md").write_text("# A page\n\n[gone](gone.md)\n")
    with pytest.raises(ValueError, match="page does not exist"):
        build_site(tmp_path / "site", docs)
