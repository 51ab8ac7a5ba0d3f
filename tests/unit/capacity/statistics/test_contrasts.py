"""What noise may have chosen is no effect: intervals hold it as far as each search reaches."""

import math
from dataclasses import replace

import pytest

from plimsoll.capacity.statistics.contrasts import (
    Choice,
    Estimate,
    estimate_contrast,
    estimate_mean,
)
from plimsoll.model.run.experiment_record import Effect

RATIO, INTERACTION = (1.0, -1.0), (1.0, -1.0, -1.0, 1.0)


def chosen(at: float, low: float, high: float, *, power: float = 1.0) -> Estimate:
    """An answer without scatter on the curve load ** power."""
    curve = tuple((float(load), load**power) for load in (1, 2, 4, 8, 12, 16))
    middle = power * math.log(at)
    return Estimate(at**power, middle, error=0.0, choice=Choice(at, low, high, curve))


def ends(effect: Effect) -> tuple[float | None, float | None]:
    return effect.low, effect.high


@pytest.mark.parametrize(
    ("reaches", "low"),
    [
        ((8, 12), 1.0),  # each reaches the other
        ((8, 16), 1.0),  # as far as the other, no further
        ((10, 12), 10 / 8),  # so far only
        ((12, 12), 12 / 8),
    ],
)
def test_a_ratio_holds_what_it_would_be_at_loads_as_near_as_they_may_be(
    reaches: tuple[float, float], low: float
) -> None:
    heavier = chosen(12, *reaches)
    found = estimate_contrast(RATIO, [heavier, chosen(8, 8, 8)])
    assert (found.ratio, *ends(found)) == pytest.approx((1.5, low, 1.5))
    other_way = estimate_contrast(RATIO, [chosen(8, 8, 8), heavier])
    assert ends(other_way) == pytest.approx((1 / 1.5, 1 / low))


def test_where_throughput_hardly_grows_the_load_explains_as_little() -> None:
    pair = [chosen(12, 8, 12, power=0.25), chosen(8, 8, 8, power=0.25)]
    assert ends(estimate_contrast(RATIO, pair)) == pytest.approx((1.0, 1.5**0.25))


def test_where_throughput_falls_a_heavier_load_explains_less_of_it() -> None:
    """A database that collapses: 900 at 8, 600 at 12. One search stopped before, one after."""
    curve = ((2.0, 250.0), (4.0, 500.0), (8.0, 900.0), (12.0, 600.0))
    before, after = (
        Estimate(figure, math.log(figure), 0.0, choice=Choice(at, low, high, curve))
        for at, low, high, figure in ((8, 4, 12, 900.0), (12, 8, 16, 600.0))
    )
    assert ends(estimate_contrast(RATIO, [before, after]))[0] == pytest.approx(1.0)
    assert ends(estimate_contrast(RATIO, [after, before]))[1] == pytest.approx(1.0)


def test_an_interaction_holds_what_the_four_loads_explain_together() -> None:
    """Each of four alike cells may have been at 8 or at 12; one was at 12."""
    cells = [chosen(at, 8, 12) for at in (12, 8, 8, 8)]
    assert ends(estimate_contrast(INTERACTION, cells)) == pytest.approx((1.0, 1.5))
    cells = [chosen(at, 8, 12) for at in (12, 8, 8, 12)]
    assert ends(estimate_contrast(INTERACTION, cells)) == pytest.approx((1.0, 2.25))


def test_loads_that_answer_an_effect_explain_no_interaction() -> None:
    """Twice the load on one variant of each row is a gain, and none of the loads disagrees."""
    cells = [chosen(at, at, at) for at in (4, 8, 8, 16)]
    assert ends(estimate_contrast(INTERACTION, cells)) == pytest.approx((1.0, 1.0))
    assert ends(estimate_contrast((-0.5, 0.5, -0.5, 0.5), cells)) == pytest.approx((2.0, 2.0))


def test_errors_add_up_by_their_weights() -> None:
    known = [Estimate(100.0, math.log(100), error) for error in (0.01, 0.02, 0.02, 0.04)]
    found = estimate_contrast((-0.5, 0.5, 0.5, -0.5), known)
    assert found.high == pytest.approx(math.exp(1.959964 * 0.05 / 2))


def test_few_repetitions_that_agree_by_chance_scatter_as_the_others_of_their_run() -> None:
    assert estimate_mean([100, 100, 100], 0.03).error == pytest.approx(0.03 / math.sqrt(3))
    assert estimate_mean([100, 110], 0.03).error == pytest.approx(math.log(1.1) / 2)


def test_figures_of_different_kinds_have_no_interval_together() -> None:
    """An edge is a rate, a mean is a throughput: their ratio is that of the figures."""
    edge = Estimate(100.0, math.log(120), 0.01, kind="rate")
    mean = replace(estimate_mean([200.0, 202.0]), figure=200.0, kind="clients")
    found = estimate_contrast(RATIO, [mean, edge])
    assert found.ratio == pytest.approx(2.0)
    assert ends(found) == (None, None)
