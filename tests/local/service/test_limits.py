"""What a team may have at once, over the service: refused, and given back however a run ends."""

from plimsoll.local.twin import LocalTwin
from plimsoll.model.deployment.functions import Setting
from tests.local.service.conftest import Caller, body


def test_a_third_run_has_to_wait_until_one_of_two_has_ended(
    other: Caller, twin_of_service: LocalTwin
) -> None:
    long = {"load__duration_s": 60, "time_limit_s": 600}
    runs = [other.start(body(f"limited-{n}", **long)) for n in (1, 2)]
    refused = other("POST", "/runs", body("limited-3"))
    assert (refused.status, refused.kind) == (429, "limit-reached")
    assert "concurrent_runs: 2 in use, the run asks for 1, the limit is 2" in refused.body["detail"]
    other("DELETE", f"/runs/{runs[0]}")
    assert other.end(runs[0])["state"] == "STOPPED"
    runs.append(other.start(body("limited-3", **long)))
    for run_id in runs[1:]:
        other("DELETE", f"/runs/{run_id}")
        other.end(run_id)
    item = twin_of_service.client("dynamodb").get_item(
        TableName=twin_of_service.settings[Setting.SERVICE_TABLE],
        Key={"pk": {"S": "team#other"}, "sk": {"S": "limits"}},
    )["Item"]
    held = {name: item[name]["N"] for name in ("runs", "clients", "iops")}
    assert held == {"runs": "0", "clients": "0", "iops": "0"}
    assert not [name for name in item if name.startswith("grant#")]
    assert any(name.startswith("usd_") and int(item[name]["N"]) > 0 for name in item)
