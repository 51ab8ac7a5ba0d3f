import importlib.util
import sys
from pathlib import Path

import pytest

from plimsoll.errors import MissingToolError, UsageError
from plimsoll.local.twin import LocalTwin


def test_another_system_than_linux_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UsageError, match="--local needs Linux"):
        LocalTwin(tmp_path).start()


def test_missing_packages_are_named_with_the_command_that_brings_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "jsonata" else found(name)
    )
    with pytest.raises(MissingToolError, match=r"\(jsonata\): pip install 'plimsoll-db\[local\]'"):
        LocalTwin(tmp_path).start()
