"""One or several pgbench scripts as a workload, chosen by weight.

The scripts bring no tables: they run on those that are there. What they use and never set is given
by name, as with `pgbench -D`; `:scale` is counted in `pgbench_branches`, as pgbench does.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from plimsoll.complaints import Complaint, Place, Scalar, complain_of_unknown
from plimsoll.documents import make_document, read_text
from plimsoll.errors import WorkloadError
from plimsoll.model.engine.asked import EngineWorkload, Protocol
from plimsoll.model.engine.scripts import (
    ClientStart,
    SeedStart,
    SessionVariable,
    TextStart,
    UndefinedStart,
)
from plimsoll.workload.compiled import Compiled
from plimsoll.workload.declared import locate_errors
from plimsoll.workload.parameters import Parameter
from plimsoll.workload.pgbench.script import Script, read_script
from plimsoll.workload.workload import Workload

SUFFIX = ".sql"
FIELD = "scripts"  # the field with the scripts, in the definition that a search keeps
NO_TABLES = (
    "pgbench scripts send any statement: in a request they need a target that is made for the run"
    " with their tables (`prepare: {pgbench: SCALE}` or `{schema: FILE}`), or an existing database,"
    " on one machine"
)
MOST_SCRIPTS = 128  # pgbench's own limit
_WEIGHED = re.compile(rf"(?P<file>.+{re.escape(SUFFIX)})(?:@(?P<weight>\d{{1,9}}))?")
# The variables that have values of their own
_OWN = {"client_id": ClientStart(), "random_seed": SeedStart(), "default_seed": SeedStart()}
SCALE = "scale"
MAX_TRIES = "max-tries"  # no variable can have this name
MOST_TRIES = 1000


@dataclass(frozen=True)
class ScriptWorkload(Workload):
    """Scripts as a workload.

    Attributes:
        scripts: The scripts.
    """

    scripts: tuple[Script, ...] = ()

    def compile(
        self,
        records: int | None = None,
        parameters: Mapping[str, Scalar] | None = None,
        protocol: Protocol = "postgres",
    ) -> Compiled:
        """Compile the scripts; `records` has no meaning.

        Args:
            records: Not used.
            parameters: The values of variables.
            protocol: The wire protocol of the database family.

        Raises:
            WorkloadError: The database is no PostgreSQL, a variable has no value, or no script uses
                one that is given.
        """
        del records
        self.require_protocol(protocol)
        given = {
            name: str(self.check_setting(name, value)) for name, value in (parameters or {}).items()
        }
        tries = int(given.get(MAX_TRIES, 1))
        for name, place in self.uses.items():
            if name not in given and name not in self.assigned and name not in _OWN:
                raise WorkloadError(_complain_of_undefined(name, place))
        names = sorted({*self.uses, *self.assigned})
        return Compiled(
            name=self.name,
            protocol=protocol,
            dataset=self.dataset,
            records=1,
            parameters=dict(given),
            dataset_parameters={},
            tables=(),
            engine=EngineWorkload(
                key_spaces=(),
                operations=tuple(
                    script.operation.model_copy(update={"max_tries": tries})
                    for script in self.scripts
                ),
                variables=tuple(
                    SessionVariable(
                        name=name,
                        starts=TextStart(value=given[name])
                        if name in given
                        else _OWN.get(name, UndefinedStart()),
                    )
                    for name in names
                ),
            ),
        )

    def compile_on(self, rows: Compiled, parameters: Mapping[str, Scalar]) -> Compiled:
        """Compile the scripts for pgbench's tables, whose number of records is their scale.

        Raises:
            WorkloadError: A variable has no value, or no script uses one that is given.
        """
        scale = {SCALE: rows.records} if self.lacks_scale(parameters) else {}
        compiled = self.compile(None, {**scale, **parameters}, rows.protocol)
        return replace(compiled, dataset=rows.dataset, records=rows.records, tables=rows.tables)

    @property
    def uses(self) -> dict[str, Place]:
        """The variables that the scripts use, each with the place of a use."""
        return {name: place for script in self.scripts for name, place in script.used.items()}

    @property
    def assigned(self) -> frozenset[str]:
        """The variables that the scripts set."""
        return frozenset().union(*(script.assigned for script in self.scripts))

    @property
    def operation_names(self) -> list[str]:
        """The names of its operations, in their order."""
        return [script.operation.name for script in self.scripts]

    @property
    def setting_names(self) -> list[str]:
        """The variables that a user may give, and how often a script is tried."""
        return [*sorted(self.uses), MAX_TRIES]

    def lacks_scale(self, given: Mapping[str, Scalar]) -> bool:
        """Whether `:scale` is used, and neither set nor given."""
        return SCALE in self.uses and SCALE not in self.assigned and SCALE not in given

    def require_protocol(self, protocol: Protocol) -> None:
        """Refuse a database that is no PostgreSQL.

        Raises:
            WorkloadError: It is none.
        """
        if protocol != "postgres":
            raise WorkloadError(
                Complaint(
                    (),
                    f"a pgbench script is for PostgreSQL alone, not for {protocol}",
                    place=Place(self.document.source),
                )
            )

    def check_setting(self, name: str, value: Scalar) -> Scalar:
        """Return a variable's value, or the number of tries.

        Raises:
            WorkloadError: The scripts do not use the variable, or there are no such tries.
        """
        if name == MAX_TRIES:
            with locate_errors(name):
                return Parameter(about="tries", default=1, range=(1, MOST_TRIES)).check(value)
        if name not in self.uses:
            what = f"variable of {self.name}"
            raise WorkloadError(complain_of_unknown(what, name, self.setting_names, (name,)))
        return value


def is_scripted(compiled: Compiled) -> bool:
    """Whether a workload is one of scripts."""
    return any(operation.own_transactions for operation in compiled.engine.operations)


def names_scripts(name: str) -> bool:
    """Whether a workload's name is that of a script, or of several: `a.sql@2,b.sql`."""
    return all(_WEIGHED.fullmatch(part) for part in name.split(","))


def load_scripts(
    name: str, read: Callable[[str], str] = lambda file: read_text(Path(file))
) -> ScriptWorkload:
    """Read scripts from files: `a.sql`, or `a.sql@2,b.sql@1` with weights.

    Args:
        name: The names of the files.
        read: Reads a file.

    Raises:
        WorkloadError: Something in one cannot be run; names file and line.
        UsageError: A file cannot be read.
    """
    scripts = []
    for part in name.split(","):
        found = _WEIGHED.fullmatch(part)
        assert found is not None  # noqa: S101 - `names_scripts` has looked
        weight = 1 if found["weight"] is None else int(found["weight"])
        scripts.append((found["file"], weight, read(found["file"])))
    return make_workload(scripts)


def read_definition(definition: Mapping[str, Any]) -> ScriptWorkload:
    """Read the scripts of a definition, as `make_workload` writes it.

    Raises:
        WorkloadError: It is none, or something in a script cannot be run.
    """
    match definition:
        case {"scripts": [*scripts]} if all(map(_is_script, scripts)) and len(definition) == 1:
            return make_workload([(one["file"], one["weight"], one["text"]) for one in scripts])
    raise WorkloadError(Complaint((FIELD,), "is a list of scripts: file, weight and text of each"))


def _is_script(declared: object) -> bool:
    match declared:
        case {"file": str(), "weight": int(), "text": str()}:
            return True
    return False


def make_workload(files: Sequence[tuple[str, int, str]]) -> ScriptWorkload:
    """Make a workload of scripts.

    Args:
        files: The name of each file, its weight and its text.

    Raises:
        WorkloadError: Something in a script cannot be run, or none is ever chosen.
    """
    if not 1 <= len(files) <= MOST_SCRIPTS:
        raise WorkloadError(Complaint((), f"1 to {MOST_SCRIPTS} scripts are allowed"))
    if not any(weight for _, weight, _ in files):
        raise WorkloadError(Complaint((), "the weights of the scripts sum to nothing"))
    names = _name_operations([file for file, _, _ in files])
    scripts = tuple(
        read_script(text, source=file, name=name, weight=weight)
        for name, (file, weight, text) in zip(names, files, strict=True)
    )
    definition = {
        FIELD: [{"file": file, "weight": weight, "text": text} for file, weight, text in files]
    }
    source = files[0][0]
    document, _ = make_document(definition, source)
    name = "+".join(names)
    return ScriptWorkload(
        name=name,
        about=f"pgbench {'script' if len(files) == 1 else 'scripts'}",
        dataset=name,
        default_records=1,
        parameters={},
        document=document,
        tables_document=document,
        text="\n".join(text for _, _, text in files),
        scripts=scripts,
    )


def _name_operations(files: Sequence[str]) -> list[str]:
    """Name each operation by its file's stem; files of equal stems by their paths."""
    stems = [PurePath(file).stem for file in files]
    names = [
        stem if stems.count(stem) == 1 else file.removesuffix(SUFFIX)
        for stem, file in zip(stems, files, strict=True)
    ]
    names = [re.sub(r"[^\w-]+", "_", name, flags=re.ASCII).strip("_") or "script" for name in names]
    if len({*names}) < len(names):
        names = [f"{name}-{number}" for number, name in enumerate(names, 1)]
    return [name[-64:] for name in names]


def _complain_of_undefined(name: str, place: Place) -> Complaint:
    problem = f"the variable :{name} is never set: -D {name}=VALUE gives it a value"
    return Complaint((), problem, place=place)
