"""What a benchmark counts as one processor waking another, from the kernel's own table."""

from pathlib import Path

import pytest

from benchmarks.surroundings import interrupts

X86 = """\
           CPU0       CPU1
 36:          0     313335 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
LOC:    5064544    4969317   Local timer interrupts
RES:        700         50   Rescheduling interrupts
CAL:         20          3   Function call interrupts
TLB:      38612      41055   TLB shootdowns
ERR:          0
"""
ARM = """\
           CPU0       CPU1
 11:     281029     276123     GICv3  27 Level     arch_timer
IPI0:       700         50       Rescheduling interrupts
IPI1:        20          3       Function call interrupts
IPI3:         9          9       Timer broadcast interrupts
"""


@pytest.mark.parametrize("table", [X86, ARM], ids=["x86", "arm"])
def test_those_between_processors_are_added_up_and_no_others(table: str, tmp_path: Path) -> None:
    file = tmp_path / "interrupts"
    file.write_text(table)
    assert interrupts(file) == 773


def test_a_machine_of_one_processor_has_none_to_tell(tmp_path: Path) -> None:
    file = tmp_path / "interrupts"
    file.write_text("           CPU0\nLOC:    5064544   Local timer interrupts\n")
    assert interrupts(file) is None
    assert interrupts(tmp_path / "none") is None
