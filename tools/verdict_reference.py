"""Writes docs/verdicts.md from the table of verdicts: `make docs`."""

from pathlib import Path
from typing import get_args

from plimsoll.model.judging.capacity import Verdict
from plimsoll.model.judging.verdicts import find_verdict_facts

PAGE = Path(__file__).parents[1] / "docs" / "verdicts.md"
HEAD = """\
# Verdicts

The verdict says what a search saw, and so what its figure is worth.
[method.md](method.md#the-verdict) has the exact conditions and which figure each one states,
[command-line.md](command-line.md#exit-codes) the exit codes. *Below* means on a report's page.
This page is generated: `make docs`.

| verdict | on the page | what was seen | whose limit | what to do next |
|---|---|---|---|---|
"""
LIMITS = {"target": "the database's", "client": "the clients'", "machine": "this machine's"}


def reference() -> str:
    """Return the page."""
    rows = []
    for verdict in get_args(Verdict):
        facts = find_verdict_facts(verdict)
        limit = "none was reached" if facts.limit is None else LIMITS[facts.limit]
        cells = (f"`{verdict}`", facts.name, facts.meaning, limit, facts.next_step)
        rows.append(f"| {' | '.join(cells)} |\n")
    return HEAD + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(reference())
