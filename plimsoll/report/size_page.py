"""The page of an answer of `plimsoll size`. Pure: figures in, text out."""

from plimsoll.report.page import fill
from plimsoll.report.size_tables import (
    MARKED,
    asked_words,
    demands_table,
    further_lines,
    options_table,
)
from plimsoll.sizing.answer import Sizing


def render(answer: Sizing) -> str:
    """Render the page: answer, ranking, measurements and assumptions."""
    return fill(
        "size.html.j2",
        [],
        answer=answer,
        asked=asked_words(answer),
        marked=MARKED,
        options=options_table(answer.options) if answer.options else None,
        measured=options_table(answer.measured),
        demands=demands_table(answer),
        lines=list(further_lines(answer)),
    )
