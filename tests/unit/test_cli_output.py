"""What is printed on a terminal of any width."""

import io

import pytest
from rich.console import Console

from plimsoll.cli.capacity import print_capacity
from plimsoll.cli.run_text import print_result
from plimsoll.model.run.results import Candidate, LimitingResource
from tests.support.synthetic_run import synthetic_run


def printed(width: int, limiting: LimitingResource | None = None) -> str:
    console = Console(width=width, file=io.StringIO())
    result, _ = synthetic_run()
    if limiting is not None:
        result = result.model_copy(update={"limiting": limiting})
    print_result(result, None, console)
    assert result.capacity is not None
    print_capacity(result.capacity, console)
    assert console.width == width
    told = console.file.getvalue()  # type: ignore[attr-defined]  # it is the one above
    assert isinstance(told, str)
    return told


@pytest.mark.parametrize("width", [20, 50, 80])
def test_no_figure_is_cut_on_a_narrow_terminal(width: int) -> None:
    narrow = printed(width)
    assert "…" not in narrow
    assert narrow.split() == printed(300).split()


@pytest.mark.parametrize(
    ("reached", "first"),
    [(True, "Limited by: row locks (step 4)"), (False, "Nearest to its limit: row locks, 80 %")],
)
def test_what_set_the_limit_is_told_with_the_second_and_what_would_have_to_change(
    *, reached: bool, first: str
) -> None:
    second = Candidate(
        resource="cpu", share=0.62, threshold=0.9, reached=False, evidence="", to_change="more"
    )
    limiting = LimitingResource(
        resource="row_locks", reached=reached, share=0.8, to_change="shorter transactions",
        second=second, host_bound=None, step=4, evidence=("row locks: 99 waits",),
    )  # fmt: skip
    told = printed(300, limiting)
    assert first in told
    assert "  remedy: shorter transactions\n" in told
    assert "  second: CPU, 62 %; remedy: more\n" in told
    assert "  row locks: 99 waits\n" in told
