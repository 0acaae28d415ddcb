"""The command that turns other people's models into rules."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nbr.app.options import Force, Json, fresh

if TYPE_CHECKING:
    from nbr.app.importing.clauses import ImportedProgram

Source = Annotated[Path, typer.Argument(help="A Bayesian network in BIF, or a ProbLog program.", metavar="FILE")]
Output = Annotated[
    Path, typer.Option("-o", "--output", callback=fresh, help="The .toml file to write.", metavar="MODEL.toml")
]
PROBLOG = (".pl", ".problog", ".plp")
SHOWN = 20  # questions that are told


def imported(source: Source, output: Output, force: Force = False, as_json: Json = False) -> None:
    """Turn a model of another program into rules that answer the same.

    A Bayesian network (.bif) becomes one rule with several possibilities for each row of its tables, a ProbLog program
    (.pl) one rule for each clause, over closed variables; what was observed is a rule too. Belief, plausibility and
    probability are then the same.

    \b
    nbr import asia.bif -o asia.toml
    nbr import smokers.pl -o smokers.toml
    """
    from nbr.app.importing import bif, clauses
    from nbr.errors import NbrError
    from nbr.kinds import parsed
    from nbr.language import quoted
    from nbr.storage import container, write

    if source.suffix.lower() not in (".bif", *PROBLOG):
        raise NbrError(f"{source}: networks in BIF (.bif) and ProbLog programs ({', '.join(PROBLOG)}) can be taken")
    if output.suffix.lower() != ".toml":
        raise NbrError(f"the name of the output must end in .toml, not {output.name!r}")
    said, queries = container.read(source).decode(errors="replace"), []
    try:
        if source.suffix.lower() == ".bif":
            spec = bif.model(said)
        else:
            program = _program(said)
            spec, queries = clauses.model(program), [quoted(name) for name in program.queries]
        text = container.toml(spec)
    except NbrError as error:
        raise NbrError(f"{source}: {error}") from None
    asked = [f"nbr ask {shlex.quote(output.name)} {shlex.quote(name)}" for name in queries]
    heading = "".join(f"#   {' '.join(line.split())}\n" for line in asked)
    text = (f"# What the program asks:\n{heading}\n" if asked else "") + text
    found = parsed(text, output.parent, output.name)
    write(output, text.encode())
    told = {"output": str(output), "variables": len(found.world), "rules": len(found.rules), "queries": queries}
    typer.echo(json.dumps(told) if as_json else f"{output}: {told['variables']} variables, {told['rules']} rules")
    if asked and not as_json:
        more = len(asked) - SHOWN
        typer.echo("\n".join(["", *(f"  {line}" for line in asked[:SHOWN]), *[f"  and {more} more"] * (more > 0)]))


def _program(text: str) -> "ImportedProgram":
    """As it stands, or grounded first."""
    from nbr.app.importing import prolog

    try:
        return prolog.read(text)
    except prolog.NotGround as why:
        from nbr.app.importing.grounding import grounded

        return grounded(text, why)
