"""docs/verdicts.md says what the table of verdicts says."""

from tools.verdict_reference import PAGE, reference


def test_the_page_is_what_the_table_gives() -> None:
    assert PAGE.read_text() == reference(), "run: make docs"
