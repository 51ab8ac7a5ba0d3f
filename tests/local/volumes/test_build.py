"""The native part is built where it can be, and elsewhere one sentence says what to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.errors import MissingToolError, PlimsollError, UsageError
from plimsoll.model.aws.volumes import Volume
from plimsoll.volumes import EmulatedVolume, build
from plimsoll.volumes.build import check_program


def test_it_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = build.find_native_part("shim")
    monkeypatch.setenv("CC", "no-compiler-is-needed-any-more")
    assert build.find_native_part("shim") == found


def test_without_a_compiler_the_package_to_install_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLIMSOLL_CACHE", str(tmp_path))
    monkeypatch.setenv("CC", "there-is-no-such-compiler")
    with pytest.raises(MissingToolError, match="apt-get install build-essential"):
        build.find_native_part("core")


def test_a_compiler_that_fails_is_quoted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PLIMSOLL_CACHE", str(tmp_path))
    monkeypatch.setenv("CC", "cc --no-such-option")
    with pytest.raises(PlimsollError, match=r"could not be compiled: .*--no-such-option"):
        build.find_native_part("core")


def test_on_a_mac_one_sentence_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UsageError, match=r"need Linux on x86_64 or aarch64: .* VM or container"):
        EmulatedVolume.create(tmp_path, Volume(type="gp3", size_gib=10))


def test_programs_that_would_ignore_the_volume_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text("int main(void) { return 0; }\n")
    for name, flags in {"static": ["-static"], "dynamic": []}.items():
        subprocess.run(["cc", *flags, "-o", tmp_path / name, source], check=True)
    check_program(os.fspath(tmp_path / "dynamic"))
    with pytest.raises(UsageError, match="is statically linked: it would ignore the volume"):
        check_program(os.fspath(tmp_path / "static"))
    with pytest.raises(UsageError, match="no-such-program: no such program"):
        check_program("no-such-program")
