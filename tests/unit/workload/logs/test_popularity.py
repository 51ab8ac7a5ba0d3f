"""How unevenly keys are drawn, from hashes that are not kept."""

import json
from hashlib import blake2b

import pytest

import plimsoll_engine
from plimsoll.model.engine.asked import KeySpace
from plimsoll.model.run.statements_seen import KeysSeen
from plimsoll.workload.derive.skew import KEYS_LEAST, fit_zipfian_constant
from plimsoll.workload.logs.popularity import KeySketch

ROWS = 20_000


def keys_seen(constant: float, calls: int = 50_000) -> KeysSeen:
    """What is told of keys that the engine draws."""
    kind = {"kind": "zipfian", "constant": constant} if constant else {"kind": "uniform"}
    space = KeySpace(name="t", first=1, records=ROWS).model_dump(exclude_none=True)
    value = {"kind": "key", "key_space": "t", "distribution": kind}
    sketch = KeySketch()
    for key in plimsoll_engine.sample(json.dumps(value), json.dumps([space]), 7, calls):
        sketch.add(int.from_bytes(blake2b(str(key).encode(), digest_size=8).digest(), "big"))
    return KeysSeen(digest=0, calls=calls, distinct=sketch.distinct, same=sketch.same)


@pytest.mark.parametrize("constant", [0.8, 0.9, 0.99])
def test_a_zipfian_distribution_is_found_again(constant: float) -> None:
    assert fit_zipfian_constant(keys_seen(constant), ROWS) == pytest.approx(constant, abs=0.03)


def test_uniform_access_is_uniform() -> None:
    assert fit_zipfian_constant(keys_seen(0.0), ROWS) == 0.0


def test_a_few_calls_tell_nothing() -> None:
    assert fit_zipfian_constant(keys_seen(0.9, KEYS_LEAST - 1), ROWS) is None


def test_the_number_of_keys_is_estimated() -> None:
    assert keys_seen(0.0, 200_000).distinct == pytest.approx(ROWS, rel=0.03)
