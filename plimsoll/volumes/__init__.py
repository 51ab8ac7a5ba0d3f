"""Emulated AWS volumes on one Linux machine: limits, latency, credits and faults."""

from plimsoll.volumes.emulated_volume import EmulatedVolume, VolumeSettings

__all__ = ["EmulatedVolume", "VolumeSettings"]
