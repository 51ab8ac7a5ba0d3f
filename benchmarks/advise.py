"""How well `plimsoll advise` chooses: `python -m benchmarks.advise [FIRST_SEED]`.

Makes histories whose minutes hide bursts (`advise_histories.py`), replays their seconds on today's
volume for what CloudWatch would tell, and asks the adviser what to buy. Each choice is then
replayed on the volume's own core in virtual time (`advise_replay.c`): it is safe if at most a
thousandth of the I/Os queue longer than 10 ms. Beside it stands the rule of thumb "the largest
minute times 1.3".
"""

import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.advise_histories import MINUTES, SECONDS, Made, make_history
from plimsoll.model.aws.instances import instance_limits
from plimsoll.model.aws.prices import PriceOverrides
from plimsoll.model.aws.volumes import Volume, limits
from plimsoll.model.request.descriptions import describe_volume
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.quoting.prices import override_prices
from plimsoll.sizing.advise import Seen, advise
from plimsoll.sizing.lateness import History
from plimsoll.sizing.offers import change_volume, list_volume_ladders, price_monthly
from plimsoll.volumes import build
from plimsoll.volumes.config import VolumeSettings, make_native_config
from plimsoll.volumes.native import State

PRICES = override_prices(PriceOverrides())
HISTORIES = 40
LATE_NS = 10_000_000
SAFE_SHARE = 0.001
BORNE_SHARE = 0.03  # an owner whose volume is worse than that has changed it
RULE = 1.3
NEAR = 1.15  # times the price of the cheapest safe choice
CORE = ("bucket.c", "account.c", "state.c", "cache.c")


class Replayed(ctypes.Structure):
    """I/Os that queued too long, and all."""

    _fields_ = (("late", ctypes.c_double), ("all", ctypes.c_double))


def build_replay(folder: Path) -> ctypes.CDLL:
    """Compile the replay with the volume's core."""
    native = Path(build.__file__).parent / "native"
    library = folder / "replay.so"
    sources = [Path(__file__).with_name("advise_replay.c"), *(native / name for name in CORE)]
    flags = ("-O2", "-std=gnu11", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror")
    subprocess.run(["cc", *flags, "-I", native, "-o", library, *sources], check=True)
    loaded = ctypes.CDLL(str(library))
    series = ctypes.POINTER(ctypes.c_double)
    loaded.replay.restype = Replayed
    loaded.replay.argtypes = (
        *(ctypes.c_void_p, series, series, ctypes.c_int64, ctypes.c_int64, ctypes.c_double),
        *(series, series),
    )
    return loaded


@dataclass
class Replay:
    """Replays histories in virtual time."""

    library: ctypes.CDLL
    folder: Path

    def run(
        self, made: Made, target: RdsTarget, most: float
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the share of late I/Os, and of each minute completed and queued I/Os.

        Ends once the share exceeds `most`.
        """
        config = make_native_config(
            directory="/nowhere",
            limits=limits(target.volume, service=target.service),
            instance_limits=instance_limits(target.instance_class),
            settings=VolumeSettings(),
            balance=None,
        )
        path = self.folder / "state"
        path.unlink(missing_ok=True)
        State.create(path, config, 0)
        state = State(path)
        done, queue = np.zeros(MINUTES), np.zeros(MINUTES)
        series = [
            each.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
            for each in (made.ios, made.bytes, done, queue)
        ]
        total = float(made.ios.sum())
        found = self.library.replay(
            state.pointer, *series[:2], SECONDS, LATE_NS, most * total, *series[2:]
        )
        state.close()
        return found.late / total, done, queue

    def measure_late_share(self, made: Made, target: RdsTarget) -> float:
        """Return the share of late I/Os, at most somewhat above what is safe."""
        return self.run(made, target, 10 * SAFE_SHARE)[0]


def price_storage(target: RdsTarget) -> float:
    """Return the price of the storage alone: the class stays, and would hide differences."""
    items = price_monthly(target, PRICES).items
    return sum(item.usd or 0.0 for item in items if "hour" not in item.unit)


def change_to(target: RdsTarget, volume: Volume) -> RdsTarget:
    """Return a target with another volume."""
    made = change_volume(target, volume)
    assert isinstance(made, RdsTarget)
    return made


def find_cheapest(
    made: Made, today: RdsTarget, carries: Callable[[RdsTarget], bool]
) -> RdsTarget | None:
    """Return the cheapest volume for which a condition holds; it holds for larger ones too."""
    best: RdsTarget | None = None
    order = ("gp3", "gp2", "io1", "io2")
    for ladder in sorted(
        list_volume_ladders(today, made.size_gib), key=lambda each: order.index(each.type)
    ):
        if not ladder.rungs:
            continue
        least = price_storage(change_to(today, ladder.make_volume(ladder.rungs[0])))
        if best is not None and least >= price_storage(best):
            continue
        volume = ladder.find_smallest(lambda volume: carries(change_to(today, volume)))
        if volume is not None:
            candidate = change_to(today, volume)
            if best is None or price_storage(candidate) < price_storage(best):
                best = candidate
    return best


@dataclass
class Judged:
    """A choice, replayed."""

    volume: str
    late: float
    usd: float
    whole_usd: float

    @property
    def safe(self) -> bool:
        """Whether at most a thousandth of the I/Os were late."""
        return self.late <= SAFE_SHARE


@dataclass
class Tried:
    """One history: the cheapest safe choice, the adviser's and the rule's; None for no choice."""

    made: Made
    today: Judged
    best: Judged
    advised: Judged | None
    rule: Judged | None


def try_history(replay: Replay, seed: int) -> Tried | None:
    """Try one history; None if its owner bears no volume of today, or no choice is safe."""
    made = make_history(seed)
    for kind, iops in made.volumes:
        size_gib = max(made.size_gib, 100 if kind == "io1" else 20)
        volume = Volume.model_validate({"type": kind, "size_gib": size_gib, "iops": iops})
        today = RdsTarget(
            engine="mysql",
            engine_version="8.4",
            instance_class=made.instance_class,
            volume=volume,
        )
        late, done, queue = replay.run(made, today, BORNE_SHARE)
        if late <= BORNE_SHARE:
            break
    else:
        return None

    def judge(target: RdsTarget | None) -> Judged | None:
        if target is None:
            return None
        whole = price_monthly(target, PRICES).usd or 0.0
        share = replay.measure_late_share(made, target)
        return Judged(describe_volume(target.volume), share, price_storage(target), whole)

    best = judge(
        find_cheapest(
            made, today, lambda target: replay.run(made, target, SAFE_SHARE)[0] <= SAFE_SHARE
        )
    )
    if best is None:
        return None
    size = made.bytes.reshape(-1, 60).sum(axis=1) / made.ios.reshape(-1, 60).sum(axis=1)
    rates = np.column_stack((done, done * size))
    history = History(60.0, 60.0 * np.arange(MINUTES), rates, queue)
    answer = advise(Seen("", "cloudwatch", today, True, history), PRICES, least_gib=made.size_gib)
    needs = RULE * rates.max(axis=0)

    def follows_rule(target: RdsTarget) -> bool:
        found = limits(target.volume, service=target.service)
        assert found.baseline_iops is not None
        assert found.throughput_mib_s is not None
        return bool(found.baseline_iops >= needs[0] and found.throughput_mib_s * 2**20 >= needs[1])

    now = judge(today)
    assert now is not None
    return Tried(
        made=made,
        today=now,
        best=best,
        advised=judge(answer.choices[0].target if answer.choices else None),
        rule=judge(find_cheapest(made, today, follows_rule)),
    )


def describe(tried: Tried) -> str:
    """Return a row of the table."""
    cells = [str(tried.made.seed), tried.made.kind, tried.today.volume, tried.best.volume]
    for judged in (tried.advised, tried.rule):
        if judged is None:
            cells += ["none", "", ""]
        else:
            share = f"{judged.late:.3%}" if judged.late <= 10 * SAFE_SHARE else "over 1 %"
            share = share if judged.safe else f"**{share}**"
            cells += [judged.volume, share, f"{judged.usd / tried.best.usd:.2f}"]
    return f"| {' | '.join(cells)} |"


def summarize(name: str, pairs: list[tuple[Judged, Judged | None]]) -> str:
    """Return one sentence on all choices of one adviser, each beside the best."""
    made = [(best, one) for best, one in pairs if one is not None]
    safe = [(best, one) for best, one in made if one.safe]
    ratios = [one.usd / best.usd for best, one in safe]
    near = sum(ratio <= NEAR for ratio in ratios)
    whole = sum(one.whole_usd <= NEAR * best.whole_usd for best, one in safe)
    total = sum(one.usd for _, one in made) / sum(best.usd for best, _ in made)
    return (
        f"{name}: safe in {len(safe)} of {len(pairs)}, {near} of these at no more than {NEAR} times"
        f" the price of the cheapest safe storage ({whole} with the instance); of the safe ones the"
        f" median is {median(ratios):.2f} times and the mean {np.mean(ratios):.2f}, and all choices"
        f" together cost {total:.2f} times as much."
    )


def main() -> None:
    """Print the table and what follows from it."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    tried: list[Tried] = []
    left_out = 0
    print(
        "| seed | bursts | today | cheapest safe | advised | late | price | rule | late | price |\n"
        "|---|---|---|---|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory(prefix="plimsoll-advise-") as folder:
        replay = Replay(build_replay(Path(folder)), Path(folder))
        while len(tried) < HISTORIES:
            found = try_history(replay, seed)
            seed += 1
            if found is None:
                left_out += 1
                continue
            tried.append(found)
            print(describe(found), flush=True)
    print()
    print(summarize("`plimsoll advise`", [(each.best, each.advised) for each in tried]))
    print(summarize("The largest minute times 1.3", [(each.best, each.rule) for each in tried]))
    print(f"{left_out} histories that no choice carries, or no volume of today, were left out.")


if __name__ == "__main__":
    main()
