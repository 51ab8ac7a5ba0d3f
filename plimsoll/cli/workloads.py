"""`plimsoll workloads`: lists and shows the workloads that a database can be loaded with."""

import json

import click

from plimsoll import words
from plimsoll.cli.output import console, table_of
from plimsoll.workload import builtin_names, load_workload


@click.group("workloads", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
    """List the built-in workloads."""
    if context.invoked_subcommand is not None:
        return
    workloads = [load_workload(name) for name in builtin_names()]
    if as_json:
        click.echo(json.dumps([workload.summary() for workload in workloads], indent=2))
        return
    table = table_of("workload", "dataset", "about")
    for workload in workloads:
        table.add_row(workload.name, workload.dataset, workload.about)
    console().print(table)


@command.command("show")
@click.argument("name", metavar="NAME|FILE.yaml")
@click.option("--json", "as_json", is_flag=True, help="Print what it resolves to as JSON.")
def show(name: str, *, as_json: bool) -> None:
    """Show a workload: its text, its parameters, and the tables and statements that it means."""
    workload = load_workload(name)
    compiled = workload.compile(None if workload.default_records else 1000)
    if as_json:
        resolved = {
            **workload.summary(),
            "tables": {table.name: table.create_sql for table in compiled.tables},
            "operations": [
                operation.model_dump(mode="json") for operation in compiled.engine.operations
            ],
        }
        click.echo(json.dumps(resolved, indent=2))
        return
    click.echo(workload.text.rstrip())
    if workload.parameters:
        click.echo("\n# parameters (--set NAME=VALUE)")
        for parameter_name, parameter in workload.parameters.items():
            click.echo(f"#   {parameter_name} = {parameter.default}: {parameter.about}")
    click.echo(f"\n# the dataset {workload.dataset!r} with --records {compiled.records:,}")
    for table in compiled.tables:
        click.echo(f"# {table.name}: {words.plural(table.rows, 'row')}")
        for sql in (table.create_sql, *table.index_sql.values()):
            click.echo("\n".join(f"#   {line}" for line in sql.splitlines()))
