"""The pages for users, tried: commands are commands, files are valid, links lead somewhere."""

import re
from pathlib import Path

import click
import pytest

from plimsoll.cli.main import cli, main
from plimsoll.cli.schedule import read_check
from plimsoll.report.page import render_run
from tests.support.guides import (
    AT_SERVICE,
    DOCS,
    ELSEWHERE,
    GUIDES,
    HERE,
    ROOT,
    commands,
    files,
)
from tests.support.synthetic_run import synthetic_run

EVIDENCE = sorted(DOCS.glob("evidence/*.md"))
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *EVIDENCE]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)]*))?\)")


def of_guides() -> list[tuple[str, list[str]]]:
    """List the commands of the README and of all guides, each with its page."""
    pages = [ROOT / "README.md", *(DOCS / f"{guide}.md" for guide in GUIDES)]
    return [(page.stem, line) for page in pages for line in commands(page)]


@pytest.mark.parametrize(("guide", "line"), of_guides(), ids=lambda part: str(part)[:60])
def test_each_command_is_one_with_options_that_it_has(guide: str, line: list[str]) -> None:
    context, command, rest = (
        click.Context(cli),
        cli.get_command(click.Context(cli), line[1]),
        line[2:],
    )
    while isinstance(command, click.Group) and rest:
        command, rest = command.get_command(context, rest[0]), rest[1:]
    assert command is not None, (guide, line)
    known = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in rest if re.match(r"--?[a-z]", word)} <= known, (guide, line)


def test_each_guide_with_commands_is_run_by_a_test() -> None:
    """Those of `serve` and `canary` are run by tests of their own."""
    verbs = {
        guide: {line[1] for line in commands(DOCS / f"{guide}.md", here=True)} for guide in GUIDES
    }
    assert {guide for guide, called in verbs.items() if called - set(ELSEWHERE)} == (
        HERE | AT_SERVICE
    )
    assert all((ROOT / test).is_file() for test in ELSEWHERE.values())


@pytest.mark.parametrize("guide", ["buying-iops", "service-for-teams"])
def test_what_a_reader_saves_is_valid_and_its_commands_answer(
    guide: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Those that make nothing; what runs, runs in tests/local."""
    monkeypatch.chdir(tmp_path)
    page = DOCS / f"{guide}.md"
    saved = files(page)
    for name, text in saved.items():
        Path(name).write_text(text)
    ran = [line[1:] for line in commands(page) if line[1] in {"validate", "quote"}]
    assert ran
    ran += [["validate", name] for name in saved if name != "check.yaml"]
    if "check.yaml" in saved:
        assert read_check(Path("check.yaml")).compare
    for line in ran:
        with pytest.raises(SystemExit) as ended:
            main(line)
        told = capsys.readouterr()
        assert ended.value.code in (None, 0), (line, told)


def test_a_page_names_the_headings_that_a_report_has() -> None:
    run, seconds = synthetic_run()
    page = render_run(run, seconds)
    guide = (DOCS / "reading-a-report.md").read_text()
    named = set(re.findall(r"^\d\. \*\*(.*?)\.\*\*", guide, re.MULTILINE)) - {"The headline"}
    assert len(named) >= 7
    headings = set(re.findall(r"<(?:h[23]|dt)[^>]*>\s*(.*?)\s*</", page))
    assert named <= headings, named - headings


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for path, anchor in LINK.findall(page.read_text()):
        if path.startswith("http"):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {path}"
        if anchor and target.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
            assert anchor in slugs, f"{page.name}: {path}#{anchor}"


DECISIONS = sorted(DOCS.glob("decisions/*.md"))
CODE = ("", "plimsoll", "engine/src")  # folders that a page's paths are relative to
CODE_PATH = re.compile(r"`((?:[a-z]\w*/)+\w+\.(?:py|rs|j2|css|sh)|(?:tests|engine)/[\w/]+/)`")


@pytest.mark.parametrize("page", [*PAGES, *DECISIONS], ids=lambda page: page.stem)
def test_each_file_of_code_that_is_named_is_there(page: Path) -> None:
    named = set(CODE_PATH.findall(page.read_text()))
    assert {path for path in named if not any((ROOT / at / path).exists() for at in CODE)} == set()


def test_the_readme_leads_to_the_list_of_pages_and_that_to_every_page() -> None:
    assert "docs/README.md" in {path for path, _ in LINK.findall((ROOT / "README.md").read_text())}
    linked = {path for path, _ in LINK.findall((DOCS / "README.md").read_text())}
    missing = {page.name for page in DOCS.glob("*.md")} - linked - {"README.md"}
    assert not missing


def test_the_readme_is_short_enough_to_be_read() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_each_page_of_evidence_is_linked_from_a_page_for_users() -> None:
    linked = {path for page in DOCS.glob("*.md") for path, _ in LINK.findall(page.read_text())}
    missing = {f"evidence/{page.name}" for page in EVIDENCE} - linked
    assert not missing


def test_each_variable_that_is_read_is_on_the_page_of_the_command_line() -> None:
    """But those by which Plimsoll's own processes tell each other something."""
    own = {"PLIMSOLL_TELL_SECONDS", "PLIMSOLL_VOLUME"}
    sources = "".join(path.read_text() for path in (ROOT / "plimsoll").rglob("*.py"))
    read = set(re.findall(r"[\"`](PLIMSOLL_[A-Z_]+)[\"`]", sources))
    told = set(re.findall(r"`(PLIMSOLL_[A-Z_]+)`", (DOCS / "command-line.md").read_text()))
    assert read - own == told


def test_the_time_of_the_trial_is_what_validate_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = DOCS / "buying-iops.md"
    text = " ".join(page.read_text().split())
    (said,) = re.findall(r"says ([\w ]+? of load) for each volume", text)
    for name, content in files(page).items():
        Path(name).write_text(content)
    with pytest.raises(SystemExit):
        main(["validate", "iops.yaml"])
    assert capsys.readouterr().out.count(f": {said}") == 2
