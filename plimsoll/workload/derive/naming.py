"""Names of derived operations: verb, table and compared columns."""

from collections.abc import Collection, Mapping

from plimsoll.workload.derive.binds import Known
from plimsoll.workload.derive.shapes import Shape

_LONGEST = 50


def name_operation(shape: Shape, known: Mapping[str, Known], taken: Collection[str]) -> str:
    """Return an unused name: `select_orders_by_id`, `update_item_by_sku_2`."""
    table = known[shape.tables[0]].name if shape.tables else ""
    compared = [
        slot.column
        for slot in shape.slots
        if slot.role in {"equal", "member", "low", "high"} and slot.column
    ]
    by = ["by", *dict.fromkeys(compared)] if compared else []
    name = "_".join(filter(None, [shape.verb, table, *by])).lower()[:_LONGEST]
    number, chosen = 1, name
    while chosen in taken:
        number += 1
        chosen = f"{name}_{number}"
    return chosen
