"""Volumes that behave, on one Linux machine, as those of AWS: caps, latency, credits, faults."""

from plimsoll.local.volumes.volume import EmulatedVolume, VolumeSettings

__all__ = ["EmulatedVolume", "VolumeSettings"]
