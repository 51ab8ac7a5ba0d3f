"""The phases of a request: workloads that run one after another before its own search."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from plimsoll.complaints import Complaint, Range, complain_of_unknown
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.engine.asked import EngineOperation
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.request.load_request import LOAD_MAX_S, WorkloadChoice, longest_load_s
from plimsoll.model.request.search_request import Search

# --- phase input: a file of records that the clients process in order ---


CSV_MOST = 200_000  # characters; the request with it must fit into an API request body
BIGINT = range(-(2**63), 2**63)
_WHOLE = re.compile(r"-?\d{1,19}")

Column = list[int] | list[str]


class PhaseInput(Model):
    """A table of records."""

    csv: Annotated[str, Field(min_length=1, max_length=CSV_MOST)] = Field(
        description="CSV, its first line the columns' names. In a request's file: `{file: PATH}`,"
        " beside that file."
    )

    def columns(self) -> dict[str, Column]:
        """Return the cells of each column: whole numbers if all of them are, otherwise text.

        Empty lines are skipped.

        Raises:
            UsageError: The input is no table, or it has no records.
        """
        try:
            names, *lines = filter(None, csv.reader(io.StringIO(self.csv, newline=""), strict=True))
        except (csv.Error, ValueError) as error:
            raise UsageError(Complaint(("csv",), f"no CSV: {error}")) from None
        if not lines or len(set(names)) < len(names):
            problem = "needs a line of different names, and at least one record"
            raise UsageError(Complaint(("csv",), problem))
        for number, line in enumerate(lines, 2):
            if len(line) != len(names):
                problem = f"line {number} has {len(line)} cells for {len(names)} columns"
                raise UsageError(Complaint(("csv",), problem))
        return {
            name: _parse_column(list(cells)) for name, *cells in zip(names, *lines, strict=True)
        }


def _parse_column(cells: list[str]) -> Column:
    if all(_WHOLE.fullmatch(cell) and int(cell) in BIGINT for cell in cells):
        return [int(cell) for cell in cells]
    return cells


def fill_inputs(definition: Any, columns: Mapping[str, Column]) -> Any:
    """Replace each `{input: NAME}` in a workload's definition by the cells of that column.

    Raises:
        UsageError: The input has no such column.
    """
    if isinstance(definition, list | tuple):
        return [fill_inputs(part, columns) for part in definition]
    if not isinstance(definition, Mapping):
        return definition
    if set(definition) == {"input"}:
        name = definition["input"]
        if name not in columns:
            path = ("workload", "definition")
            raise UsageError(
                complain_of_unknown("column of the input", str(name), columns, path, value=name)
            )
        return {"column": columns[name]}
    return {name: fill_inputs(part, columns) for name, part in definition.items()}


PhaseName = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]
Connections = Annotated[int, Field(ge=1, le=20_000)]
REPETITIONS_MOST = 15


class PhaseWorkload(Model):
    """The workload of a phase, on the tables and records of the run."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+([-_][a-z0-9]+)*$")] | None = Field(
        None, description="A built-in workload (`plimsoll workloads`)."
    )
    definition: dict[str, Any] | None = Field(
        None, description="A workload in the format of workloads/*.yaml, in place of a name."
    )
    parameters: dict[str, int | float | str] = Field(
        default_factory=dict, description="Values for the workload's own parameters, by name."
    )
    input: PhaseInput | None = Field(
        None,
        description="Records that the clients go through one after another, and round again:"
        " `{input: NAME}` in the `definition` is a column of them.",
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.name is None) == (self.definition is None):
            raise UsageError("give either `name` or `definition`")
        if self.input is not None and self.definition is None:
            problem = "is for a `definition`, which names its columns"
            raise UsageError(Complaint(("input",), problem))
        return self

    def on(self, dataset: WorkloadChoice) -> WorkloadChoice:
        """Return the workload for a dataset, with the columns of the input filled in.

        Raises:
            UsageError: The input is no table, or it lacks a column.
        """
        definition = self.definition
        if self.input is not None:
            try:
                columns = self.input.columns()
            except UsageError as error:
                raise error.within("workload", "input") from None
            definition = fill_inputs(definition, columns)
        return WorkloadChoice(
            name=self.name,
            definition=definition,
            records=dataset.records,
            parameters=self.parameters,
        )


class Completion(Model):
    """A phase that processes a fixed number of records, from first to last, at growing loads."""

    records: Annotated[int, Field(ge=1, le=10**9)] = Field(
        description="Records of one pass, all clients together; each pass is a slice of its own."
    )
    connections: Annotated[tuple[Connections, ...], Field(min_length=1, max_length=20)] = Field(
        description="Connections of all clients together, ascending: so hard the target is pushed."
    )
    connections_per_client: Connections = Field(
        64, description="A client is added for every so many connections."
    )
    repetitions: Annotated[int, Field(ge=1, le=REPETITIONS_MOST)] = Field(
        3, description="Passes at each of the loads, which take turns."
    )
    longest_s: Annotated[float, Field(gt=0, le=LOAD_MAX_S)] = Field(
        600, description="After which a pass ends unfinished, in seconds."
    )

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if list(self.connections) != sorted(set(self.connections)):
            problem = "a list of different numbers in ascending order"
            raise UsageError(Complaint(("connections",), problem))
        return self

    @model_validator(mode="after")
    def _clients_have_time_to_start(self) -> Self:
        """Refuse a pass too short for its clients: the first one called waits for the last."""
        clients = -(-self.connections[-1] // self.connections_per_client)
        most_s = longest_load_s(clients)
        if self.longest_s > most_s:
            problem = f"is too much: of {clients:,} clients the first waits for the last"
            allowed = Range(most=most_s)
            raise UsageError(Complaint(("longest_s",), problem, self.longest_s, allowed))
        return self

    @property
    def passes(self) -> int:
        """Number of passes over the records; each takes the next part of the input."""
        return len(self.connections) * self.repetitions


class Phase(Model):
    """One phase: its workload, on the database as the previous phase left it."""

    name: PhaseName = Field(description="What the phase is called; each has a name of its own.")
    workload: PhaseWorkload | None = Field(
        None,
        description="What is asked, on the dataset of the run's own workload; none: that workload.",
    )
    to_completion: Completion | None = Field(
        None, description="How much of it, and how hard it is pushed; or a `search`."
    )
    search: Search | None = Field(
        None,
        description="In place of `to_completion`: which loads are tried, for an answer of its own,"
        " with `load` of the request.",
    )
    limits: Rules | None = Field(
        None,
        description="With `search`: when a step passes; none: as the request's `limits`, without"
        " their soak and those of operations that the phase does not have.",
    )

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if (self.to_completion is None) == (self.search is None):
            raise UsageError("give either `to_completion` or `search`")
        if self.limits is not None and self.search is None:
            problem = "is for a `search`: nothing of a pass to completion is judged"
            raise UsageError(Complaint(("limits",), problem))
        return self

    def workload_on(self, of_run: WorkloadChoice) -> WorkloadChoice:
        """Return the phase's workload for the run's records.

        Raises:
            UsageError: See `PhaseWorkload.on`.
        """
        return of_run if self.workload is None else self.workload.on(of_run)

    @property
    def steps_most(self) -> int:
        """The most steps that it takes, each with its own number."""
        if self.search is not None:
            return self.search.probes_max
        assert self.to_completion is not None  # noqa: S101 - a phase has a search or a completion
        return self.to_completion.passes


def count_phase_steps(phases: tuple[Phase, ...]) -> int:
    """Count the most steps that phases take; the steps of the search are numbered after them."""
    return sum(phase.steps_most for phase in phases)


def require_different_names(phases: tuple[Phase, ...]) -> None:
    """Refuse two phases with the same name.

    Raises:
        UsageError: Two phases have the same name.
    """
    for number, phase in enumerate(phases):
        if phase.name in {other.name for other in phases[:number]}:
            path = ("phases", number, "name")
            raise UsageError(Complaint(path, "another phase has this name", phase.name))


# --- passes of a request's phases, in order ---


@dataclass(frozen=True)
class Pass:
    """One pass of a phase over its records.

    Attributes:
        index: number of its step in the run, from 1.
        phase: phase of the pass.
        asked: completion that the phase requests.
        number: number of the pass within its phase, from 0.
        connections: total over all clients.
    """

    index: int
    phase: Phase
    asked: Completion
    number: int
    connections: int

    @property
    def clients(self) -> int:
        """The number of clients for its connections."""
        return -(-self.connections // self.asked.connections_per_client)


def number_phases(phases: tuple[Phase, ...]) -> list[tuple[Phase, int]]:
    """Return each phase with the number of step numbers reserved for the phases before it."""
    return [(phase, count_phase_steps(phases[:place])) for place, phase in enumerate(phases)]


def passes(phases: tuple[Phase, ...]) -> list[Pass]:
    """List every pass of the phases in order; a phase with a search has none."""
    return [
        Pass(first + number + 1, phase, asked, number, connections)
        for phase, first in number_phases(phases)
        if (asked := phase.to_completion) is not None
        for number, connections in enumerate(asked.connections * asked.repetitions)
    ]


def records_per_operation(operations: Sequence[EngineOperation]) -> float:
    """Return the mean number of records per operation of a mix."""
    weights = sum(operation.weight for operation in operations)
    return sum(operation.weight * operation.records for operation in operations) / weights
