"""An emulated volume under a folder."""

import errno
import os
import shutil
import time
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.aws.instances import InstanceLimits
from plimsoll.model.aws.volume_rules import Drain, FaultPlan
from plimsoll.model.aws.volumes import Service, Volume, VolumeLimits, limits, require_valid_volume
from plimsoll.model.aws.volumes_seen import VolumeSample
from plimsoll.model.base import Model
from plimsoll.volumes.build import find_native_part
from plimsoll.volumes.config import VolumeSettings, make_native_config
from plimsoll.volumes.convert import convert_fault, convert_sample
from plimsoll.volumes.native import State
from plimsoll.volumes.places import remove_abandoned, remove_files, state_path, take_lock
from plimsoll.volumes.watching import Watcher

__all__ = ["EmulatedVolume", "VolumeSettings"]


class _Description(Model):
    """The file beside the state file that tells other processes which volume it is."""

    directory: str
    volume: Volume
    service: Service
    limits: VolumeLimits
    instance_limits: InstanceLimits | None
    settings: VolumeSettings


def _read_clock_ns() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class EmulatedVolume:
    """A folder whose files behave as on a volume of a cloud.

    Every process started with `environment()` sees the volume's limits, latency and credits in the
    folder and below; all of them share its budget. As a context manager, it closes itself.

    Attributes:
        directory: The folder of the volume.
        volume: The volume that was asked for.
        service: The service whose rules apply.
        limits: The limits of the volume.
        settings: The properties that AWS does not publish.
    """

    def __init__(
        self,
        description: _Description,
        state: State,
        *,
        lock: int | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        self._description = description
        self._state = state
        self._lock = lock  # held by the owner, so that nobody else puts a volume here
        self._watcher = watcher  # the owner's; None if opened by another process
        self.directory = Path(description.directory)
        self._path = state_path(self.directory)
        self.volume = description.volume
        self.service = description.service
        self.limits = description.limits
        self.settings = description.settings

    @classmethod
    def create(
        cls,
        directory: Path,
        volume: Volume,
        *,
        service: Service = "ebs",
        credits: float | None = None,  # noqa: A002 - AWS's word
        instance_limits: InstanceLimits | None = None,
        settings: VolumeSettings | None = None,
    ) -> Self:
        """Put a volume under a folder, which is created if it does not exist.

        Args:
            directory: The folder of the volume.
            volume: The type, size, IOPS and throughput.
            service: The service whose rules apply; RDS stripes volumes.
            credits: The burst credits at the start; None for full, as AWS gives a new volume.
            instance_limits: The limits of the instance; None if they exceed the volume's.
            settings: The properties that AWS does not publish; None for the defaults.

        Raises:
            UsageError: The volume is not allowed, has no credits to set, or this is not Linux.
            PlimsollError: The folder already has a volume, memory has no space for its state, or
                its watcher does not start.
        """
        require_valid_volume(volume, service=service)
        settings = settings or VolumeSettings()
        if volume.read_cache_mib is not None:
            cache = {
                "read_cache_mib": volume.read_cache_mib,
                "read_cache_latency_us": volume.read_cache_latency_us,
            }
            settings = settings.model_copy(update=cache)
        find_native_part("shim")
        directory.mkdir(parents=True, exist_ok=True)
        description = _Description(
            directory=str(directory.resolve()),
            volume=volume,
            service=service,
            limits=limits(volume, service=service),
            instance_limits=instance_limits,
            settings=settings,
        )
        config = make_native_config(
            directory=description.directory,
            limits=description.limits,
            instance_limits=instance_limits,
            settings=description.settings,
            balance=credits,
        )
        path = state_path(directory)
        remove_abandoned()
        lock, state = take_lock(path, directory), None
        try:
            path.unlink(missing_ok=True)  # left by an owner that was killed
            State.create(path, config, _read_clock_ns())
            owner = directory.stat()
            if os.geteuid() == 0:
                shutil.chown(path, owner.st_uid, owner.st_gid)
            path.with_suffix(".json").write_text(description.model_dump_json())
            state = State(path)
            watcher = Watcher.start(path, owner)
        except BaseException as error:
            if state is not None:
                state.close()
            remove_files(path)
            os.close(lock)
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                raise PlimsollError(
                    f"no space left in {path.parent} for the state of an emulated volume"
                ) from None
            raise
        return cls(description, state, lock=lock, watcher=watcher)

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Open the volume that a process has put under a folder, to watch or change it.

        Raises:
            UsageError: There is no volume.
        """
        try:
            path = state_path(directory)
            description = _Description.model_validate_json(path.with_suffix(".json").read_bytes())
            return cls(description, State(path))
        except (OSError, ValidationError) as error:
            raise UsageError(f"{directory}: no emulated volume is running there") from error

    def environment(self) -> dict[str, str]:
        """Return the variables that put a process and its children on the volume.

        Statically linked, setuid and Go programs ignore LD_PRELOAD, so they are not on it. If they
        are children of a process on the volume, their I/O is counted in the sample's `escapes`.
        """
        shim = str(find_native_part("shim"))
        before = [path for path in os.environ.get("LD_PRELOAD", "").split(":") if path]
        return {
            "LD_PRELOAD": ":".join([shim, *(path for path in before if path != shim)]),
            "PLIMSOLL_VOLUME": str(self._path),
        }

    def sample(self) -> VolumeSample:
        """Read the volume's counters; cheap enough for many calls a second."""
        return convert_sample(
            self._state.sample(_read_clock_ns()), epoch_ms=time.time_ns() // 1_000_000
        )

    def reconfigure(
        self,
        volume: Volume,
        *,
        credits: float | None = None,  # noqa: A002 - AWS's word
    ) -> None:
        """Change the volume immediately for all processes on it; `credits` is as in `create`.

        Raises:
            UsageError: The volume is not allowed.
        """
        require_valid_volume(volume, service=self.service)
        self.limits = limits(volume, service=self.service)
        self.volume = volume
        config = make_native_config(
            directory=str(self.directory),
            limits=self.limits,
            instance_limits=self._description.instance_limits,
            settings=self.settings,
            balance=credits,
        )
        self._state.configure(config, _read_clock_ns())
        self._description = self._description.model_copy(
            update={"volume": volume, "limits": self.limits}
        )
        path = self._path.with_suffix(".json")
        path.write_text(self._description.model_dump_json())

    def use_read_cache(self, *, on: bool) -> None:
        """Switch the read cache on or off for all processes; what it holds stays.

        Raises:
            UsageError: The volume has none.
        """
        if not self.settings.read_cache_mib:
            raise UsageError("this volume has no read cache: `read_cache_mib` gives it one")
        self.settings = self.settings.model_copy(update={"read_cache_on": on})
        self._description = self._description.model_copy(update={"settings": self.settings})
        self.reconfigure(self.volume, credits=self.sample().credits)

    def inject(self, fault: FaultPlan) -> None:
        """Inject a fault, now or when the plan says.

        Raises:
            UsageError: The plan drains credits, and the volume has none.
        """
        if isinstance(fault, Drain):
            full = self.limits.burst_credits
            self.reconfigure(self.volume, credits=fault.left_share * full if full else 0)
            return
        self._state.inject(convert_fault(fault, _read_clock_ns()))

    @property
    def watcher_pid(self) -> int | None:
        """The process that watches for I/O past the library; None if another object owns it."""
        return None if self._watcher is None else self._watcher.pid

    def exists(self) -> bool:
        """Whether the owner has not removed it yet."""
        return self._path.exists()

    def close(self) -> None:
        """Stop watching. The owner also removes the volume, but not its files.

        Processes on the volume stay on it; no further ones can be put on it.
        """
        self._state.close()
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None
        if self._lock is not None:
            remove_files(self._path)
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
