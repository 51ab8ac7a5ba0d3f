"""Tables that a benchmark writes into a page of the docs."""

import re
from collections.abc import Mapping
from pathlib import Path


def publish(tables: Mapping[str, str], page: Path, *, only_print: bool) -> None:
    """Replace what stands between each table's marks in a page, or print the tables.

    Args:
        tables: by the name that their marks carry.
        page: where the marks are, one pair for each table.
        only_print: leave the page as it is.
    """
    if only_print:
        print("\n\n".join(tables.values()))
        return
    text = page.read_text()
    for name, table in tables.items():
        text = _replaced(text, name, table)
    page.write_text(text)


def _replaced(text: str, name: str, table: str) -> str:
    pattern = rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)"
    filled, count = re.subn(pattern, lambda m: m[1] + table + "\n" + m[2], text, flags=re.DOTALL)
    assert count == 1, f"{name} occurs {count} times in the page"
    return filled
