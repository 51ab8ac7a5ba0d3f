"""What is bought for a history: the cheapest that is expected to carry it, beside today's."""

from typing import Literal

import numpy as np
import pytest

from plimsoll.model.aws.prices import PriceOverrides
from plimsoll.model.aws.volumes import Volume
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.quoting.prices import override_prices
from plimsoll.sizing.advise import Advice, Seen, advise
from plimsoll.sizing.lateness import History

PRICES = override_prices(PriceOverrides())


def make_seen(
    iops: float,
    volume: Volume,
    *,
    cpu: float = 0.3,
    instance_class: str = "db.m6i.xlarge",
    known: bool = True,
    source: Literal["cloudwatch", "server"] = "cloudwatch",
    gap: int = 0,
) -> Seen:
    rates = np.full(600, iops)
    history = History(
        60.0,
        1_790_000_000 + 60.0 * np.delete(np.arange(600 + gap), slice(300, 300 + gap)),
        np.column_stack((rates, 16_384 * rates)),
        rates / 1_000,
        np.full(600, cpu),
    )
    target = RdsTarget(
        engine="mysql", engine_version="8.4", instance_class=instance_class, volume=volume
    )
    return Seen("shop", source, target, known, history)


DEAR = Volume(type="io1", size_gib=200, iops=6_000)


def first(answer: Advice) -> Volume:
    return answer.choices[0].target.volume


def test_a_volume_that_is_too_large_gives_way_to_the_cheapest_that_carries_the_load() -> None:
    answer = advise(make_seen(2_000, DEAR), PRICES)
    assert first(answer) == Volume(type="gp3", size_gib=200)
    assert answer.choices[0].outlook == "carries"
    assert answer.standing == "over-provisioned"
    assert answer.usd_less == pytest.approx(200 * (0.125 - 0.115) + 6_000 * 0.1)
    assert answer.sentence == (
        "Buy MySQL 8.4 on db.m6i.xlarge, gp3 200 GiB for $273 a month, $602 less than today. It"
        " carries the load of the 10 h that were observed: with a probability of 90 % at most 0 %"
        " of the I/Os queue longer than 10 ms (0.1 % is the limit), at the worst 0 %."
    )


def test_what_fits_is_kept() -> None:
    answer = advise(make_seen(2_000, Volume(type="gp3", size_gib=200)), PRICES)
    assert answer.standing == "fits"
    assert answer.usd_less == 0
    assert answer.sentence.startswith("Keep MySQL 8.4 on db.m6i.xlarge, gp3 200 GiB, for $273")


def test_growth_asks_for_more() -> None:
    answer = advise(make_seen(2_000, Volume(type="gp3", size_gib=200)), PRICES, factor=2)
    assert first(answer).size_gib == 400
    assert answer.standing == "at risk"
    assert "2 times the load of the 10 h" in answer.sentence


def test_an_instance_without_load_is_idle() -> None:
    assert advise(make_seen(3, DEAR, cpu=0.01), PRICES).standing == "idle"


def test_classes_are_judged_where_they_are_asked_for() -> None:
    full = make_seen(2_000, DEAR, cpu=0.9)
    assert not advise(full, PRICES).choices
    answer = advise(full, PRICES, classes=True)
    assert answer.choices
    assert answer.choices[0].target.instance_class != "db.m6i.xlarge"
    assert all(choice.cpu_over == 0 for choice in answer.choices)
    assert "Nothing on this class" in advise(full, PRICES).sentence


def test_choices_come_by_price_and_agree_with_their_shares() -> None:
    choices = advise(make_seen(5_000, DEAR), PRICES).choices
    prices = [choice.usd_per_month or 0 for choice in choices]
    assert prices == sorted(prices)
    for choice in choices:
        assert choice.late_share_least <= choice.late_share <= choice.late_share_most
        assert choice.expected


def test_time_without_figures_is_told() -> None:
    def unknown(gap: int) -> str:
        return " ".join(advise(make_seen(2_000, DEAR, gap=gap), PRICES).unknown)

    assert "no load is assumed" not in unknown(0)
    assert "20 % of the time, in which no load is assumed" in unknown(150)  # of 750 minutes


@pytest.mark.parametrize(
    ("source", "command"),
    [("cloudwatch", "plimsoll advise DSN --for 1h"), ("server", "plimsoll workload derive DSN")],
)
def test_what_is_not_known_is_told_by_seconds_and_then_by_a_run(
    source: Literal["cloudwatch", "server"], command: str
) -> None:
    answer = advise(make_seen(2_000, DEAR, source=source), PRICES)
    assert answer.decides.startswith(command)


def test_what_a_volume_of_today_would_tell_is_not_told_without_one() -> None:
    answer = advise(make_seen(2_000, Volume(type="gp3", size_gib=200), known=False), PRICES)
    assert answer.today is None
    assert answer.usd_less is None
    assert answer.sentence.startswith("Buy ")
