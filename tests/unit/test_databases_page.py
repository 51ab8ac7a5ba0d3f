"""What the page on databases says of every protocol."""

from pathlib import Path
from typing import get_args

from plimsoll.model.engine.asked import Protocol
from plimsoll.words import ENGINES

PAGE = (Path(__file__).parents[2] / "docs/databases.md").read_text()


def test_what_counts_is_said_for_every_protocol_and_kind_of_answer() -> None:
    section = PAGE.partition("\n## What counts\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| ")]
    assert {len(row) for row in rows} == {1 + len(get_args(Protocol))}
    for name in (ENGINES["mysql"], ENGINES["postgres"], ENGINES["cassandra"]):
        assert name in " ".join(rows[0])
    asked = {row[0].removeprefix("| ") for row in rows}
    assert {"a read", "an update", "an insert", "a delete", "the end of a transaction"} <= asked
    assert "What no answer of any of them proves" in section
