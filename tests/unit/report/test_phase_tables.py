"""A phase with a search stands beside those to completion, on the page and among the figures."""

from plimsoll.model.run.results import PhaseResult
from plimsoll.report.comparing.ratios import list_repetitions
from plimsoll.report.page import render_run
from plimsoll.report.phase_tables import list_phase_figures, make_run_phases_table
from tests.support.synthetic_run import synthetic_run

RESULT, SECONDS = synthetic_run()
ASK = PhaseResult(
    name="ask",
    workload="ycsb-c",
    records=None,
    loads=(),
    steps=(2, 3),
    capacity=RESULT.capacity,
    limit="storage IOPS set the limit",
    sentence="it <sustains> so much",
)


def test_of_a_search_alone_the_page_has_its_sentence_and_no_empty_table() -> None:
    assert make_run_phases_table([ASK]) is None
    page = render_run(RESULT.model_copy(update={"phases": (ASK,)}), SECONDS)
    assert "<h2>Phases</h2>" in page
    assert "ask: it &lt;sustains&gt; so much." in page
    assert "Phases, to completion" not in page


def test_its_repetitions_are_figures_that_another_runs_can_be_held_against() -> None:
    assert RESULT.capacity is not None
    found = list_phase_figures(RESULT.model_copy(update={"phases": (ASK,)}))
    (figures,) = found.values()
    assert list(found) == ["ask, its search"]
    assert figures.values == tuple(list_repetitions(RESULT.capacity))
    assert len(figures.values) > 1
    assert figures.limit == "storage IOPS set the limit"


def test_a_bound_is_no_figure() -> None:
    assert RESULT.capacity is not None
    bound = RESULT.capacity.model_copy(update={"bound": ">="})
    asked = ASK.model_copy(update={"capacity": bound})
    (figures,) = list_phase_figures(RESULT.model_copy(update={"phases": (asked,)})).values()
    assert figures.values == ()
