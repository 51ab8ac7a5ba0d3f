"""Volumes that behave, on one Linux machine, as those of AWS: caps, latency, credits, faults."""

from plimsoll.volumes.emulated_volume import EmulatedVolume, VolumeSettings

__all__ = ["EmulatedVolume", "VolumeSettings"]
