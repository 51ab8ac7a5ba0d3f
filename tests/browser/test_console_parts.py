"""The page's own rules, called in a real browser: what it writes, joins and reads."""

from collections.abc import Iterator
from typing import Any, Protocol

import pytest
import yaml
from playwright.sync_api import Browser, Page

from plimsoll import words
from plimsoll.console.scenarios import scenarios
from plimsoll.local.front import Front
from plimsoll.model.judging.verdicts import list_verdict_names
from plimsoll.model.request.request import Request
from plimsoll.packaged import find_packaged_folder
from plimsoll.requests.schemas import schema as schema_of
from tests.browser.conftest import PATIENCE_MS
from tests.browser.console_service import LaidDown


class Call(Protocol):
    """Calls a function of one of the page's modules."""

    def __call__(self, module: str, function: str, *given: Any) -> Any: ...


@pytest.fixture(scope="module")
def served(browser: Browser) -> Iterator[Page]:
    """The page as it is served, of a service without any answer."""
    with Front(LaidDown()) as front:
        context = browser.new_context()
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{front.url}/console/")
        yield page
        context.close()


@pytest.fixture(scope="module")
def call(served: Page) -> Call:
    """Give what a module exports, called if it is a function."""

    def calling(module: str, function: str, *given: Any) -> Any:
        return served.evaluate(
            "async ([module, name, given]) => {"
            "  const held = (await import(`/console/${module}.js`))[name];"
            "  return typeof held === 'function' ? held(...given) : held; }",
            [module, function, list(given)],
        )

    return calling


FIGURES = [0, 0.05, 2.4, 26.4, 99.94, 99.96, 420, 999.4, 999.6, 8923.4, 49_462, 1_204_000]


@pytest.mark.parametrize("figure", [None, *FIGURES])
def test_figures_are_written_as_everywhere_else(call: Call, figure: float | None) -> None:
    assert call("words", "latency", figure) == words.format_latency(figure)
    assert call("words", "rate", figure) == words.format_rate(figure)
    assert call("words", "number", figure) == words.format_number(figure)
    assert call("words", "duration", figure) == words.format_duration(figure)
    share = None if figure is None else figure / 1000
    assert call("words", "percent", share) == words.format_percent(share)


@pytest.mark.parametrize(
    ("load", "axis"), [(1, "clients"), (3, "connections"), (600, "rate_ops_per_second")]
)
def test_loads_are_named_as_everywhere_else(call: Call, load: float, axis: str) -> None:
    assert call("words", "load", load, axis) == words.format_load(load, axis)


def test_verdicts_are_named_as_in_the_report(served: Page, call: Call) -> None:
    served.wait_for_function("document.querySelector('#version').textContent !== ''")
    assert call("run_words", "VERDICTS") == list_verdict_names()


def live(*, steps: list[int], at: list[int], every_s: int = 1) -> dict[str, Any]:
    """As much of a live document as is joined, with a figure that says where it came from."""
    figures = [float(100 * step + i) for i, step in enumerate(steps)]
    return {
        "log": [{"id": f"step-{step}", "at": f"2026-01-01T00:00:0{step}Z"} for step in set(steps)],
        "steps": [{"step": step} for step in sorted(set(steps))],
        "seconds": {
            "epoch_s": at,
            "step": steps,
            "ops_per_second": figures,
            "operations": {f"op{max(steps)}": {"p99_us": figures}},
        },
        "resources": {"every_s": every_s, "epoch_s": at, "queue": figures},
    }


def test_an_increment_is_put_behind_what_is_known(call: Call) -> None:
    known = call("live", "joined", None, live(steps=[1, 1], at=[10, 11]))
    whole = call("live", "joined", known, live(steps=[2, 2], at=[20, 21]))
    assert whole["seconds"]["epoch_s"] == [10, 11, 20, 21]
    assert [step["step"] for step in whole["steps"]] == [1, 2]
    assert [line["id"] for line in whole["log"]] == ["step-1", "step-2"]


def test_what_an_operation_did_before_it_was_known_is_not_known(call: Call) -> None:
    known = call("live", "joined", None, live(steps=[1], at=[10]))
    operations = call("live", "joined", known, live(steps=[2], at=[20]))["seconds"]["operations"]
    assert operations["op1"]["p99_us"] == [100.0, None]
    assert operations["op2"]["p99_us"] == [None, 200.0]


def test_what_comes_twice_is_there_once(call: Call) -> None:
    known = call("live", "joined", None, live(steps=[1, 1, 2], at=[10, 11, 20]))
    again = call("live", "joined", known, live(steps=[2, 3], at=[20, 30]))
    assert again["seconds"]["epoch_s"] == [10, 11, 20, 30]
    assert again["resources"]["epoch_s"] == [10, 11, 20, 30]
    assert again["resources"]["queue"] == [100.0, 101.0, 200.0, 301.0]


def test_a_provisional_second_goes_with_the_end_of_its_step(call: Call) -> None:
    known = call("live", "joined", None, live(steps=[1], at=[10]))
    second = {"step": 2, "epoch_s": 20, "operations": {}}
    assert call("live", "withSecond", known, second)["fresh"] == [second]
    fresh = call("live", "withSecond", known, second)
    assert call("live", "joined", fresh, live(steps=[2], at=[20]))["fresh"] == []
    assert call("live", "withSecond", known, second | {"step": 1})["fresh"] == []


def cells(*sizes: tuple[str, str, float | None]) -> list[dict[str, Any]]:
    return [
        {"name": f"{a}-{b}", "variants": {"iops": a, "workload": b}, "figure": figure}
        for a, b, figure in sizes
    ]


def test_the_axis_with_most_variants_goes_across(call: Call) -> None:
    made = cells(("1k", "a", 1), ("1k", "b", 2), ("2k", "a", 3), ("2k", "b", 4), ("4k", "a", 5))
    matrix = call("matrix", "matrixOf", made)
    assert (matrix["axis"], matrix["columns"]) == ("iops", ["1k", "2k", "4k"])
    figures = [[cell and cell["figure"] for cell in row["cells"]] for row in matrix["rows"]]
    assert figures == [[1, 3, 5], [2, 4, None]]


def test_figures_are_classed_by_equal_factors(call: Call) -> None:
    figures = [1, 2, 8, 128]
    assert [call("matrix", "classOf", figure, figures) for figure in figures] == [1, 2, 4, 7]
    assert call("matrix", "classOf", 5, [5, 5]) == 4


SHIPPED = sorted(find_packaged_folder("scenarios").glob("*.yaml"))


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_the_yaml_that_is_copied_says_what_was_asked(call: Call, file: Any) -> None:
    asked = yaml.safe_load(file.read_text())
    assert yaml.safe_load(call("yaml", "yaml", asked)) == asked


@pytest.mark.parametrize(
    "odd", ["yes", "007", "a: b", "", "# no", "tab\t", "line\nbreak", "null", "é", "- x", "{}"]
)
def test_yaml_keeps_odd_text(call: Call, odd: str) -> None:
    assert yaml.safe_load(call("yaml", "yaml", {"tags": {odd: odd}, "list": [odd, 1]})) == {
        "tags": {odd: odd},
        "list": [odd, 1],
    }


@pytest.mark.parametrize(
    "lists", [[[1, 2]], [[1], []], [[[1, 2], [3]], [{"a": [[4]]}]], {"a": [[1, "b"], 2]}]
)
def test_yaml_keeps_lists_of_lists(call: Call, lists: Any) -> None:
    assert yaml.safe_load(call("yaml", "yaml", lists)) == lists


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        ("name", "text"),
        ("target", "union"),
        ("search", "union"),
        ("workload", "group"),
        ("toggle", "json"),
        ("phases", "json"),
        ("expect", "list"),
        ("budget_usd", "number"),
        ("tags", "json"),
    ],
)
def test_each_field_of_a_request_has_its_kind(call: Call, field: str, kind: str) -> None:
    schema = schema_of("request")
    resolved = call("schema", "resolved", schema["properties"][field], schema)
    assert call("schema", "kindOf", resolved, schema) == kind


@pytest.mark.parametrize(
    ("text", "schema", "kind", "value"),
    [
        (" 2000 ", {"type": "integer"}, "number", 2000),
        ("2 thousand", {"type": "integer"}, "number", "2 thousand"),
        ("1, 2,4", {"type": "array", "items": {"type": "integer"}}, "list", [1, 2, 4]),
        ("false", {"type": "boolean"}, "choice", False),
        ('{"a": 1}', {"type": "object"}, "json", {"a": 1}),
        ("{a: 1}", {"type": "object"}, "json", "{a: 1}"),
        ("11.4", {"type": "string"}, "text", "11.4"),
    ],
)
def test_what_is_written_into_a_field_is_read_as_its_kind(
    call: Call, text: str, schema: dict[str, Any], kind: str, value: Any
) -> None:
    assert call("schema", "read", text, schema, kind) == value


def test_a_value_is_put_at_its_place_and_taken_out_again(call: Call) -> None:
    asked = {"target": {"volume": {"iops": 1000}}, "name": "a"}
    path = ["target", "volume", "iops"]
    assert call("schema", "withAt", asked, path, 2000)["target"]["volume"] == {"iops": 2000}
    assert call("schema", "withAt", asked, path) == {"name": "a"}


def test_a_label_has_its_unit_apart(call: Call) -> None:
    assert call("schema", "labelOf", "size_gib") == "Size, GiB"
    assert call("schema", "labelOf", "rate_first_ops_per_second") == "Rate first, ops/s"


def test_events_are_read_from_pieces(served: Page) -> None:
    pieces = [": alive\n\nev", "ent: live\nid: 3\ndata: {}\n", "\nda", "ta: a\r\ndata: b\r\n\r\n"]
    events = served.evaluate(
        "async (pieces) => { const { EventReader } = await import('/console/sse.js');"
        " const reader = new EventReader();"
        " return pieces.flatMap((piece) => reader.take(piece)); }",
        pieces,
    )
    assert events == [
        {"kind": "live", "id": "3", "data": "{}"},
        {"kind": "message", "id": None, "data": "a\nb"},
    ]


def test_an_address_is_read_as_it_is_written(call: Call) -> None:
    written = call("routes", "href", "/compare", [["run", "a b"], ["run", "c"]])
    assert written == "#/compare?run=a+b&run=c"
    assert call("routes", "tokenIn", "#token=abc") == "abc"
    assert call("routes", "tokenIn", "#/runs?q=token") is None


def test_the_form_begins_with_a_run_that_a_newcomer_sees_the_end_of(call: Call) -> None:
    """A demo of one machine, which is a matter of minutes (its own comment says how many)."""
    known = scenarios().model_dump(mode="json")["scenarios"]
    presets = call("presets", "presetsOf", known)
    assert presets[0]["name"].startswith("Try it with MariaDB")
    assert presets[0]["request"]["name"].startswith("r1-demo")
    assert {"My PostgreSQL", "My MariaDB", "My MySQL"} <= {preset["name"] for preset in presets}
    assert len(presets) > len(known)


def test_each_preset_is_a_task_and_no_file(call: Call) -> None:
    known = scenarios().model_dump(mode="json")["scenarios"]
    names = [preset["name"] for preset in call("presets", "presetsOf", known)]
    files = {scenario["name"] for scenario in known}
    assert [name for name in names if name.partition(":")[0] in files] == []
    assert len(set(names)) == len(names)


def test_a_preset_of_ones_own_database_is_a_valid_request(call: Call) -> None:
    mine = [one["request"] for one in call("presets", "presetsOf", [])]
    assert len(mine) == 3
    for request in mine:
        assert Request.model_validate(request).target.kind == "endpoint"
