"""The histories on which the adviser is tried: made without it, and the same again from a seed."""

import ast
from pathlib import Path

import numpy as np

from benchmarks import advise_histories


def test_the_generator_imports_nothing_of_plimsoll() -> None:
    tree = ast.parse(Path(advise_histories.__file__).read_text())
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= {"collections", "dataclasses", "numpy"}


def test_a_seed_makes_the_same_history_again() -> None:
    first, second = (advise_histories.make_history(1_000) for _ in range(2))
    assert np.array_equal(first.ios, second.ios)
    assert first.volumes == second.volumes
    assert len(first.ios) == advise_histories.SECONDS
