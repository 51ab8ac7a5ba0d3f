"""What holds for every test."""

from hypothesis import settings

# A busy machine is no failure: how long an example takes is measured in benchmarks/, not here.
settings.register_profile("plimsoll", deadline=None)
settings.load_profile("plimsoll")
