"""Whole searches on a volume with credits: 300 I/Os a second last, 3,000 while some are left."""

import random

import pytest

from plimsoll.capacity.credits import judge_sustained
from plimsoll.capacity.search import plan_next_step
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.steps import CreditUse, Step
from plimsoll.model.request.search_request import NextStep, RampSearch, RateSearch, Search

LASTS, BURST, FULL = 300.0, 3000.0, 5_400_000.0
WARMUP_S, WINDOW_S, BETWEEN_S = 30.0, 60.0, 40.0
BASE_US = 1_000.0
RULES = Rules(limits_us={"read": 3 * BASE_US})
SEARCHES: list[Search] = [
    RateSearch(rate_first_ops_per_second=100, rate_max_ops_per_second=6000),
    RampSearch(connections_max=64),
]


class Gp2:
    """One I/O an operation; its time passes with the steps."""

    def __init__(self, seed: int, credits_left: float) -> None:
        self._draws = random.Random(seed)
        self._credits = credits_left

    def answer(self, planned: NextStep) -> Step:
        self._earn(BETWEEN_S)
        self._load(planned, WARMUP_S)
        done, least = self._load(planned, WINDOW_S)
        # what is offered and done is counted to the operation; who waits is slowed now and then
        noise = 0.0 if planned.rate_ops_per_second else 0.02
        x = done / WINDOW_S * self._draws.lognormvariate(0, noise)
        wanted = self._wanted(planned)
        slow = wanted > 0.98 * (BURST if least > 0 else LASTS)
        us = BASE_US * (20 if slow else 1) * self._draws.lognormvariate(0, 0.05)
        if planned.rate_ops_per_second is None:
            us = max(us, planned.connections / x * 1e6)
        use = CreditUse(
            bucket="volume",
            used_per_s=done / WINDOW_S,
            earned_per_s=LASTS,
            full=FULL,
            balance_percent=100 * least / FULL,
        )
        return Step(
            index=planned.index + 1,
            purpose=planned.purpose,
            clients=planned.clients,
            connections=planned.connections,
            rate_ops_per_second=planned.rate_ops_per_second,
            throughput_ops_per_second=x,
            operations=int(x * WINDOW_S),
            errors=0,
            window_s=WINDOW_S,
            latency_us={"read": {"p99": us}},
            credits=(use,),
            window_factor=planned.window_factor,
        )

    def _wanted(self, planned: NextStep) -> float:
        return planned.rate_ops_per_second or planned.connections / BASE_US * 1e6

    def _earn(self, seconds: float) -> None:
        self._credits = min(FULL, self._credits + LASTS * seconds)

    def _load(self, planned: NextStep, seconds: float) -> tuple[float, float]:
        """Do I/Os second by second; gives how many, and the least credits left."""
        done, least = 0.0, self._credits
        for _ in range(round(seconds)):
            self._earn(1)
            each = min(self._wanted(planned), BURST, self._credits)
            self._credits -= each
            done += each
            least = min(least, max(0.0, self._credits - LASTS))
        return done, least


def searched(search: Search, seed: int, credits_left: float) -> Capacity:
    volume, finished = Gp2(seed, credits_left), list[Step]()
    while isinstance(following := plan_next_step(search, finished, RULES), NextStep):
        finished.append(volume.answer(following))
    return judge_sustained(finished, RULES)


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.strategy)
@pytest.mark.parametrize("credits_left", [FULL, FULL / 20, 0.0], ids=["full", "a few", "none"])
def test_no_search_claims_what_only_credits_pay_for(search: Search, credits_left: float) -> None:
    """All of them claimed 3,000 where 300 last."""
    for seed in range(12):
        capacity = searched(search, seed, credits_left)
        figure = capacity.max_sustainable_throughput_ops_per_second
        assert figure is None or figure <= LASTS * 1.03, capacity.summary
        if capacity.verdict in {"NOISY", "INCONSISTENT"}:
            assert any("burst credits" in note for note in capacity.notes), capacity.notes
        if credits_left == FULL:
            assert capacity.burst is not None, capacity.notes
            burst = capacity.burst.max_throughput_ops_per_second
            assert 0.6 * BURST < burst < 1.03 * BURST
            assert capacity.burst.lasts_s == pytest.approx(FULL / (burst - LASTS), rel=0.1)
