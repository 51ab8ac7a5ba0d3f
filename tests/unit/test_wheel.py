"""The wheel holds what the package needs besides its modules, and finds it without a checkout."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from zipfile import ZipFile

import pytest

from plimsoll.model.deployment.functions import FUNCTIONS, OF_DEPLOYMENT
from plimsoll.statemachines import STATE_MACHINES
from plimsoll.workload.library import list_builtin_names

ROOT = Path(__file__).parents[2]
LOOK = """
import json, sys
sys.path[:0] = sys.argv[1:]  # -I and -S: no folder of the checkout, and no link to it
import plimsoll
from plimsoll.model.deployment.functions import FUNCTIONS, OF_DEPLOYMENT
from plimsoll.packaged import find_packaged_folder
from plimsoll.statemachines import STATE_MACHINES, read_definition
from plimsoll.workload.library import list_builtin_names, load_workload
functions = find_packaged_folder("functions")
print(json.dumps({
    "package": plimsoll.__file__,
    "handlers": {f.name: (functions / f.folder / "handler.py").is_file()
                 for f in (*FUNCTIONS.values(), *OF_DEPLOYMENT)},
    "machines": {name: json.loads(read_definition(name))["StartAt"] for name in STATE_MACHINES},
    "workloads": [load_workload(name).name for name in list_builtin_names()],
}))
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as it is built, unpacked as it is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
        env={**os.environ, "PLIMSOLL_ENGINE": "none"},
    )
    (wheel,) = folder.glob("plimsoll_db-*.whl")
    with ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_an_installed_package_finds_its_functions_machines_and_workloads(unpacked: Path) -> None:
    libraries = sysconfig.get_path("purelib")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LOOK, unpacked, libraries],
        cwd=unpacked,
        check=True,
        capture_output=True,
        text=True,
    )
    seen = json.loads(done.stdout)
    assert Path(seen["package"]).is_relative_to(unpacked)
    assert seen["handlers"] == {
        function.name: True for function in (*FUNCTIONS.values(), *OF_DEPLOYMENT)
    }
    assert set(seen["machines"]) == set(STATE_MACHINES)
    assert seen["workloads"] == list_builtin_names()


@pytest.mark.parametrize("folder", ["functions", "scenarios", "statemachines", "workloads"])
def test_the_wheel_holds_the_folder_of_the_checkout_and_nothing_else(
    unpacked: Path, folder: str
) -> None:
    def files(place: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(place)): path.read_bytes()
            for path in place.rglob("*")
            if path.is_file() and path.suffix != ".pyc"
        }

    packed = files(unpacked / "plimsoll" / "packaged_folders" / folder)
    assert packed == files(ROOT / folder)


def test_a_wheel_with_the_engine_names_the_crates_in_it(tmp_path: Path) -> None:
    """As PEP 770 has it; maturin puts the list into the engine's wheel, this one takes it over."""
    engine = tmp_path / "plimsoll_engine-0-cp311-abi3-manylinux_2_34_x86_64.whl"
    with ZipFile(engine, "w") as archive:
        archive.writestr("plimsoll_engine/__init__.py", "")
        crates = "plimsoll_engine-0.dist-info/sboms/plimsoll_engine.cyclonedx.json"
        archive.writestr(crates, '{"bomFormat": "CycloneDX"}')
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "dist"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        env={**os.environ, "PLIMSOLL_ENGINE": str(engine)},
    )
    (wheel,) = (tmp_path / "dist").glob("plimsoll_db-*-manylinux_2_34_x86_64.whl")
    with ZipFile(wheel) as archive:
        (bom,) = [name for name in archive.namelist() if "/sboms/" in name]
        assert bom.endswith(".dist-info/sboms/plimsoll_engine.cyclonedx.json")
        assert json.loads(archive.read(bom)) == {"bomFormat": "CycloneDX"}
