"""What is locked, held against advisories: which versions they name, and which they do not."""

import json
import re
import sys
import tomllib
from datetime import UTC, date, datetime, timedelta

import pytest

from tools import audit
from tools.audit import (
    PYTHON_LOCKS,
    ROOT,
    Finding,
    cargo_allows,
    crates,
    of_crates,
    of_python,
    python_packages,
)

RUSTSEC = """\
```toml
[advisory]
id = "RUSTSEC-2020-0105"
package = "abi_stable"
{more}

[versions]
patched = {patched}
unaffected = ["< 0.3"]
```

# Update unsound DrainFilter
"""
PYSEC = """\
id: PYSEC-2023-212
affected:
- package: {ecosystem: PyPI, name: URLLIB3}
  ranges:
  - type: GIT
    events: [{introduced: "0"}]
  - type: ECOSYSTEM
    events: [{introduced: 2.0.0}, {fixed: 2.0.7}, {introduced: "0"}, {fixed: 1.26.18}]
  versions: ["2.1.0-odd"]
"""


@pytest.mark.parametrize(
    ("requirement", "version", "allowed"),
    [
        (">= 0.9.1", "0.9.1", True),
        (">= 0.9.1", "0.9.0", False),
        (">= 1.2, < 1.4", "1.4.0", False),
        (">= 1.2, < 1.4", "1.3.9", True),
        ("^1.2.3", "1.9.0", True),
        ("^1.2.3", "2.0.0", False),
        ("^0.2.3", "0.2.9", True),
        ("^0.2.3", "0.3.0", False),
        ("^0.0.3", "0.0.4", False),
        ("~1.2.3", "1.2.9", True),
        ("~1.2.3", "1.3.0", False),
        ("= 1.2.3", "1.2.3", True),
        ("1.2", "1.5.0", True),
    ],
)
def test_requirements_are_cargos(requirement: str, version: str, allowed: bool) -> None:
    assert cargo_allows(requirement, version) is allowed


@pytest.mark.parametrize(
    ("version", "patched", "more", "kinds"),
    [
        ("0.9.0", '[">= 0.9.1"]', "", ["vulnerability"]),
        ("0.9.1", '[">= 0.9.1"]', "", []),
        ("0.2.9", '[">= 0.9.1"]', "", []),
        ("0.9.0", "[]", 'informational = "unmaintained"', ["unmaintained"]),
        ("0.9.0", "[]", 'withdrawn = "2021-01-01"', []),
    ],
)
def test_crates(version: str, patched: str, more: str, kinds: list[str]) -> None:
    advisory = RUSTSEC.format(patched=patched, more=more)
    found = list(of_crates([advisory], {"abi_stable": {version}, "libc": {"0.2.0"}}))
    assert found == [Finding("abi_stable", version, "RUSTSEC-2020-0105", kind) for kind in kinds]


@pytest.mark.parametrize(
    ("version", "affected"),
    [
        ("1.26.4", True),
        ("1.26.18", False),
        ("2.0.0", True),
        ("2.0.6", True),
        ("2.0.7", False),
        ("2.1.0-odd", True),
    ],
)
def test_python_packages(version: str, affected: bool) -> None:
    found = list(of_python([PYSEC], {"urllib3": {version}, "idna": {"2.0.0"}}))
    assert bool(found) is affected


def test_a_withdrawn_advisory_names_nothing() -> None:
    assert list(of_python([PYSEC + "withdrawn: 2024-01-01\n"], {"urllib3": {"1.26.4"}})) == []


def test_all_that_is_locked_is_read() -> None:
    locked = crates((ROOT / "engine/Cargo.lock").read_text())
    assert "plimsoll_engine" not in locked
    assert locked["libc"]
    for lock in PYTHON_LOCKS:
        text = (ROOT / lock).read_text()
        pinned = [line for line in text.splitlines() if "==" in line and line[0].isalnum()]
        assert sum(map(len, python_packages(text).values())) == len(pinned)


TODAY = datetime.now(UTC).date()
ONE = Finding("libc", "0.2.0", "RUSTSEC-2020-0105", "vulnerability")


@pytest.mark.parametrize(
    ("as_of", "from_npm", "code", "told"),
    [
        (TODAY, [], 0, "0 affected; 0 of 3 kinds"),
        (TODAY, [ONE], 1, "libc 0.2.0: RUSTSEC-2020-0105 (vulnerability)"),
        (None, [ONE], 1, "1 affected; 2 of 3 kinds"),
        (TODAY, None, 3, "npm: NOT CHECKED: the registry does not answer"),
        (None, [], 3, "crates: NOT CHECKED: no copy of https://github.com/rustsec/advisory-db"),
        (TODAY - timedelta(days=40), [], 3, ", NOT against later ones"),
    ],
)
def test_what_is_affected_and_what_was_not_checked_is_the_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    as_of: date | None,
    from_npm: list[Finding] | None,
    *,
    code: int,
    told: str,
) -> None:
    monkeypatch.setattr(sys, "argv", ["audit", "--offline"])
    monkeypatch.setattr(audit, "_database", lambda *_, **__: as_of)
    monkeypatch.setattr(audit, "_texts", lambda *_: [])
    monkeypatch.setattr(audit, "_of_npm", lambda: from_npm)
    assert audit.main() == code
    assert told in capsys.readouterr().out


def test_every_archive_that_is_fetched_is_pinned_by_its_hash() -> None:
    for lock in PYTHON_LOCKS:
        blocks = re.split(r"^(?=[a-z0-9])", (ROOT / lock).read_text(), flags=re.MULTILINE)
        assert [one for one in blocks if "==" in one and "--hash=sha256:" not in one] == [], lock
    cargo = tomllib.loads((ROOT / "engine/Cargo.lock").read_text())["package"]
    assert [p["name"] for p in cargo if "checksum" not in p] == ["plimsoll_engine"]
    npm = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    assert [name for name, package in npm.items() if "integrity" not in package] == [""]
