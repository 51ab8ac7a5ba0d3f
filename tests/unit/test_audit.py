"""What is locked, held against advisories: which versions they name, and which they do not."""

import pytest

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
