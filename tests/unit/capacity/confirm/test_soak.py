"""The answer's load is held for longer: stalls, spans beyond a limit and a falling throughput."""

import math
from collections.abc import Callable, Sequence

import pytest

from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.closing import Soak
from plimsoll.model.judging.debt import DebtGrowth
from plimsoll.model.judging.steps import Span, Step
from plimsoll.model.request.search_request import NextStep
from tests.unit.capacity.simulators import QUIET, queue
from tests.unit.capacity.trials import Trial, run, search_for

RULES = Rules(soak_s=1800)
LIMITS = Rules(limits_us={"read": 15_000, "update": 25_000}, soak_s=1800)


def spans(step: Step, *, factors: Sequence[float] = (), slow: int = 0) -> tuple[Span, ...]:
    """A window of 60 spans: throughput by factor, `slow` of them with slow updates."""
    throughput = step.throughput_ops_per_second or 0.0
    usual = {name: values["p99"] for name, values in step.latency_us.items()}
    beyond = {"read": usual["read"], "update": 100 * usual["update"]}
    return tuple(
        Span(
            throughput_ops_per_second=throughput * (factors[place] if factors else 1.0),
            latency_us=beyond if place < slow else usual,
        )
        for place in range(60)
    )


def soaked(
    rules: Rules = RULES,
    *,
    stall_s: float | None = 0.0,
    fall: float = 0.0,
    wave: Callable[[int], float] = lambda _: 1.0,
    slow: int = 0,
    debt: DebtGrowth | None = None,
    strategy: str = "steps",
) -> Trial:
    """A search whose soak shows something: in every window, or a fall over all of them."""
    windows: list[int] = []

    def fault(asked: NextStep, step: Step) -> Step:
        if asked.purpose != "soak":
            return step
        begun = len(windows) * 60
        windows.append(asked.index)
        places = range(begun, begun + 60)
        factors = [(1 - fall * place / 180) * wave(place) for place in places]
        told = {
            "window_s": asked.duration_s,
            "spans": spans(step, factors=factors, slow=slow),
            "stall_s": stall_s,
            "debt": debt,
        }
        return step.model_copy(update=told)

    return run(search_for(strategy, queue()), queue(), QUIET, 0, rules, fault=fault)


def timed(pauses_s: Sequence[float], *, lead_s: float = 22.0) -> Trial:
    """A search whose soak has windows of 10 minutes with these pauses before the later ones."""
    ended_ms: list[int] = []

    def fault(asked: NextStep, step: Step) -> Step:
        if asked.purpose != "soak":
            return step
        pause_s = pauses_s[len(ended_ms) - 1] if ended_ms else 0.0
        begun = (ended_ms[-1] if ended_ms else 1_000_000) + round(1000 * pause_s)
        ended_ms.append(begun + 600_000)
        told = {
            "window_s": 600,
            "spans": spans(step),
            "stall_s": 0.0,
            "called_epoch_ms": begun - round(1000 * lead_s),
            "load_start_epoch_ms": begun,
            "load_end_epoch_ms": begun + 600_000,
        }
        return step.model_copy(update=told)

    return run(search_for("steps", queue()), queue(), QUIET, 0, RULES, fault=fault)


def soak_of(capacity: Capacity) -> Soak:
    assert capacity.closing is not None
    assert capacity.closing.soak is not None
    return capacity.closing.soak


@pytest.mark.parametrize("strategy", ["steps", "ramp", "rate"])
def test_the_answer_is_held_in_windows_that_one_client_can_run(strategy: str) -> None:
    trial = soaked(strategy=strategy)
    held = [asked for asked in trial.closing if asked.purpose == "soak"]
    assert [asked.duration_s for asked in held] == [600, 600, 600]
    axis = {"steps": "clients", "ramp": "connections", "rate": "rate_ops_per_second"}[strategy]
    assert {getattr(asked, axis) for asked in held} == {trial.capacity.at}
    found = soak_of(trial.capacity)
    assert (found.passed, found.held_s, found.spans_beyond) == (True, 1800, 0)
    assert trial.capacity.verdict in {"KNEE", "PLATEAU"}


def test_its_windows_are_asked_for_at_once_so_that_fleets_can_follow_each_other() -> None:
    held = [asked for asked in soaked().closing if asked.purpose == "soak"]
    assert [asked.why for asked in held] == [
        f"soak: window {number} of 3, 30 min in all" for number in (1, 2, 3)
    ]
    assert [asked.then for asked in held] == [
        (held[1].why, held[2].why), (held[2].why,), ()
    ]  # fmt: skip


def test_a_soak_says_that_its_load_never_paused_and_how_long_two_fleets_were_there() -> None:
    found = soak_of(timed([0.0, 0.003]).capacity)
    assert found.detail == (
        "held for 30 min in 3 windows without a pause (each fleet connected up to 22 s before its"
        " turn)"
    )
    assert (found.gap_s, found.overlap_max_s) == (0.003, 22.0)
    assert [window.gap_s for window in found.windows] == [None, 0.0, 0.003]
    assert [window.overlap_s for window in found.windows] == [None, 22.0, 21.997]
    assert {window.clients for window in found.windows} == {found.windows[0].clients}


def test_a_soak_says_how_long_its_load_paused() -> None:
    found = soak_of(timed([0.0, 62.0]).capacity)
    assert found.detail == (
        "held for 30 min in 3 windows with 1 pause, 1 min 2 s without load in all"
    )
    assert (found.gap_s, found.overlap_max_s) == (62.0, 22.0)


def test_without_it_nothing_is_held() -> None:
    trial = run(search_for("steps", queue()), queue(), QUIET, 0)
    assert "soak" not in {asked.purpose for asked in trial.closing}
    assert trial.capacity.closing is not None
    assert trial.capacity.closing.soak is None


def test_a_stall_ends_the_soak_and_the_answer() -> None:
    trial = soaked(stall_s=6.0)
    assert sum(asked.purpose == "soak" for asked in trial.closing) == 1
    capacity = trial.capacity
    assert (capacity.verdict, capacity.bound, capacity.causes) == ("NOT_SUSTAINED", "<", ("soak",))
    assert capacity.max_sustainable_throughput_ops_per_second is not None
    assert capacity.bracket is not None
    assert capacity.bracket[0] is None
    assert "almost no operation succeeded for 6 s" in capacity.summary


def test_a_second_without_an_answer_is_no_stall() -> None:
    assert soaked(stall_s=1.0).capacity.verdict == "KNEE"


def test_all_operations_of_its_windows_decide_and_no_single_spans() -> None:
    capacity = soaked(slow=7).capacity
    assert (capacity.verdict, soak_of(capacity).spans_beyond) == ("KNEE", 21)


def test_a_soak_whose_log_only_fills_does_not_last() -> None:
    growth = DebtGrowth(
        limit_bytes=100_000, start_bytes=60_000, end_bytes=66_000, peak_bytes=66_000,
        written_bytes=100_000, lent_bytes=6_000, interval_s=100, waves=0, judged=True,
    )  # fmt: skip
    capacity = soaked(debt=growth).capacity
    assert capacity.verdict == "NOT_SUSTAINED"
    assert "the log only filled: 6 %" in capacity.summary


def test_throughput_that_falls_all_the_while_does_not_last() -> None:
    fallen = soaked(fall=0.4).capacity
    assert fallen.verdict == "NOT_SUSTAINED"
    assert "throughput fell by" in fallen.summary
    assert soaked(fall=0.05).capacity.verdict == "KNEE"


@pytest.mark.parametrize("twelfth", range(12))
def test_throughput_that_goes_up_and_down_for_minutes_has_not_fallen(twelfth: int) -> None:
    def wave(span: int) -> float:
        """Compactions: five minutes from one to the next."""
        return 1 + 0.3 * math.sin(2 * math.pi * (span / 30 + twelfth / 12))

    assert soaked(wave=wave).capacity.verdict == "KNEE"


def test_its_windows_are_kept_out_of_the_probes_of_the_search() -> None:
    whole = soaked()
    most = len(whole.asked) + 3 + 2  # those of the sentinels are kept as well
    search = search_for("steps", queue()).model_copy(update={"probes_max": most})
    trial = run(search, queue(), QUIET, 0, RULES)
    assert len(trial.asked) == len(whole.asked)
    assert len(trial.steps) == most


@pytest.mark.parametrize("strategy", ["steps", "ramp", "rate"])
def test_other_closing_steps_leave_a_soak_its_windows(strategy: str) -> None:
    whole = soaked(strategy=strategy)
    for spare in range(3 + 2, len(whole.closing) + 1):
        most = len(whole.asked) + spare
        search = search_for(strategy, queue()).model_copy(update={"probes_max": most})
        trial = run(search, queue(), QUIET, 0, RULES)
        assert trial.capacity.at is not None
        assert soak_of(trial.capacity).passed
        assert sum(asked.purpose == "soak" for asked in trial.closing) == 3


def test_a_soak_that_was_cut_short_says_how_long_it_was_held() -> None:
    def void(asked: NextStep, step: Step) -> Step:
        return (
            step.model_copy(update={"void": "all clients came too late"})
            if (asked.purpose == "soak")
            else step
        )

    search = search_for("steps", queue())
    capacity = run(search, queue(), QUIET, 0, RULES, fault=void).capacity
    found = soak_of(capacity)
    assert (found.passed, found.held_s) == (None, 0)
    assert any("held for 0 s of 30 min" in note for note in capacity.notes)


def test_void_windows_are_tries_too() -> None:
    def void(asked: NextStep, step: Step) -> Step:
        late = {"void": "all clients came too late"}
        return step.model_copy(update=late) if asked.purpose == "soak" else step

    trial = run(search_for("steps", queue()), queue(), QUIET, 0, RULES, fault=void)
    assert sum(asked.purpose == "soak" for asked in trial.closing) == 5
    assert trial.capacity.verdict == "KNEE"


def test_a_load_that_is_tried_once_is_held_all_the_same_if_that_is_asked() -> None:
    trial = soaked(RULES.model_copy(update={"confirmation": None}), stall_s=6.0)
    assert {asked.purpose for asked in trial.closing} == {"soak"}
    assert trial.capacity.verdict == "NOT_SUSTAINED"
