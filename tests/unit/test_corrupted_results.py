"""Results whose files were damaged: a bit flipped, a part lost, a figure that no run measures.

Whatever reads a run's folder says at once what it cannot read, or shows what is there. It ends in
one line and in no stack trace, and takes no longer than with the files as they were.
"""

import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from plimsoll.cli.main import main
from tests.support.few_prices import PRICES
from tests.support.synthetic_run import synthetic_run
from tests.unit.report.experiment import test_experiment_summary as cells

CPU_MOST_S = 20.0  # of this process; less than a second without damage, 74 to 80 s were seen with
QUICK, WHOLE = 2, 60  # damages of each kind
CODES = {0, 1, 2, 3}
ODD_VALUES: tuple[Any, ...] = (
    0, -1, 1, 10**9, 10**18, 10**400, 1e-300, 1e300, 0.5, True, None, "", "x", "\x1b[2J",
    "9" * 5000, [], {}, [[]], [1, 2], {"a": 1},
)  # fmt: skip
VERBS: dict[str, Callable[[Path, Path], list[str]]] = {
    "show": lambda run, _: ["show", str(run)],
    "capacity": lambda run, _: ["capacity", str(run)],
    "size": lambda run, _: [
        *("size", str(run), "--want", "1000", "--limit", "50ms"),
        *("--prices", str(run.parent / "prices.json")),
    ],
    "compare": lambda run, other: [
        "compare", str(run), str(other), "-o", str(run.parent / "compared.html"),
    ],
    "report": lambda run, _: ["report", str(run), "-o", str(run.parent / "report.html")],
}  # fmt: skip


def flip_bits(raw: bytes, draws: random.Random) -> bytes:
    changed = bytearray(raw)
    for _ in range(draws.choice((1, 1, 1, 8))):
        changed[draws.randrange(len(changed))] ^= 1 << draws.randrange(8)
    return bytes(changed)


def cut_off(raw: bytes, draws: random.Random) -> bytes:
    return raw[: draws.randrange(len(raw))]


def lose_block(raw: bytes, draws: random.Random) -> bytes:
    """Replace a block of the disk by zeros."""
    at = draws.randrange(len(raw))
    return raw[:at] + bytes(min(512, len(raw) - at)) + raw[at + 512 :]


def add_digits(raw: bytes, draws: random.Random) -> bytes:
    """Make one figure another one: much larger, much smaller, negative."""
    places = [at for at, byte in enumerate(raw) if 0x30 <= byte <= 0x39]
    at = draws.choice(places)
    return raw[:at] + draws.choice((b"9" * 12, b"-", b"0.", b"1e", b"1E-")) + raw[at:]


def change_value(raw: bytes, draws: random.Random) -> bytes:
    """Replace one value, whichever it is, by one that no run has."""
    document = json.loads(raw)
    holder, key = draws.choice(list(list_places(document)))
    holder[key] = draws.choice(ODD_VALUES)
    return json.dumps(document).encode()


def list_places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every value of a document, by what holds it and its name there."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from list_places(value[key])


# The verbs that read each file.
READERS = {
    "result.json": tuple(VERBS),
    "seconds.json": ("report",),
    "sizing/answer.json": ("report",),
    "sizing/1/result.json": ("size",),
}
DAMAGES = (flip_bits, cut_off, lose_block, add_digits, change_value)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs; the first one is damaged, and made whole again."""
    folders = []
    for name, iops in (("one", 1000), ("other", 2000)):
        folder = tmp_path_factory.mktemp(name)
        result, seconds = synthetic_run(iops=iops, run_id=name)
        result = result.model_copy(update={"processors": 2})
        (folder / "result.json").write_text(result.model_dump_json())
        (folder / "seconds.json").write_text(seconds.model_dump_json())
        folders.append(folder)
    run, other = folders
    (run.parent / "prices.json").write_text(json.dumps(PRICES))
    (run / "sizing/1").mkdir(parents=True)
    copy(other / "result.json", run / "sizing/1")
    with pytest.raises(SystemExit) as ended:
        main(VERBS["size"](run, other))
    assert not ended.value.code
    return run, other


def call(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[object, str, float]:
    """Run a verb; return its exit code, its errors, and the CPU seconds that it took."""
    began_s = time.process_time()
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code or 0, capsys.readouterr().err, time.process_time() - began_s


def check_damages(
    runs: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    file: str,
    damage: Callable[[bytes, random.Random], bytes],
    count: int,
) -> None:
    """Damage a file again and again, and have each verb read it."""
    run, other = runs
    path = run / file
    whole = path.read_bytes()
    try:
        for number in range(count):
            path.write_bytes(damage(whole, random.Random(number)))
            for verb in READERS[file]:
                code, told, cpu_s = call(VERBS[verb](run, other), capsys)
                seen = (verb, damage.__name__, number, code, told)
                assert code in CODES, seen
                assert "Traceback" not in told, seen
                assert code != 2 or told.count("\n") == 1, seen
                assert cpu_s < CPU_MOST_S, (*seen, cpu_s)
    finally:
        path.write_bytes(whole)


def test_the_runs_are_read_as_they_are(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    told = {verb: call(arguments(*runs), capsys)[:2] for verb, arguments in VERBS.items()}
    assert told == dict.fromkeys(VERBS, (0, ""))


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", ["result.json", "seconds.json", "sizing/answer.json"])
def test_a_damaged_result_is_told_in_a_line_or_shown(
    runs: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    file: str,
    damage: Callable[[bytes, random.Random], bytes],
) -> None:
    check_damages(runs, capsys, file, damage, QUICK)


@pytest.mark.whole
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", READERS)
def test_so_is_each_of_hundreds(
    runs: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    file: str,
    damage: Callable[[bytes, random.Random], bytes],
) -> None:
    check_damages(runs, capsys, file, damage, WHOLE)


def check_experiment(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[bytes, random.Random], bytes],
    count: int,
) -> None:
    """Damage an experiment's file again and again, and show it."""
    whole = cells.result_of(cells.WHOLE).model_dump_json().encode()
    for number in range(count):
        (folder / "experiment.json").write_bytes(damage(whole, random.Random(number)))
        code, told, cpu_s = call(["show", str(folder)], capsys)
        seen = (damage.__name__, number, code, told)
        assert code in CODES, seen
        assert "Traceback" not in told, seen
        assert code != 2 or told.count("\n") == 1, seen
        assert cpu_s < CPU_MOST_S, (*seen, cpu_s)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_experiment_is_told_in_a_line_or_shown(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[bytes, random.Random], bytes],
) -> None:
    check_experiment(tmp_path, capsys, damage, QUICK)


@pytest.mark.whole
@pytest.mark.parametrize("damage", DAMAGES)
def test_so_is_each_of_hundreds_of_experiments(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[bytes, random.Random], bytes],
) -> None:
    check_experiment(tmp_path, capsys, damage, WHOLE)
