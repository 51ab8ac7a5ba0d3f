"""Folding clients one at a time comes to what merging them all at once does, to the last digit.

But for the p99s of seconds, which are kept within 0.4 %.
"""

import base64
import json
import struct
from random import Random

import pytest

from plimsoll.errors import UnreadableFileError
from plimsoll.fleet.fold import Fold, fold_clients
from plimsoll.fleet.step import (
    Window,
    compute_halves,
    compute_throughput,
    list_second_counts,
    summarize_fleet,
    summarize_server_looks,
)
from plimsoll.model.engine.answered import OperationReport, SecondReport, SelfReport
from plimsoll.model.run.fleet import ClientResult, FailedClient, ServerLook
from tests.unit.fleet import plain_merge
from tests.unit.fleet.test_merge import NONE, histogram, planned, result

OPERATIONS = ("update", "read", "scan")
CODES = ("1213", "timeout", "connection_lost")


def counts(random: Random) -> dict[str, int]:
    return {code: random.randint(1, 9) for code in random.sample(CODES, random.randint(0, 3))}


def operation(random: Random, octaves: int) -> OperationReport:
    latencies = [random.randint(1, 2**octaves) for _ in range(random.randint(0, 40))]
    return OperationReport(
        succeeded=len(latencies), records=3 * len(latencies), errors=counts(random),
        latency_us=NONE, histogram=histogram(latencies),
    )  # fmt: skip


def second(random: Random, number: int, name: str) -> SecondReport:
    silent = random.random() < 0.2
    return SecondReport(
        second=number, operation=name, succeeded=0 if silent else random.randint(1, 99),
        errors=random.randint(0, 3), p50_us=None if silent else 5,
        p99_us=None if silent else random.randint(1, 10_000),
        max_us=None if silent else random.randint(1, 99_999),
        buckets={} if silent else {2**k: random.randint(1, 9) for k in range(random.randint(1, 9))},
    )  # fmt: skip


def own(random: Random) -> SelfReport:
    def perhaps(value: float) -> float | None:
        return None if random.random() < 0.3 else value

    is_open = random.random() < 0.5
    p99 = random.randint(1, 900) if random.random() < 0.8 else None
    return SelfReport(
        cpu_user_s=random.random(), cpu_system_s=random.random(), cpu_us_per_operation=None,
        busy_fraction=perhaps(random.random()), processor_wait_s=perhaps(random.random()),
        send_lateness_us=NONE.model_copy(update={"p99": p99}) if is_open else None,
        backlog_max=None, backlog_end=random.randint(0, 9) if is_open else None, unsent=None,
        unanswered=random.randint(0, 2), oldest_unanswered_us=None,
    )  # fmt: skip


def client(random: Random, number: int, *, apart_ms: int) -> ClientResult:
    """One whose window lies anywhere within the first `apart_ms`; not all do every operation."""
    names = [name for name in OPERATIONS if random.random() < 0.9] or ["read"]
    late_ms = random.randint(0, apart_ms)
    base = result(number, [], late_ms=late_ms, window=(1_000 + late_ms, 9_000 + late_ms))
    changes = {
        "operations": {name: operation(random, random.randint(1, 28)) for name in sorted(names)},
        "seconds": tuple(
            second(random, at, name)
            for at in range(random.randint(0, 3), random.randint(7, 12))
            for name in names
        ),
        "client": own(random),
        "error_examples": {code: f"{code} of {number}" for code in counts(random)},
    }
    looks = [
        ServerLook(row_lock_waiters=random.randint(0, 4), checkpoint_share=random.random())
        for _ in range(random.randint(0, 3))
    ]
    report = base.report.model_copy(update=changes)
    return base.model_copy(update={"report": report, "looks": tuple(looks)})


@pytest.mark.parametrize("apart_ms", [0, 50, 2_500, 9_500])
@pytest.mark.parametrize("seed", range(8))
def test_folding_is_merging(seed: int, apart_ms: int) -> None:
    random = Random(seed * 10_000 + apart_ms)
    clients = [client(random, number, apart_ms=apart_ms) for number in range(1 + seed)]
    plan = planned(clients=len(clients) + 3, duration_s=8)
    failed = [FailedClient(client=len(clients) + 1, error="E", cause="")]
    fold = fold_clients(plan, clients)
    seconds, window, plain = fold.seconds(), Window(fold), plain_merge.Window(clients)
    assert vars(window) == vars(plain)
    assert fold.operations() == plain_merge.operations(clients)
    assert list(fold.operations()) == list(plain_merge.operations(clients))
    assert seconds == plain_merge.seconds(plan, clients)
    halves = zip(
        compute_halves(fold, window, seconds),
        plain_merge.halves(plan, plain, clients),
        strict=True,
    )
    for half, plainly in halves:
        assert half.throughput_ops_per_second == plainly.throughput_ops_per_second
        assert half.latency_us == pytest.approx(plainly.latency_us, rel=0.004)
    each = plain_merge.second_by_second(plan, plain, clients)
    assert list_second_counts(fold, window, seconds) == each
    assert compute_throughput(fold, window, seconds) == plain_merge.throughput(plan, plain, clients)
    figures = summarize_fleet(fold, failed)
    assert figures == plain_merge.fleet_figures(plan, clients, failed)
    looks = [look for one in clients for look in one.looks]
    assert summarize_server_looks(fold.looks) == plain_merge.server_looks(looks)


def test_figures_that_only_some_clients_have_are_those_of_the_others() -> None:
    clients = [client(Random(seed), seed, apart_ms=0) for seed in range(6)]
    fold = fold_clients(planned(6), clients)
    own_reports = [one.report.client for one in clients]
    lateness = [r.send_lateness_us.p99 for r in own_reports if r.send_lateness_us is not None]
    assert fold.send_lateness_us == max(p99 for p99 in lateness if p99 is not None)
    backlogs = [r.backlog_end for r in own_reports if r.backlog_end is not None]
    assert 0 < len(backlogs) < 6
    assert fold.backlog_end == sum(backlogs)
    assert fold.unanswered == sum(r.unanswered for r in own_reports)
    nobody = Fold(planned())
    assert (nobody.send_lateness_us, nobody.backlog_end, nobody.operations()) == (None, None, {})


@pytest.mark.parametrize(("rows", "met"), [((7, 5), 12), ((7, 0), 7), ((7, None), None)])
def test_rows_met_are_those_of_all_clients_or_not_known(
    rows: tuple[int | None, ...], met: int | None
) -> None:
    clients = []
    for number, known in enumerate(rows):
        client = result(number, [100])
        read = client.report.operations["read"].model_copy(update={"rows": known})
        report = client.report.model_copy(update={"operations": {"read": read}})
        clients.append(client.model_copy(update={"report": report}))
    assert fold_clients(planned(), clients).operations()["read"].rows == met


def test_a_histogram_that_says_it_is_gigabytes_long_is_refused() -> None:
    words = (0x1C849313, 2**32 - 1, 0, 3)  # cookie, length, offset, digits
    lying = struct.pack(">4I2Qd", *words, 1, 300_000_000, 1.0)
    file = json.loads(result(0, [1]).model_dump_json())
    file["report"]["operations"]["read"]["histogram"] = base64.b64encode(lying).decode()
    with pytest.raises(UnreadableFileError, match=r"is not a client's result: .*cut short"):
        Fold(planned()).add(json.dumps(file).encode(), name="clients/0")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("client", "seven", "client: Input should be a valid integer"),
        ("extra", 1, "extra: Extra inputs are not permitted"),
        ("report", {}, "`operations` is missing"),
    ],
)
def test_a_file_that_is_no_result_is_refused_by_its_name(
    field: str, value: object, said: str
) -> None:
    file = {**json.loads(result(0, [1]).model_dump_json()), field: value}
    with pytest.raises(UnreadableFileError, match=f"^clients/0 is not a client's result: {said}"):
        Fold(planned()).add(json.dumps(file).encode(), name="clients/0")
