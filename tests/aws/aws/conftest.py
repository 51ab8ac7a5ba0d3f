"""A deployment of which every service answers within this process: that of the runs."""

from tests.aws.workflow.conftest import deployment

__all__ = ["deployment"]
