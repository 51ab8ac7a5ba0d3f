"""What the twin's processes compile is kept, whatever its caller's environment says."""

import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.local.aws.process import list_bytecode_variables


def test_it_is_kept_apart_where_nothing_may_be_written_beside_sources(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLIMSOLL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name, value in list_bytecode_variables().items():
        monkeypatch.setenv(name, value)
    (tmp_path / "tide.py").write_text("HIGH = 1")
    subprocess.run([sys.executable, "-S", "-c", "import tide"], cwd=tmp_path, check=True)
    assert list((tmp_path / "cache").rglob("tide.*.pyc"))
    assert not list(tmp_path.glob("__pycache__"))


def test_where_it_may_be_written_beside_them_nothing_is_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert list_bytecode_variables() == {}
