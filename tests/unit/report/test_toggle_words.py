"""A toggle's finding stands on the page, beside what the server itself said of its parameters."""

from plimsoll import words
from plimsoll.capacity.statistics.pairing import METHOD, compute_paired_ratio
from plimsoll.model.request.toggle import StateFigures, ToggleResult
from plimsoll.model.run.results import RunResult
from plimsoll.report import page
from plimsoll.report.comparing.comparing import compare_runs
from plimsoll.report.words import describe_toggle, make_toggle_table
from tests.support.synthetic_run import synthetic_run

PAIRS = [(1000.0, 1230.0), (990.0, 1200.0), (1010.0, 1260.0)]


def found(says: str = "OFF") -> ToggleResult:
    def state(name: str, asked: str, told: dict[str, str], rate: float) -> StateFigures:
        return StateFigures(
            name=name,
            parameters={"innodb_doublewrite": asked},
            server_says=told,
            throughput_ops_per_second=rate,
            errors_share=0.0,
        )

    told = {"innodb_doublewrite": says} if says else {}
    return ToggleResult(
        states=(
            state("on", "ON", {"innodb_doublewrite": "ON"}, 1000.0),
            state("off", "0", told, 1230.0),
        ),
        axis="clients",
        load=2,
        statistic="p99",
        throughput=compute_paired_ratio(PAIRS),
        latency={"update": compute_paired_ratio([(b, a) for a, b in PAIRS])},
        steps=((2, 3), (5, 4), (6, 7)),
        left_out=1,
        pairs_asked=3,
        method=METHOD,
        detail="off gives 1.23 times the throughput of on",
    )


def test_its_table_has_ratios_with_intervals_and_what_the_server_says() -> None:
    table = make_toggle_table(found())
    assert table is not None
    assert table.columns == ("", "on", "off", "off / on", "95 % interval")
    texts = [[cell.text for cell in row] for row in table.rows]
    assert texts[0][:4] == ["throughput, ops/s", "1,000", "1,230", "1.23"]
    low, high = texts[0][4].split(" to ")
    assert 1.1 < float(low) < 1.23 < float(high) < 1.4
    assert texts[1][:4] == ["update, p99 latency", words.NOTHING, words.NOTHING, "0.81"]
    assert texts[2] == ["innodb_doublewrite", "ON", "OFF", "", ""]


def test_what_the_server_does_not_tell_is_told_as_asked() -> None:
    table = make_toggle_table(found(says=""))
    assert table is not None
    assert table.rows[-1][2].text == "0 (as requested)"
    assert "off: 1,230 ops/s (innodb_doublewrite = 0, not confirmed by the server)" in (
        describe_toggle(found(says=""))
    )


def test_the_page_says_it_first() -> None:
    result, seconds = synthetic_run()
    toggled: RunResult = result.model_copy(update={"toggle": found()})
    html = page.render_run(toggled, seconds)
    assert "Off gives 1.23 times the throughput of on." in html
    assert "<h2>The toggle</h2>" in html


def test_a_comparison_of_runs_ends_in_what_each_toggle_showed() -> None:
    reads, writes = (
        synthetic_run(run_id=run_id)[0].model_copy(update={"name": run_id})
        for run_id in ("reads", "writes")
    )
    told = compare_runs([reads, writes.model_copy(update={"toggle": found()})]).sentences
    assert told[-1] == "writes: off gives 1.23 times the throughput of on."
    assert not any(sentence.startswith("reads:") for sentence in told)


def test_ways_to_an_existing_database_stand_in_place_of_parameters() -> None:
    parts = [
        state.model_copy(update={"parameters": {}, "server_says": {}, "endpoint": f"db:{port}"})
        for state, port in zip(found().states, (3306, 3307), strict=True)
    ]
    reached = found().model_copy(update={"states": (parts[0], parts[1])})
    assert describe_toggle(reached)[1] == "off: 1,230 ops/s (reached at db:3307)"
    table = make_toggle_table(reached)
    assert table is not None
    last = [cell.text for cell in table.rows[-1]]
    assert last[:3] == ["reached at", "db:3306", "db:3307"]
