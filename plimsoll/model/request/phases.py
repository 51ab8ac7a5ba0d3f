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
from plimsoll.model.request.load_request import LOAD_MAX_S, WorkloadChoice, compute_longest_load_s
from plimsoll.model.request.search_request import Search

# --- phase input: a file of records that the clients process in order ---


CSV_MOST = 200_000  # characters; the request with it must fit into an API request body
BIGINT = range(-(2**63), 2**63)
_WHOLE = re.compile(r"-?\d{1,19}")

Column = list[int] | list[str]


class PhaseInput(Model):
    """A table of records."""

    csv: Annotated[str, Field(min_length=1, max_length=CSV_MOST)] = Field(
        description="Text in CSV format, with the column names in the first line. In a request"
        " file, `{file: PATH}` reads it from a file; PATH is relative to the request, and"
        " leads into its folder or below; `--allow-files DIR` allows another one."
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
        None, description="Name of a built-in workload (`plimsoll workload list` lists them)."
    )
    definition: dict[str, Any] | None = Field(
        None, description="Workload in the format of workloads/*.yaml, instead of `name`."
    )
    parameters: dict[str, int | float | str] = Field(
        default_factory=dict, description="Values of the workload's parameters, by parameter name."
    )
    input: PhaseInput | None = Field(
        None,
        description="Records that the clients go through in order, starting again at the end."
        " `{input: NAME}` in the `definition` refers to one of their columns.",
    )

    @model_validator(mode="after")
    def _require_one_of_both(self) -> Self:
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
        description="Number of records per pass, summed over all clients. Each pass uses the next"
        " slice of the records."
    )
    connections: Annotated[tuple[Connections, ...], Field(min_length=1, max_length=20)] = Field(
        description="Loads to try, in ascending order, as connections summed over all clients."
    )
    connections_per_client: Connections = Field(
        64, description="Connections per client; a client is added when more are needed."
    )
    repetitions: Annotated[int, Field(ge=1, le=REPETITIONS_MOST)] = Field(
        3, description="Number of passes at each load; the loads alternate."
    )
    longest_s: Annotated[float, Field(gt=0, le=LOAD_MAX_S)] = Field(
        600, description="Time-out of a pass in seconds; a pass that takes longer ends unfinished."
    )

    @model_validator(mode="after")
    def _require_ascending(self) -> Self:
        if list(self.connections) != sorted(set(self.connections)):
            problem = "a list of different numbers in ascending order"
            raise UsageError(Complaint(("connections",), problem))
        return self

    @model_validator(mode="after")
    def _clients_have_time_to_start(self) -> Self:
        """Refuse a pass too short for its clients: the first one called waits for the last."""
        clients = -(-self.connections[-1] // self.connections_per_client)
        most_s = compute_longest_load_s(clients)
        if self.longest_s > most_s:
            problem = f"is too long: the first of {clients:,} clients waits for the last"
            allowed = Range(most=most_s)
            raise UsageError(Complaint(("longest_s",), problem, self.longest_s, allowed))
        return self

    @property
    def passes(self) -> int:
        """Number of passes over the records; each takes the next part of the input."""
        return len(self.connections) * self.repetitions


class Phase(Model):
    """One phase: its workload, on the database as the previous phase left it."""

    name: PhaseName = Field(description="Name of the phase; unique in the request.")
    workload: PhaseWorkload | None = Field(
        None,
        description="Workload that runs on the dataset of the run's own workload. If not set, the"
        " run's own workload.",
    )
    to_completion: Completion | None = Field(
        None,
        description="Number of records to process, and the loads to try. Give either this or"
        " `search`.",
    )
    search: Search | None = Field(
        None,
        description="Loads to try for a capacity of its own, with the request's `load`; instead of"
        " `to_completion`.",
    )
    limits: Rules | None = Field(
        None,
        description="With `search`: when a step passes. If not set, the request's `limits`,"
        " without `soak_s` and without the operations that the phase does not have.",
    )

    @model_validator(mode="after")
    def _require_one_end(self) -> Self:
        if (self.to_completion is None) == (self.search is None):
            raise UsageError("give either `to_completion` or `search`")
        if self.limits is not None and self.search is None:
            problem = "is for a `search`: a pass to completion is not judged"
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


def compute_records_per_operation(operations: Sequence[EngineOperation]) -> float:
    """Return the mean number of records per operation of a mix."""
    weights = sum(operation.weight for operation in operations)
    return sum(operation.weight * operation.records for operation in operations) / weights
