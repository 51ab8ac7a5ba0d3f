"""The page's files before any browser: typed, small, of the report's colors, nothing inline."""

import json
import re
import subprocess
from importlib import resources
from pathlib import Path

import pytest

from plimsoll.report.charts.theme import write_theme_css

ASSETS = Path(str(resources.files("plimsoll.console").joinpath("assets")))
REPORT = Path(str(resources.files("plimsoll.report").joinpath("assets")))
MODULES = [*sorted(ASSETS.glob("*.js")), REPORT / "charts.js"]
COMPILER = Path(__file__).resolve().parents[2] / "node_modules/.bin/tsc"
LINES_MOST = 250


def test_types_hold(tmp_path: Path) -> None:
    """TypeScript's compiler reads the types in the comments; one address serves both folders."""
    checks = ("noEmit", "allowJs", "checkJs", "strict", "noUnusedLocals", "noUnusedParameters")
    options = dict.fromkeys(checks, True) | {
        "target": "es2024",
        "module": "esnext",
        "moduleResolution": "bundler",
        "lib": ["es2024", "dom", "dom.iterable"],
        "rootDirs": [str(ASSETS), str(REPORT)],
        "types": [],
    }
    project = {"compilerOptions": options, "files": [str(ASSETS / "main.js")]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(project), "utf-8")
    command = [str(COMPILER), "--project", str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.stdout == ""
    assert told.returncode == 0


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_a_module_is_small_and_makes_no_markup_of_text(module: Path) -> None:
    text = module.read_text("utf-8")
    assert len(text.splitlines()) <= LINES_MOST
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text)


def test_nothing_stands_inline_and_nothing_comes_from_elsewhere() -> None:
    page = (ASSETS / "index.html").read_text("utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)
    assert re.findall(r'(?:src|href)="(?!#)([^"]*)"', page)
    assert not re.search(r'(?:src|href)="(?:[a-z]+:)?//', page)
    for sheet in (*ASSETS.glob("*.css"), REPORT / "charts.css"):
        assert "url(" not in sheet.read_text("utf-8")


def test_the_colors_are_the_reports() -> None:
    sheet = (ASSETS / "theme.css").read_text("utf-8")
    assert write_theme_css("light") in sheet
    assert write_theme_css("dark") in sheet
