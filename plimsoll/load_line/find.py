"""Finds the load line of an existing database, for `plimsoll find` and Python's `plimsoll.find`.

What differs between the two is a `Caller`: how it shows a search, and how it makes rows. `plimsoll
run` of a request for an existing target enters at `plan_requested_search`.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from plimsoll.complaints import Complaint, Scalar
from plimsoll.databases.dataset_notes import check_complete
from plimsoll.databases.family import find_family
from plimsoll.databases.prepare import Prepared
from plimsoll.errors import OptionError, PlimsollError, UsageError
from plimsoll.load_line.dataset import (
    Found,
    Made,
    build_missing_rows_error,
    describe_missing_rows,
    describe_place,
    drop,
    has_own_tables,
    is_complete,
    is_ready_to_search,
    look,
    require_harmless,
    require_no_partial_dataset,
    require_place,
    reserve_load_number,
    use_existing_keys,
    wait_until_settled,
)
from plimsoll.load_line.durability import note_durability, note_tables
from plimsoll.load_line.machine import measure_machine
from plimsoll.load_line.options import FindOptions, StopRule, parse_limits_us
from plimsoll.load_line.outcome import search_and_judge
from plimsoll.load_line.pooler import adapt_to_pooler
from plimsoll.load_line.request import (
    add_credentials,
    describe_endpoint,
    read_volume,
    write_search_request,
)
from plimsoll.load_line.search_loop import Finder, Shows
from plimsoll.machine import require_set_clock
from plimsoll.model.databases import Engine, find_protocol
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.request.dsn import find_engine
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.request import Request
from plimsoll.model.request.toggle import map_endpoints_by_state
from plimsoll.model.run.dashboards import Dashboards
from plimsoll.model.run.results import RunResult, Seconds
from plimsoll.requests.checked_request import read_workload_choice
from plimsoll.workload import Compiled, Workload
from plimsoll.workload.library import list_builtin_names


class Caller(Protocol):
    """What each caller of a search does in its own way."""

    def say(self, text: str) -> None:
        """Tell the user something outside the search."""

    def may_make_rows(self, question: str, /) -> bool:
        """Ask the user whether to make missing rows that no option asks for."""

    def make_rows(self, target: EngineTarget, compiled: Compiled) -> Prepared:
        """Make a dataset, and show its progress."""

    def follow(self, finder: Finder) -> AbstractContextManager[Shows]:
        """Return a context that lasts as long as the search, with the callbacks that show it."""

    def keep(self, result: RunResult, seconds: Seconds) -> None:
        """Keep a result at once, so that whatever fails later does not lose it."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a caller asks for.

    Attributes:
        dsn: The database, as a DSN that has been parsed.
        target: The engine's connection settings, with credentials.
        workload_name: The name of a built-in workload, or the path of a file.
        workload: The workload of that name.
        parameters: The workload parameters that differ from their defaults.
        options: The options.
        expect: The rules that the caller checks the result against.
    """

    dsn: str
    target: EngineTarget
    workload_name: str
    workload: Workload
    parameters: Mapping[str, Scalar]
    options: FindOptions
    expect: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlannedSearch:
    """A search that can begin.

    Attributes:
        request: The request.
        target: The engine's connection settings, with credentials.
        found: The rows present.
        made: The rows that were made for it.
        stop_rules: The rules that stop the load at once.
        reached: The connection settings in each state of the toggle.
        notes: Notes on the target for the reader.
    """

    request: Request
    target: EngineTarget
    found: Found
    made: Made
    stop_rules: Sequence[StopRule] = ()
    reached: Mapping[str, EngineTarget] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """How a search ended.

    Attributes:
        result: The result.
        seconds: Every second of it.
        cut_short: The reason why the search ended early; None if it did not.
        not_dropped: Why the dataset could not be dropped; None if it was, or was to stay.
    """

    result: RunResult
    seconds: Seconds
    cut_short: str | None
    not_dropped: PlimsollError | None = None


def find(asked: Asked, caller: Caller) -> Outcome:
    """Find the load line of a database; make and drop its dataset if that is asked for.

    Raises:
        UsageError: An option is not valid, or the rows do not exist.
        PlimsollError: The database is unreachable or refuses, or this machine's clock was never
            set.
    """
    require_set_clock()
    _check_options(asked)
    target, notes = adapt_to_pooler(asked.target)
    notes += note_durability(target)
    asked = replace(asked, target=target)
    for note in notes:
        caller.say(note)
    found = look(asked.target, asked.workload, asked.options.records, asked.parameters)
    _plan_search(asked, found, Made())  # refuse invalid options before any row is made
    to_drop = asked.options.drop and found.note is None  # a refusal drops no existing dataset
    try:
        found, made = _provide_rows(asked, found, caller)
        to_drop = asked.options.drop
        early = note_tables(target, found.compiled)
        for note in early:
            caller.say(note)
        notes += early
        search = replace(_plan_search(asked, found, made), notes=notes)
        outcome = run_search(search, caller)
    except BaseException:
        if to_drop:
            with suppress(PlimsollError):  # report the first error, not this one
                drop(asked.target, found)
        raise
    if to_drop:
        try:
            drop(asked.target, found)
        except PlimsollError as error:  # keep the answer
            return replace(outcome, not_dropped=error)
    return outcome


def run_search(search: PlannedSearch, caller: Caller) -> Outcome:
    """Run a search, and judge what it measured.

    Raises:
        UsageError: The environment's settings of dashboards are not valid.
    """
    Dashboards.read_from_environment(os.environ)  # refuse wrong settings before the measurement
    finder = Finder(
        request=search.request,
        target=search.target,
        compiled=search.found.compiled,
        load_number=lambda target: reserve_load_number(target, search.found),
        look=measure_machine,
        reached=search.reached,
        stop_rules=search.stop_rules,
    )
    with caller.follow(finder) as shows:
        finder.shows = shows
        result, seconds = search_and_judge(
            finder,
            server=search.found.server,
            rows=search.made.rows,
            notes=(*search.notes, *search.made.notes),
        )
        caller.keep(result, seconds)
    return Outcome(result, seconds, finder.cut_short)


def _check_options(asked: Asked) -> None:
    """Refuse wrong limits, stop rules and volumes before the login.

    Raises:
        UsageError: An option is not valid.
    """
    operations = asked.workload.operation_names
    parse_limits_us(asked.options.limits, operations)
    for text in _list_stop_texts(asked.options):
        StopRule.parse(text, operations)
    if asked.options.volume is not None:
        read_volume(asked.options.volume)


def _list_stop_texts(options: FindOptions) -> list[str]:
    """List the rules that end the load at once, also the one of a ramp's --max-rate."""
    texts = [options.stop_if] if isinstance(options.stop_if, str) else [*options.stop_if]
    if options.strategy == "ramp" and options.max_rate is not None:
        texts.append(f"rate > {options.max_rate:.12g}")
    return texts


def _plan_search(asked: Asked, found: Found, made: Made) -> PlannedSearch:
    """Write the request of a search, and its stop rules.

    Raises:
        UsageError: An option is not valid.
    """
    options = asked.options
    operations = [operation.name for operation in found.compiled.engine.operations]
    limits_us = parse_limits_us(options.limits, operations)
    texts = _list_stop_texts(options)
    stop_rules = [StopRule.parse(text, operations) for text in texts]
    request = write_search_request(
        options,
        describe_endpoint(
            _name_engine(find_engine(asked.dsn), found.server),
            asked.target,
            None if options.volume is None else read_volume(options.volume),
            allow_writes=options.allow_writes and found.note is None,
            stop_if=[text.strip() for text in texts],
        ),
        found,
        asked.workload,
        built_in=asked.workload_name in list_builtin_names(),
        rules=Rules(
            limits_us=limits_us,
            statistic=options.statistic,
            audits_off=frozenset(options.audits_off),
        ),
        expect=asked.expect,
    )
    return PlannedSearch(request, asked.target, found, made, stop_rules)


def _name_engine(engine: Engine, server: str) -> Engine:
    """Return the product that answers: a DSN of MySQL's protocol may name the other one."""
    if find_protocol(engine) != "mysql":
        return engine
    return "mariadb" if "mariadb" in server.lower() else "mysql"


def _provide_rows(asked: Asked, found: Found, caller: Caller) -> tuple[Found, Made]:
    """Make the dataset if requested; return the rows present then, and those that were made.

    Raises:
        UsageError: There is no dataset, or it is the user's own and the workload would change it.
    """
    options, target = asked.options, asked.target
    if is_ready_to_search(found, records=options.records, prepare=options.prepare):
        require_place(target, found)
        require_harmless(found, allow_writes=options.allow_writes)
        found, notes = use_existing_keys(target, found)
        for note in notes:
            caller.say(note)
        return found, Made(notes=notes)
    if not options.prepare:
        require_no_partial_dataset(found)
        question = f"Make {describe_missing_rows(found)} in {describe_place(target)}?"
        if not caller.may_make_rows(question):
            raise build_missing_rows_error(found, target)
    return _make_rows(target, asked.workload, found, caller)


def _make_rows(
    target: EngineTarget, workload: Workload, found: Found, caller: Caller
) -> tuple[Found, Made]:
    """Make a dataset, and wait a limited time until the server has settled."""
    prepared = caller.make_rows(target, found.compiled)
    caller.say("waiting until the server has worked off the loading")
    made = wait_until_settled(target, prepared)
    for note in made.notes:
        caller.say(note)
    found = look(target, workload, found.compiled.records, found.given)
    return use_existing_keys(target, found)[0], made


def plan_requested_search(request: Request, caller: Caller) -> PlannedSearch:
    """Plan the search of a request for an existing target, and make a missing dataset.

    The request is the user's own file, which permits that. Tables of the user's own are only read,
    unless the target says `allow_writes`.

    Raises:
        UsageError: The environment has no credentials, the request asks for faults, or its workload
            would change rows that Plimsoll did not make.
        PlimsollError: The database refuses, a table of the dataset belongs to something else, or
            this machine's clock was never set.
    """
    require_set_clock()
    assert isinstance(request.target, EndpointTarget)  # noqa: S101 - the caller has looked
    if request.faults:
        raise UsageError("faults: an existing database has no emulated volume to make fail")
    if request.background:
        problem = (
            "a search of an existing database from this machine sends one workload: leave the"
            " background out, or run the request on AWS"
        )
        raise UsageError(Complaint(("background",), problem))
    first = request.target.redirect(request.toggle.states[0].endpoint if request.toggle else None)
    target, notes = adapt_to_pooler(add_credentials(first))
    notes += note_durability(target)
    workload = read_workload_choice(request.workload)
    found = look(target, workload, request.workload.records, request.workload.parameters)
    operations = [operation.name for operation in found.compiled.engine.operations]
    try:
        stop_rules = [StopRule.parse(text, operations) for text in request.target.stop_if]
    except OptionError as error:
        raise UsageError(*error.complaints).within("target") from None
    made = Made()
    if found.note is None and has_own_tables(target, found):
        try:
            require_harmless(found, allow_writes=request.target.allow_writes)
        except OptionError as error:
            complaint = error.complaints[0]
            permits = any(option == "allow_writes" for option, _ in complaint.remedies)
            cure = ": `allow_writes: true` of the target permits that" if permits else ""
            problem = f"{complaint.problem}{cure}"
            raise UsageError(Complaint(("workload",), problem)) from None
        found, own_notes = use_existing_keys(target, found)
        made = Made(notes=own_notes)
    elif is_complete(found):
        found = use_existing_keys(target, found)[0]
    else:
        found, made = _make_rows(target, workload, found, caller)
    notes += note_tables(target, found.compiled)
    reached = _open_states(request, request.target, found.compiled)
    return PlannedSearch(request, target, found, made, stop_rules, reached, notes)


def _open_states(
    request: Request, target: EndpointTarget, compiled: Compiled
) -> dict[str, EngineTarget]:
    """Connect to the target in each state of its toggle, where the same rows have to be present.

    Raises:
        PlimsollError: In one state the rows are missing, or the database is unreachable.
    """
    if request.toggle is None:
        return {}
    states = map_endpoints_by_state(target, request.toggle)
    reached = {
        name: adapt_to_pooler(add_credentials(endpoint))[0] for name, endpoint in states.items()
    }
    for name, one in reached.items():
        with find_family(one.protocol).open_datasets(one) as datasets:
            note = datasets.read_note(compiled) if datasets.has_place() else None
            check_complete(compiled, note, f"state {name}: {states[name].address}")
    return reached
