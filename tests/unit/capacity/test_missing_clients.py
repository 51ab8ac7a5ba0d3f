"""Of thousands of clients a few may be missing; of fewer none."""

import pytest

from plimsoll.capacity.steps.audits import audit_clients_ran
from tests.unit.capacity.samples import step


@pytest.mark.parametrize(
    ("clients", "ran", "passed"),
    [
        (4, 4, True),
        (4, 3, False),
        (999, 998, False),
        (1_000, 999, True),
        (10_000, 9_990, True),
        (10_000, 9_989, False),
    ],
)
def test_one_of_a_thousand_may_be_missing(clients: int, ran: int, *, passed: bool) -> None:
    audit = audit_clients_ran(step(clients, 1000, clients_ran=ran, clients_late=clients - ran))
    assert audit.passed is passed
    assert f"{ran:,} of {clients:,} clients returned results" in audit.detail
