"""The tables of options: what the command line and Python make of them."""

from typing import Any

import pytest
from click.testing import CliRunner

import plimsoll
from plimsoll.cli.main import cli, main
from plimsoll.cli.options import FLAGS
from plimsoll.complaints import Complaint
from plimsoll.errors import OptionError
from plimsoll.load_line.options import (
    FindOptions,
    LoadOptions,
    Option,
    Options,
    PrepareOptions,
    list_options,
)

TABLES: dict[str, type[Options]] = {
    "find": FindOptions,
    "load": LoadOptions,
    "prepare": PrepareOptions,
}
ALL = [
    pytest.param(verb, one, id=f"{verb}-{one.key}")
    for verb, table in TABLES.items()
    for one in list_options(table)
]


@pytest.mark.parametrize("verb", TABLES)
def test_the_help_of_a_command_has_each_option_with_its_sentence(verb: str) -> None:
    called = CliRunner().invoke(
        cli, [verb, "--help"], terminal_width=10_000, max_content_width=10_000
    )
    told = " ".join(called.stdout.split())
    for one in list_options(TABLES[verb]):
        assert one.flag.partition("/")[0] in told
        assert " ".join(one.about.split()) in told
        assert one.unset in told


@pytest.mark.parametrize(("verb", "one"), ALL)
def test_an_option_reads_as_a_sentence_in_python(verb: str, one: Option) -> None:
    told = " ".join((getattr(plimsoll, verb).__doc__ or "").split())
    assert f"{one.key}: {one.about}" in told
    assert one.default is not None or one.unset


@pytest.mark.parametrize("table", TABLES.values())
def test_the_defaults_are_allowed(table: type[Options]) -> None:
    assert table()


@pytest.mark.parametrize(
    ("table", "given", "said"),
    [
        (FindOptions, {"records": 0}, "records: 0 is out of range (allowed: >= 1)"),
        (FindOptions, {"records": 1.5}, "records: 1.5 is not a whole number"),
        (FindOptions, {"max_rate": 0}, "max_rate: 0 is out of range"),
        (FindOptions, {"warmup_s": 601}, "warmup_s: 601 is out of range (allowed: 0 to 600)"),
        (FindOptions, {"warm_s": float("nan")}, "warm_s: nan is out of range"),
        (FindOptions, {"warm_s": None}, "warm_s: None is not a number"),
        (FindOptions, {"statistic": "p98"}, "statistic: unknown statistic 'p98'"),
        (LoadOptions, {"threads": True}, "threads: True is not a whole number"),
        (LoadOptions, {"seed": 2**64}, "seed: 18446744073709551616 is out of range"),
        (LoadOptions, {"arrivals": "poisson"}, "arrivals: is for an open loop only"),
        (PrepareOptions, {"load_order": "random"}, "load_order: unknown load_order 'random'"),
    ],
)
def test_what_is_not_allowed_is_refused_by_its_key(
    table: type[Options], given: dict[str, Any], said: str
) -> None:
    with pytest.raises(OptionError) as refused:
        table(**given)
    assert said in str(refused.value)


def test_the_command_line_names_options_as_they_are_typed_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["load", "--dsn", "mysql://u@h/d", "--workload", "ycsb-c", "--arrivals", "poisson"])
    assert ended.value.code == 2
    told = "--arrivals: is for an open loop only: --rate makes it one"
    assert told in capsys.readouterr().err


def test_an_error_is_named_wherever_an_option_stands_in_it() -> None:
    remedies = (("max_rate", "gives it"), ("unknown", "stays"))
    error = OptionError(
        Complaint(("limits", "read"), "is {limits}"), Complaint((), "lacks", remedies=remedies)
    )
    assert str(error) == "limits.read: is {limits}\nlacks: max_rate gives it; unknown stays"
    named = error.name_options(FLAGS)
    assert type(named) is OptionError
    assert str(named) == "--limit read: is {limits}\nlacks: --max-rate gives it; unknown stays"
