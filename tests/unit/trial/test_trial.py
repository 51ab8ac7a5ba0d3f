"""A canary's course: whatever happens, what was made is destroyed, or named with its command."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from plimsoll.client.service_client import Service
from plimsoll.errors import PlimsollError
from plimsoll.model.request.request import Request
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.trial import trial as course
from plimsoll.trial.place import Left, Teller
from plimsoll.trial.trial import Trial, run_canary
from plimsoll.workflow.status import Snapshot
from tests.support.synthetic_run import START, request, synthetic_run

RESULT, _ = synthetic_run()


@dataclass
class Told:
    """A teller that remembers, and may raise at a word."""

    said: list[str] = field(default_factory=list)
    at: Callable[[str], None] = lambda _: None

    def say(self, text: str) -> None:
        self.said.append(text)
        self.at(text)

    def status(self, text: str) -> None:
        self.say(text)

    def show(self, now: Snapshot) -> None:
        self.say(f"run {now.record.state}")


@dataclass
class Somewhere:
    """A place that does nothing but note what is asked of it; it is its own service, too."""

    name: str = "somewhere"
    did: list[str] = field(default_factory=list)
    deploying: Callable[[], None] = lambda: None
    destroying: Callable[[], None] = lambda: None
    occupied: str | None = None
    of_run: list[Left] = field(default_factory=list)
    of_deployment: list[Left] = field(default_factory=list)
    states: Iterator[RunState] = field(default_factory=lambda: iter(()))

    def creates(self) -> list[str]:
        return []

    def require_free(self) -> None:
        if self.occupied:
            raise PlimsollError(self.occupied)

    def deploy(self, teller: Teller) -> Service:
        self.did.append("deploy")
        teller.status("deploying")
        self.deploying()
        return cast("Service", self)

    def list_left_of_run(self, run_id: str) -> list[Left]:
        assert run_id == RESULT.run_id
        return self.of_run

    def destroy(self, teller: Teller) -> None:
        teller.status("destroying")
        self.did.append("destroy")
        self.destroying()

    def list_left_of_deployment(self) -> list[Left]:
        return self.of_deployment

    def submit(self, asked: Request, key: str) -> Any:
        assert (asked, key) == (request(), "canary")
        self.did.append("submit")
        return _record(RunState.RUNNING).model_copy(update={"run_id": RESULT.run_id})

    def stop(self, run_id: str) -> None:
        self.did.append(f"stop {run_id}")

    def runs(self, *, most: int) -> list[RunRecord]:
        del most
        state = RunState.RUNNING if "submit" in self.did else RunState.SUCCEEDED
        return [_record(RunState.SUCCEEDED if self.state.ended else state)]

    state: RunState = RunState.PENDING

    def next_state(self) -> RunState:
        self.state = next(self.states)
        return self.state


def _record(state: RunState) -> RunRecord:
    return RunRecord(
        run_id=RESULT.run_id,
        name="canary",
        team="canary",
        state=state,
        request_sha256="",
        submitted_at=START,
        time_limit_s=600,
    )


class Watched:
    """Watches a run of `Somewhere`."""

    def __init__(self, service: Somewhere, run_id: str) -> None:
        assert run_id == RESULT.run_id
        self._service = service

    def look(self) -> Snapshot:
        return Snapshot(_record(self._service.next_state()), None, ())

    def wait(self, show: Callable[[Snapshot], None]) -> None:
        while not self._service.state.ended:
            show(self.look())


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "RemoteWatcher", Watched)
    monkeypatch.setattr(course, "fetch_result", lambda *_: (RESULT, b"", None))
    monkeypatch.setattr(course, "POLL_S", 0.0)
    monkeypatch.setattr(course, "_LOOK_EVERY_S", 0.0)


def tried(place: Somewhere, told: Told | None = None, **given: Any) -> Trial:
    given = {"lasts_s": 600.0, "tag_patience_s": 0.0, **given}
    return run_canary(place, request(), teller=told or Told(), **given)


def running(*states: RunState) -> Iterator[RunState]:
    return iter((RunState.RUNNING, *states))


WELL = (RunState.SUCCEEDED,)
STACK = Left("the stack plimsoll-canary", "aws cloudformation delete-stack ...")


def test_it_deploys_runs_asserts_and_destroys() -> None:
    place = Somewhere(states=running(*WELL))
    trial = tried(place)
    assert place.did == ["deploy", "submit", "destroy"]
    assert trial.passed
    assert trial.result is RESULT
    assert [finding.what for finding in trial.findings][-2:] == [
        "nothing is left of the target",
        "nothing is left of the deployment",
    ]


def test_a_check_that_fails_comes_before_anything_is_made() -> None:
    place = Somewhere()

    def quota(asked: Request) -> None:
        raise PlimsollError(f"{asked.name}: no quota for it")

    with pytest.raises(PlimsollError, match="no quota"):
        tried(place, checks=[quota])
    assert place.did == []


def test_a_place_that_is_taken_is_left_alone() -> None:
    place = Somewhere(occupied="there is one already")
    with pytest.raises(PlimsollError, match="already"):
        tried(place)
    assert place.did == []


def test_a_target_left_behind_fails_it() -> None:
    place = Somewhere(states=running(*WELL), of_run=[Left("db:plimsoll-r1", "aws rds ...")])
    trial = tried(place)
    assert not trial.passed
    assert [f.seen for f in trial.findings if not f.holds] == ["still there: db:plimsoll-r1"]


def test_what_is_only_late_to_go_is_waited_for() -> None:
    place = Somewhere(states=running(*WELL), of_run=[Left("db:plimsoll-r1", "aws rds ...")])
    told = Told(at=lambda text: place.of_run.clear() if "still listed" in text else None)
    assert tried(place, told, tag_patience_s=600.0).passed


def raises(error: BaseException) -> Callable[[], None]:
    def act() -> None:
        raise error

    return act


@pytest.mark.parametrize("error", [PlimsollError("no bootstrap"), OSError("no disk")])
def test_a_deployment_that_fails_is_destroyed(error: Exception) -> None:
    place = Somewhere(deploying=raises(error))
    trial = tried(place)
    assert place.did == ["deploy", "destroy"]
    assert trial.problem == str(error)
    assert not trial.passed


def test_ctrl_c_while_deploying_destroys() -> None:
    place = Somewhere(deploying=raises(KeyboardInterrupt()))
    trial = tried(place)
    assert place.did == ["deploy", "destroy"]
    assert (trial.interrupted, trial.passed) == (True, False)


def test_ctrl_c_while_it_runs_stops_the_run_first() -> None:
    place = Somewhere(states=running(RunState.STOPPING, RunState.STOPPED))
    interrupts = iter([KeyboardInterrupt()])

    def at(text: str) -> None:
        if text == "run RUNNING":
            raise next(interrupts)

    trial = tried(place, Told(at=at))
    assert place.did == ["deploy", "submit", f"stop {RESULT.run_id}", "destroy"]
    assert trial.interrupted
    assert trial.left == []


def test_the_end_of_the_budgets_time_stops_the_run_and_destroys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr("plimsoll.trial.trial.time.monotonic", lambda: now[0])
    place = Somewhere(states=running(RunState.RUNNING, RunState.STOPPED))

    def at(text: str) -> None:
        if text == "run RUNNING":
            now[0] += 400

    trial = tried(place, Told(at=at), lasts_s=300.0)
    assert place.did == ["deploy", "submit", f"stop {RESULT.run_id}", "destroy"]
    assert trial.problem == "the 5 min that the budget buys are over"
    assert not trial.passed


def test_what_cannot_be_destroyed_is_named_with_its_command() -> None:
    place = Somewhere(
        states=running(*WELL),
        destroying=raises(PlimsollError("npx cdk destroy failed")),
        of_deployment=[STACK],
    )
    trial = tried(place)
    assert trial.left == [STACK]
    assert trial.problem == "npx cdk destroy failed"
    assert not trial.passed


def test_a_second_ctrl_c_leaves_it_and_says_what() -> None:
    place = Somewhere(
        deploying=raises(KeyboardInterrupt()),
        destroying=raises(KeyboardInterrupt()),
        of_deployment=[STACK],
    )
    trial = tried(place)
    assert trial.interrupted
    assert trial.left == [STACK]
