"""What is printed on a terminal of any width."""

import io

import pytest
from rich.console import Console

from plimsoll.cli.capacity_text import print_capacity
from plimsoll.cli.run_text import print_result
from tests.support.synthetic_run import synthetic_run


def printed(width: int) -> str:
    console = Console(width=width, file=io.StringIO())
    result, _ = synthetic_run()
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
