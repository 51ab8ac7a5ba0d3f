"""Background: a second workload beside the measured one, with its schedule and its own tables.

The schedule starts anew with each step's load. If it ran on the clock of the run, some repetitions
of a load would coincide with the background and others would not; they would differ by chance, and
no load could be confirmed.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.complaints import Complaint, Range
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.request.load_request import LOAD_MAX_S, Load, WorkloadChoice

SPAN_LEAST_S = 1.0  # a shorter rest at the end of a step is left out

Spans = tuple[tuple[float, float], ...]  # (from, to) in seconds after a step's barrier
WholeSeconds = Annotated[int, Field(ge=1, le=LOAD_MAX_S)]


class Background(Model):
    """A workload that runs beside the one that is measured, and is no part of its answer."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)] = Field(
        description="Name in results, such as `nightly`; different for each background workload."
    )
    workload: WorkloadChoice = Field(
        description="Workload that it runs; same fields as `workload` of the request."
    )
    clients: Annotated[int, Field(ge=1, le=100)] = Field(
        1, description="Number of clients, in addition to those of each step."
    )
    connections_per_client: Annotated[int, Field(ge=1, le=1000)] = Field(
        1, description="Connections per client."
    )
    rate_ops_per_second: Annotated[float, Field(gt=0)] | None = Field(
        None,
        description="Arrival rate in operations per second, summed over all its clients (open"
        " loop). If not set, each connection sends its next operation after the reply to the last"
        " one (closed loop).",
    )
    every_s: WholeSeconds | None = Field(
        None,
        description="Period in seconds, at most `load.duration_s`: it starts with the step's load"
        " and again each period, for `for_s` each time. If neither this nor `at_s` is set, it runs"
        " all the time.",
    )
    at_s: Annotated[int, Field(ge=0, le=LOAD_MAX_S)] | None = Field(
        None,
        description="Start in seconds after the step's load starts; it runs once in each step.",
    )
    for_s: WholeSeconds | None = Field(
        None, description="Duration of each of its runs in seconds, with `every_s` or `at_s`."
    )
    tables: Literal["own", "same"] = Field(
        "own",
        description="Tables that it uses. `own`: tables of its own, prepared in addition. `same`:"
        " those of the request's workload, whose dataset and records it must then have.",
    )

    @model_validator(mode="after")
    def _has_one_schedule(self) -> Self:
        if self.every_s is not None and self.at_s is not None:
            problem = "does not go with every_s: it runs once in a step, or again and again"
            raise UsageError(Complaint(("at_s",), problem, self.at_s))
        scheduled = self.every_s is not None or self.at_s is not None
        if scheduled and self.for_s is None:
            field = "every_s" if self.every_s is not None else "at_s"
            raise UsageError(Complaint(("for_s",), f"is needed with {field}: for how long it runs"))
        if self.for_s is not None and not scheduled:
            problem = "needs every_s or at_s; without them it runs all the time"
            raise UsageError(Complaint(("for_s",), problem, self.for_s))
        if self.every_s is not None and self.for_s is not None and self.for_s >= self.every_s:
            problem = f"less than every_s = {self.every_s}; leave both out to run all the time"
            allowed = Range(least=1, most=self.every_s - 1)
            raise UsageError(Complaint(("for_s",), problem, self.for_s, allowed, listed=False))
        return self

    @property
    def connections(self) -> int:
        """Connections of all its clients together."""
        return self.clients * self.connections_per_client

    def spans(self, length_s: float) -> Spans:
        """Return the time spans in which it runs, in a load of a given length."""
        starts: tuple[int, ...] = (0,)
        if self.every_s is not None:
            starts = tuple(range(0, int(length_s) + 1, self.every_s))
        elif self.at_s is not None:
            starts = (self.at_s,)
        lasts_s = length_s if self.for_s is None else self.for_s
        ends = ((float(start), min(start + lasts_s, length_s)) for start in starts)
        return tuple((start, end) for start, end in ends if end - start >= SPAN_LEAST_S)

    def require_met(self, load: Load) -> None:
        """Refuse a schedule that does not run within a step's window, or not for one whole period.

        Raises:
            UsageError: The schedule is refused; names the field and what is allowed.
        """
        if self.every_s is not None and self.every_s > load.duration_s:
            problem = (
                f"a window of load.duration_s = {load.duration_s:g} s holds no whole period; at_s"
                " places it once in each step"
            )
            allowed = Range(most=int(load.duration_s)) if load.duration_s >= 1 else None
            raise UsageError(Complaint(("every_s",), problem, self.every_s, allowed))
        if self.at_s is None or self.for_s is None:
            return
        latest = load.warmup_s + load.duration_s - SPAN_LEAST_S
        if not load.warmup_s - self.for_s < self.at_s <= latest:
            problem = (
                f"for {self.for_s} s lies outside the window, which begins after load.warmup_s ="
                f" {load.warmup_s:g} s and lasts load.duration_s = {load.duration_s:g} s"
            )
            raise UsageError(Complaint(("at_s",), problem, self.at_s))


class BackgroundLoad(Model):
    """The background work of one step; its clients are numbered after the step's own."""

    name: str
    number: Annotated[int, Field(ge=0)]  # position in the request's `background`, from 0
    first_client: Annotated[int, Field(ge=1)]
    clients: Annotated[int, Field(ge=1)]
    connections: Annotated[int, Field(ge=1)]  # total over its clients, spread evenly
    rate_ops_per_second: float | None  # total over its clients; None for a closed loop
    spans_s: Spans
    load_number: int = 0  # number of the load on its own dataset, as in `StepPlan.load_number`

    @property
    def client_numbers(self) -> range:
        """The numbers of its clients within the step."""
        return range(self.first_client, self.first_client + self.clients)

    def has(self, client: int) -> bool:
        """Whether a client of the step, given by its number, is one of its own."""
        return client in self.client_numbers


def require_possible_backgrounds(backgrounds: tuple[Background, ...], load: Load) -> None:
    """Refuse backgrounds that share a name, and those that no window coincides with.

    Raises:
        UsageError: A background is refused; the path begins with its number.
    """
    names = [background.name for background in backgrounds]
    for number, background in enumerate(backgrounds):
        if background.name in names[:number]:
            problem = "is the name of another one already"
            raise UsageError(Complaint((number, "name"), problem, background.name))
        try:
            background.require_met(load)
        except UsageError as error:
            raise error.within(number) from None
