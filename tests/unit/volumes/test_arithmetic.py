"""The native core under a virtual clock: caps, credits, queues and faults, to the I/O."""

import errno
import heapq
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.model.aws.instances import InstanceLimits, instance_limits
from plimsoll.model.aws.volume_rules import Fail, FaultPlan, Heal, Slow, Stall
from plimsoll.model.aws.volumes import Volume, VolumeLimits, limits
from plimsoll.volumes.config import VolumeSettings, draw_latencies_ns, make_native_config
from plimsoll.volumes.convert import convert_fault
from plimsoll.volumes.native import LATENCY_DRAWS, State, load_core

S = 1_000_000_000  # ns
START = 1_000 * S
READ, WRITE, FLUSH = range(3)
KIB = 1024


class Virtual:
    """A volume on a clock of the test's own."""

    def __init__(self, path: Path, promise: VolumeLimits, **more: object) -> None:
        path.unlink(missing_ok=True)
        config = make_native_config(
            directory="/nowhere",
            limits=promise,
            instance_limits=more.get("instance"),  # type: ignore[arg-type]  # tests pass the right one
            settings=VolumeSettings(),
            balance=more.get("balance"),  # type: ignore[arg-type]  # likewise
        )
        State.create(path, config, START)
        self.state = State(path)
        self._draws = 0

    def reserve(
        self, now_ns: int, *, ios: float = 1, size: int = 16 * KIB, kind: int = READ
    ) -> int:
        """Book I/O; answer when it is done."""
        self._draws = (self._draws + 389) % LATENCY_DRAWS  # walks through every latency
        booking = load_core().volume_reserve(
            self.state.pointer, kind, ios, int(size * ios), now_ns, self._draws
        )
        return int(booking.due_ns)

    def credits(self, now_ns: int) -> float:
        return float(self.state.sample(now_ns).credits)

    def inject(self, fault: FaultPlan, now_ns: int = START) -> None:
        self.state.inject(convert_fault(fault, now_ns))

    def closed_loop(
        self,
        workers: int,
        seconds: float,
        *,
        ios: float = 1,
        size: int = 16 * KIB,
        at: int = START,
        warmup_s: float = 0,
    ) -> tuple[float, float]:
        """Let workers read one after the other; give IOPS and mean latency in us."""
        waiting = [at] * workers
        begin = at + round(warmup_s * S)
        done, latency, end = 0, 0, begin + round(seconds * S)
        while (now := heapq.heappop(waiting)) < end:
            due = self.reserve(now, ios=ios, size=size)
            if begin < due <= end:
                done, latency = done + 1, latency + due - now
            heapq.heappush(waiting, due)
        return done * ios / seconds, latency / done / 1000


@pytest.fixture
def virtual(tmp_path: Path) -> Iterator[Callable[..., Virtual]]:
    made: list[Virtual] = []

    def create(promise: VolumeLimits, **more: object) -> Virtual:
        made.append(Virtual(tmp_path / f"state-{len(made)}", promise, **more))
        return made[-1]

    yield create
    for each in made:
        each.state.close()


def provisioned(iops: int) -> VolumeLimits:
    return limits(Volume(type="io1", size_gib=2_000, iops=iops))


@pytest.mark.parametrize("iops", [100, 250, 1_000, 3_000, 7_777, 16_000, 64_000])
def test_the_cap_holds_to_a_thousandth(virtual: Callable[..., Virtual], iops: int) -> None:
    volume = virtual(provisioned(iops))
    seconds = 40_000 / max(iops, 2_000)  # I/O enough to tell a thousandth
    got, _ = volume.closed_loop(128, seconds, size=4 * KIB, warmup_s=min(2, 10_000 / iops))
    assert got == pytest.approx(iops, rel=0.001)


@pytest.mark.parametrize("workers", [2, 8, 64])
def test_beyond_the_cap_latency_is_what_little_says(
    virtual: Callable[..., Virtual], workers: int
) -> None:
    got, latency_us = virtual(provisioned(1_000)).closed_loop(workers, 30)
    assert got == pytest.approx(1_000, rel=0.01)
    assert latency_us == pytest.approx(1e6 * workers / 1_000, rel=0.02)


@pytest.mark.parametrize("workers", [1, 4])
def test_below_the_cap_latency_is_the_base_latency(
    virtual: Callable[..., Virtual], workers: int
) -> None:
    got, latency_us = virtual(provisioned(64_000)).closed_loop(workers, 10)
    assert latency_us == pytest.approx(700, rel=0.01)
    assert got == pytest.approx(workers / 700e-6, rel=0.01)


@given(size_gib=st.integers(1, 900), balance=st.floats(1_000, 5.4e6))
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_a_gp2_burst_lasts_as_the_formula_says(
    virtual: Callable[..., Virtual], size_gib: int, balance: float
) -> None:
    promise = limits(Volume(type="gp2", size_gib=size_gib))
    assert promise.baseline_iops is not None
    volume = virtual(promise, balance=balance)
    expected_s = balance / (3_000 - promise.baseline_iops)
    ios = balance / 2_000  # many at once: the arithmetic is the same, the test is quick
    now = START
    while volume.credits(now) >= ios:
        volume.reserve(now, ios=ios, size=1)
        now += round(ios * S / 3_000)
    assert (now - START) / S == pytest.approx(expected_s, rel=0.01)


def test_gp2_falls_to_its_baseline_and_earns_while_idle(virtual: Callable[..., Virtual]) -> None:
    volume = virtual(limits(Volume(type="gp2", size_gib=100)), balance=27_000)
    burst, _ = volume.closed_loop(32, 9, size=4 * KIB)  # 27,000 / (3,000 - 300) = 10 s
    assert burst == pytest.approx(3_000, rel=0.01)
    volume.closed_loop(32, 2, at=START + 9 * S, size=4 * KIB)
    low, _ = volume.closed_loop(32, 10, at=START + 11 * S, size=4 * KIB)
    assert low == pytest.approx(300, rel=0.02)
    idle_from = START + 21 * S
    assert volume.credits(idle_from) == pytest.approx(0, abs=150)
    assert volume.credits(idle_from + 60 * S) == pytest.approx(300 * 60, abs=350)
    assert volume.credits(idle_from + 10_000_000 * S) == 5.4e6  # never more


@pytest.mark.parametrize(
    ("size_kib", "iops"),
    [(4, 3_000), (16, 3_000), (42, 3_000), (43, 2_976.7), (64, 2_000), (128, 1_000), (256, 500)],
)
def test_the_lower_of_two_caps_holds(
    virtual: Callable[..., Virtual], size_kib: int, iops: float
) -> None:
    volume = virtual(limits(Volume(type="gp3", size_gib=100)))  # 3,000 IOPS, 125 MiB/s
    got, _ = volume.closed_loop(64, 5, size=size_kib * KIB, warmup_s=1)
    assert got == pytest.approx(iops, rel=0.005)


def test_an_instance_caps_its_volume_and_bursts_for_half_an_hour(
    virtual: Callable[..., Virtual],
) -> None:
    volume = virtual(provisioned(64_000), instance=instance_limits("m5.large"))
    burst, _ = volume.closed_loop(32, 1_790, ios=500, size=1)
    assert burst == pytest.approx(18_750, rel=0.005)
    volume.closed_loop(32, 30, ios=500, size=1, at=START + 1_790 * S)
    lasting, _ = volume.closed_loop(32, 600, ios=500, size=1, at=START + 1_820 * S)
    assert lasting == pytest.approx(3_600, rel=0.02)


def test_an_instance_caps_throughput_too(virtual: Callable[..., Virtual]) -> None:
    instance = InstanceLimits(
        baseline_iops=10_000,
        burst_iops=10_000,
        baseline_throughput_mib_s=50,
        burst_throughput_mib_s=50,
    )
    got, _ = virtual(provisioned(5_000), instance=instance).closed_loop(16, 20, size=256 * KIB)
    assert got == pytest.approx(200, rel=0.01)


def test_who_waits_is_served_in_turn(virtual: Callable[..., Virtual]) -> None:
    volume = virtual(provisioned(1_000))
    waiting = [(START, name) for name in "aaabbbbbb"]  # two processes, of 3 and 6 threads
    served = {"a": 0, "b": 0}
    while (head := heapq.heappop(waiting))[0] < START + 20 * S:
        now, name = head
        served[name] += 1
        heapq.heappush(waiting, (volume.reserve(now), name))
    assert served["b"] / served["a"] == pytest.approx(2, rel=0.02)


def test_two_volumes_share_nothing(virtual: Callable[..., Virtual]) -> None:
    busy, idle = virtual(provisioned(100)), virtual(provisioned(100))
    busy.closed_loop(100, 10)
    now = START + 10 * S
    assert idle.reserve(now) - now < 2_000_000
    assert idle.state.sample(now).backlog_ns == 0
    assert busy.state.sample(now).backlog_ns > 900_000_000


def test_a_change_of_volume_holds_at_once(virtual: Callable[..., Virtual]) -> None:
    volume = virtual(provisioned(1_000))
    volume.closed_loop(16, 5)
    config = make_native_config(
        directory="/nowhere",
        limits=provisioned(4_000),
        instance_limits=None,
        settings=VolumeSettings(),
        balance=None,
    )
    volume.state.configure(config, START + 5 * S)
    got, _ = volume.closed_loop(16, 5, at=START + 5 * S)
    assert got == pytest.approx(4_000, rel=0.01)


def test_what_the_machine_held_up_is_made_good_for_ten_milliseconds(
    virtual: Callable[..., Virtual],
) -> None:
    volume = virtual(provisioned(1_000))
    now = START + 10 * S  # idle, or held up, for long
    backlogs = []
    for _ in range(13):
        volume.reserve(now)
        backlogs.append(volume.state.sample(now).backlog_ns)
    # ten made good, one on time, and from then on one each millisecond
    assert backlogs == [0] * 10 + [1_000_000, 2_000_000, 3_000_000]


# --- faults ---


def test_a_stall_holds_everything_until_it_ends(virtual: Callable[..., Virtual]) -> None:
    volume = virtual(provisioned(1_000))
    volume.inject(Stall(start_after_s=1, duration_s=3))
    assert volume.reserve(START) < START + S // 100
    assert volume.reserve(START + S) == START + 4 * S
    assert volume.reserve(START + 3 * S) == START + 4 * S
    assert volume.reserve(START + 4 * S) < START + 4 * S + S // 100


def test_a_slow_volume_costs_and_lasts_as_many_times(virtual: Callable[..., Virtual]) -> None:
    volume = virtual(provisioned(1_000))
    volume.inject(Slow(factor=10, duration_s=20))
    got, _ = volume.closed_loop(16, 20)
    assert got == pytest.approx(100, rel=0.02)
    after, _ = volume.closed_loop(16, 10, at=START + 21 * S)
    assert after == pytest.approx(1_000, rel=0.02)


@pytest.mark.parametrize(
    ("fault", "kinds", "expected"),
    [
        (Fail(error="EIO"), [READ, WRITE, FLUSH], [errno.EIO] * 3),
        (Fail(error="EIO", after_operations=2), [READ] * 4, [0, 0, errno.EIO, errno.EIO]),
        (Fail(error="EIO", operations=1), [WRITE] * 3, [errno.EIO, 0, 0]),
        (Fail(error="ENOSPC"), [READ, FLUSH, WRITE], [0, 0, errno.ENOSPC]),
        (Heal(), [READ, WRITE, FLUSH], [0, 0, 0]),
    ],
)
def test_failures_come_when_and_where_the_plan_says(
    virtual: Callable[..., Virtual], fault: FaultPlan, kinds: list[int], expected: list[int]
) -> None:
    volume = virtual(provisioned(1_000))
    volume.inject(fault)
    assert [load_core().volume_fault_of(volume.state.pointer, kind) for kind in kinds] == expected
    assert volume.state.sample(START).failed == sum(error != 0 for error in expected)
    volume.inject(Heal())
    assert load_core().volume_fault_of(volume.state.pointer, WRITE) == 0


# --- pieces ---


@pytest.mark.parametrize("sigma", [0.0, 0.2, 1.0])
def test_latencies_have_the_mean_asked_for(sigma: float) -> None:
    table = draw_latencies_ns(800, sigma)
    assert sum(table) / len(table) == pytest.approx(800_000, rel=1e-5)
    assert (min(table) == max(table)) is (sigma == 0)


@given(st.integers(0, 600_000_000))
def test_a_histogram_bucket_holds_its_value_to_an_eighth(us: int) -> None:
    index = load_core().histogram_index(us)
    upper = load_core().histogram_upper_us(index)
    assert us <= upper <= us * 1.125 + 1
    assert index == 0 or load_core().histogram_upper_us(index - 1) < us


CACHE_BLOCKS = 64 * 2**20 // 4096


def page_cache(tmp_path: Path) -> State:
    """A volume with a page cache of 64 MiB."""
    config = make_native_config(
        directory="/nowhere",
        limits=provisioned(1_000),
        instance_limits=None,
        settings=VolumeSettings(page_cache_mib=64),
        balance=None,
    )
    State.create(tmp_path / "state", config, START)
    return State(tmp_path / "state")


def test_blocks_in_use_drive_those_that_are_not_out_of_a_page_cache(tmp_path: Path) -> None:
    state = page_cache(tmp_path)

    def misses(file: int, count: int) -> int:
        touched = (load_core().cache_touch(state.pointer, file, block) for block in range(count))
        return sum(not held for held in touched)

    misses(1, 4 * CACHE_BLOCKS)  # what was read once
    again = [misses(2, CACHE_BLOCKS // 3) for _ in range(8)]
    assert again[-1] < CACHE_BLOCKS / 3 / 100
    state.close()


def test_a_page_cache_holds_its_size_and_forgets_the_rest(tmp_path: Path) -> None:
    state, blocks = page_cache(tmp_path), CACHE_BLOCKS

    def hits(file: int, count: int) -> int:
        return sum(load_core().cache_touch(state.pointer, file, block) for block in range(count))

    assert hits(1, blocks // 2) == 0
    assert hits(1, blocks // 2) > 0.97 * blocks / 2  # half its size stays, but for full sets
    assert hits(2, blocks // 2) == 0  # another file is another file
    hits(3, 4 * blocks)
    assert hits(1, blocks // 2) < 0.05 * blocks
    state.close()


@pytest.mark.parametrize(
    "asked",
    [
        Volume(cloud="alibaba", type="essd", level="PL1", size_gib=400),
        Volume(cloud="alibaba", type="essd", level="PL3", size_gib=4_000),
        Volume(cloud="alibaba", type="essd-autopl", size_gib=400, iops=20_000),
        Volume(cloud="azure", type="ultra", size_gib=500, iops=400_000, throughput_mb_s=10_000),
        Volume(cloud="google", type="hyperdisk-extreme", size_gib=300, iops=350_000),
    ],
    ids=lambda asked: asked.type,
)
def test_the_limits_of_other_clouds_hold_above_what_a_machine_can_do(
    virtual: Callable[..., Virtual], asked: Volume
) -> None:
    promised = limits(asked)
    assert promised.baseline_iops is not None
    assert promised.throughput_mib_s is not None
    small, latency_us = virtual(promised).closed_loop(1_024, 0.5, size=4 * KIB, warmup_s=0.1)
    allowed = min(promised.baseline_iops, 1_024 / (promised.base_latency_us / 1e6))
    assert small == pytest.approx(allowed, rel=0.005)
    assert latency_us >= promised.base_latency_us * 0.97
    large, _ = virtual(promised).closed_loop(256, 0.5, size=256 * KIB, warmup_s=0.1)
    by_bytes = promised.throughput_mib_s * 4
    assert large == pytest.approx(min(by_bytes, promised.baseline_iops), rel=0.005)


def test_a_small_premium_ssd_bursts_until_its_bucket_is_empty(
    virtual: Callable[..., Virtual],
) -> None:
    promised = limits(Volume(cloud="azure", type="premium-ssd", size_gib=128))
    full = virtual(promised)
    assert full.closed_loop(64, 5, size=4 * KIB, warmup_s=1)[0] == pytest.approx(3_500, rel=0.005)
    empty = virtual(promised, balance=0.0)
    assert empty.closed_loop(64, 20, size=4 * KIB, warmup_s=2)[0] == pytest.approx(500, rel=0.005)
    # 128 KiB an I/O: 170 MB/s while the bucket lasts, 100 MB/s afterwards
    for volume, mb_s in ((virtual(promised), 170), (virtual(promised, balance=3_000 * 60.0), 100)):
        seconds = 100 if mb_s == 100 else 5
        got, _ = volume.closed_loop(16, seconds, size=128 * KIB, warmup_s=90 if mb_s == 100 else 1)
        assert got * 128 * KIB == pytest.approx(mb_s * 1e6, rel=0.02)
