"""The page of an answer of `plimsoll size`. Pure: figures in, text out."""

from plimsoll.report.page import fill_template
from plimsoll.report.size_tables import (
    MARKED,
    describe_further,
    describe_question,
    make_demands_table,
    make_options_table,
)
from plimsoll.sizing.answer import Sizing


def render_sizing(answer: Sizing) -> str:
    """Render the page: answer, ranking, measurements and assumptions."""
    return fill_template(
        "size.html.j2",
        [],
        printed=f"What to buy, from {answer.run}",
        answer=answer,
        asked=describe_question(answer),
        marked=MARKED,
        options=make_options_table(answer.options) if answer.options else None,
        measured=make_options_table(answer.measured),
        demands=make_demands_table(answer),
        lines=list(describe_further(answer)),
    )
