"""A team's limits: never passed, never stuck, whoever asks, crashes or asks again."""

import threading
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from plimsoll.complaints import FieldPath, Range, Scalar
from plimsoll.errors import LimitReachedError
from plimsoll.model.deployment.deployment import Team
from plimsoll.teams.limits import Limits
from plimsoll.teams.room import Ask, compute_ask
from tests.support.aws_resources import SERVICE_TABLE
from tests.support.requested import quote_request
from tests.unit.quoting.test_quotes import ENDPOINT, request

AT = datetime(2026, 11, 21, 14, 0, tzinfo=UTC)
TEAM = Team(
    concurrent_runs=3,
    clients=100,
    provisioned_iops=10_000,
    usd_per_run=10.0,
    spend_usd_per_month=20.0,
)
pytestmark = pytest.mark.usefixtures("table")


def limits(**changes: Any) -> Limits:
    return Limits(SERVICE_TABLE, "dba", TEAM.model_copy(update=changes))


def ask(
    *,
    clients: int = 10,
    iops: int = 1000,
    usd_most: float | None = 2.0,
    clients_path: FieldPath = ("search", "clients"),
) -> Ask:
    return Ask(clients=clients, clients_path=clients_path, iops=iops, usd_most=usd_most)


def asked_and_allowed(error: LimitReachedError) -> tuple[str, Scalar, float | Decimal | None]:
    """Which field asks for too much, what it asks for, and the most that may stand there."""
    [complaint] = error.complaints
    allowed = complaint.allowed
    assert allowed is None or isinstance(allowed, Range)
    return complaint.field, complaint.value, None if allowed is None else allowed.most


def test_what_a_run_holds_is_counted_and_given_back() -> None:
    team = limits()
    assert team.acquire("a", ask(), at=AT)
    assert team.acquire("b", ask(clients=20, iops=0), at=AT)
    assert team.read_counters() == {
        "runs": 2,
        "clients": 30,
        "iops": 1000,
        "usd_2026_11": 4_000_000,
    }
    assert team.release("a", usd=0.5)
    assert team.read_counters() == {"runs": 1, "clients": 20, "iops": 0, "usd_2026_11": 2_500_000}
    assert set(team.read_grants()) == {"b"}


def test_to_ask_or_to_give_back_again_changes_nothing() -> None:
    team = limits()
    assert team.acquire("a", ask(), at=AT)
    assert not team.acquire("a", ask(), at=AT)
    assert team.release("a", usd=1.0)
    before = team.read_counters()
    assert not team.release("a", usd=1.0)
    assert not team.release("never-was", usd=1.0)
    assert (
        team.read_counters() == before == {"runs": 0, "clients": 0, "iops": 0, "usd_2026_11": 10**6}
    )


def test_a_cost_that_is_not_known_leaves_the_most_that_it_may_be() -> None:
    team = limits()
    team.acquire("a", ask(usd_most=7.5), at=AT)
    team.release("a", usd=None)
    assert team.read_counters()["usd_2026_11"] == 7_500_000


def test_each_month_has_its_own_spend_and_a_run_counts_where_it_began() -> None:
    team = limits()
    december = datetime(2026, 12, 1, tzinfo=UTC)
    team.acquire("a", ask(usd_most=9.0), at=AT)
    team.acquire("b", ask(usd_most=9.0), at=AT)
    with pytest.raises(LimitReachedError, match="spend_usd_per_month"):
        team.acquire("c", ask(usd_most=9.0), at=AT)
    assert team.acquire("c", ask(usd_most=9.0), at=december)
    team.release("a", usd=1.0)  # in December, say
    assert team.read_counters()["usd_2026_11"] == 10_000_000
    assert team.read_counters()["usd_2026_12"] == 9_000_000


def test_a_month_that_is_spent_is_told_from_one_whose_runs_may_cost_less() -> None:
    team = limits()
    team.acquire("a", ask(usd_most=9.0), at=AT)
    team.acquire("b", ask(usd_most=9.0), at=AT)
    with pytest.raises(LimitReachedError) as caught:
        team.acquire("c", ask(usd_most=9.0), at=AT)
    assert (caught.value.waiting_helps, caught.value.runs_make_room) == (True, True)
    for run in ("a", "b"):
        team.release(run, usd=9.0)
    with pytest.raises(LimitReachedError, match="; only the next month makes room") as caught:
        team.acquire("c", ask(usd_most=9.0), at=AT)
    assert (caught.value.waiting_helps, caught.value.runs_make_room) == (True, False)


@pytest.mark.parametrize(
    ("asked", "told", "about"),
    [
        (
            ask(clients=81),
            r"team dba: clients: 20 in use, the run asks for 81, the limit is 100",
            ("search.clients", 81, 80),
        ),
        (
            ask(iops=8001),
            r"provisioned_iops: 2,000 in use, the run asks for 8,001, the limit is 10,000",
            ("target.volume.iops", 8001, 8000),
        ),
        (
            ask(usd_most=9.99),
            r"spend_usd_per_month: \$11.00 in use, the run asks for \$9.99, the limit is \$20.00",
            ("budget_usd", None, 9.0),
        ),
    ],
)
def test_a_limit_that_is_reached_names_what_is_in_use_and_what_was_asked(
    asked: Ask, told: str, about: tuple[str, int | None, float]
) -> None:
    team = limits()
    team.acquire("a", ask(usd_most=5.5), at=AT)
    team.acquire("b", ask(usd_most=5.5), at=AT)
    with pytest.raises(LimitReachedError, match=told) as caught:
        team.acquire("c", asked, at=AT)
    assert caught.value.waiting_helps
    assert asked_and_allowed(caught.value) == about
    team.release("a", usd=0.0)
    assert team.acquire("c", asked, at=AT)


def test_no_more_runs_at_once_than_the_team_may_have() -> None:
    team = limits()
    for name in ("a", "b", "c"):
        team.acquire(name, ask(), at=AT)
    with pytest.raises(
        LimitReachedError, match=r"concurrent_runs: 3 in use, .* 1, .* is 3"
    ) as caught:
        team.acquire("d", ask(), at=AT)
    assert asked_and_allowed(caught.value) == ("team", "dba", None)


@pytest.mark.parametrize(
    ("asked", "told", "about"),
    [
        (
            ask(clients=101, clients_path=("prepare", "clients")),
            "clients: the run asks for 101, the limit is 100",
            ("prepare.clients", 101, 100),
        ),
        (
            ask(iops=10_001),
            "provisioned_iops: the run asks for 10,001, the limit is 10,000",
            ("target.volume.iops", 10_001, 10_000),
        ),
        (
            ask(usd_most=10.5),
            r"usd_per_run: the run may cost \$10.50, the limit is \$10\.00;",
            ("budget_usd", None, 10),
        ),
        (
            ask(usd_most=None),
            r"usd_per_run: \$10\.00 cannot be enforced: a price",
            ("target", None, None),
        ),
    ],
)
def test_what_no_waiting_makes_room_for_says_so(
    asked: Ask, told: str, about: tuple[str, int | None, float | None]
) -> None:
    with pytest.raises(LimitReachedError, match=told) as caught:
        limits().acquire("a", asked, at=AT)
    assert not caught.value.waiting_helps
    assert asked_and_allowed(caught.value) == about
    assert limits().read_counters() == {}


def test_where_there_is_no_limit_in_dollars_a_price_may_be_missing() -> None:
    team = limits(usd_per_run=None, spend_usd_per_month=None, provisioned_iops=None)
    assert team.acquire("a", ask(usd_most=None, iops=10**6), at=AT)


def test_teams_do_not_share_their_limits() -> None:
    one = limits(concurrent_runs=1)
    other = Limits(SERVICE_TABLE, "app", TEAM.model_copy(update={"concurrent_runs": 1}))
    assert one.acquire("a", ask(), at=AT)
    assert other.acquire("b", ask(), at=AT)
    with pytest.raises(LimitReachedError, match="team app"):
        other.acquire("c", ask(), at=AT)


class Crowd:
    """Runs that all ask at once, each in a thread: it holds its share until it is let go."""

    def __init__(self, team: Limits, asks: Mapping[str, Ask]) -> None:
        self._team = team
        self._asks = asks
        self._changed = threading.Condition()
        self._let_go: set[str] = set()
        self.left = len(asks)
        self.holding: dict[str, Ask] = {}
        self.waiting: set[str] = set()

    def run(self, name: str) -> None:
        while not self._asked(name):
            with self._changed:
                self.waiting.add(name)
                self._until(lambda: name not in self.waiting)
        with self._changed:
            self.holding[name] = self._asks[name]
            self._until(lambda: name in self._let_go)
            assert self._team.release(name, usd=0.1)
            del self.holding[name]
            self.left -= 1
            self.waiting.clear()
            self._changed.notify_all()

    def at_rest(self) -> None:
        """Wait until every run has either been let in or been refused."""
        with self._changed:
            self._until(lambda: len(self.holding) + len(self.waiting) == self.left)

    def let_one_go(self) -> None:
        """End a run; whoever was refused asks again, all at once."""
        with self._changed:
            left = self.left
            self._let_go.add(min(self.holding))
            self._until(lambda: self.left < left)

    def _asked(self, name: str) -> bool:
        try:
            return self._team.acquire(name, self._asks[name], at=AT)
        except LimitReachedError:
            return False

    def _until(self, true: Callable[[], bool]) -> None:
        self._changed.notify_all()
        assert self._changed.wait_for(true, timeout=120)


def room(held: Collection[Ask]) -> tuple[int, int, int]:
    """What is left of the team's runs, clients and IOPS."""
    clients, iops = (sum(getattr(one, what) for one in held) for what in ("clients", "iops"))
    assert TEAM.provisioned_iops is not None
    return TEAM.concurrent_runs - len(held), TEAM.clients - clients, TEAM.provisioned_iops - iops


def test_many_submissions_at_once_never_pass_a_limit_and_all_get_their_turn() -> None:
    """Twelve runs at once want three places, 100 clients and 10,000 IOPS."""
    asks = {
        f"run-{n:02}": ask(clients=20 + 5 * n, iops=2000 * (1 + n % 3), usd_most=1.0)
        for n in range(12)
    }
    team = limits(usd_per_run=None, spend_usd_per_month=None)
    crowd = Crowd(team, asks)
    threads = [threading.Thread(target=crowd.run, args=(name,), daemon=True) for name in asks]
    for thread in threads:
        thread.start()
    while crowd.left:
        crowd.at_rest()
        assert crowd.holding, "room, and nobody is let in"
        assert set(team.read_grants()) == set(crowd.holding)
        runs, clients, iops = room(crowd.holding.values())
        assert min(runs, clients, iops) >= 0, crowd.holding
        for name in crowd.waiting:
            refused = asks[name]
            assert runs < 1 or clients < refused.clients or iops < refused.iops, name
        crowd.let_one_go()
    for thread in threads:
        thread.join()
    counted = team.read_counters()
    assert counted == {"runs": 0, "clients": 0, "iops": 0, "usd_2026_11": 1_200_000}
    assert team.read_grants() == {}


def test_a_run_asks_for_its_largest_step_its_volume_and_the_most_that_it_may_cost() -> None:
    asked = request(search={"strategy": "ramp", "clients_max": 40})
    quoted = quote_request(asked)
    assert quoted.usd is not None
    assert compute_ask(asked, quoted) == Ask(
        clients=40, clients_path=("search", "clients_max"), iops=3000, usd_most=quoted.usd.most
    )
    loaders = request(prepare={"clients": 64})
    of_loaders = compute_ask(loaders, quote_request(loaders))
    assert (of_loaders.clients, of_loaders.clients_path) == (64, ("prepare", "clients"))
    bounded = request(budget_usd=0.5)
    assert compute_ask(bounded, quote_request(bounded)).usd_most == 0.5
    endpoint = request(target=ENDPOINT)
    assert compute_ask(endpoint, quote_request(endpoint)).iops == 0
