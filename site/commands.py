"""commands.md: every command with its arguments and options, as the program itself knows them."""

from __future__ import annotations

from typing import Any

import typer.main
from mkdocs.structure.files import File, Files

from nbr.app.cli import app

HEAD = """# Every command

Written by the program itself. Every command takes `--help`; `--json` prints one JSON object
on stdout and nothing else there. Bad input is one line on stderr that says what and where, and exit
code 2; nothing is half-written.

```sh
nbr --install-completion    # the shell then completes commands and options
```
"""


def on_files(files: Files, config: Any, **_: Any) -> Files:
    files.append(File.generated(config, "commands.md", content=text()))
    return files


def text() -> str:
    whole: Any = typer.main.get_command(app)
    named = sorted(whole.commands.items())
    listed = ["| command | |", "|---|---|", *(f"| [{name}](#nbr-{name}) | {_first(each)} |" for name, each in named)]
    return "\n".join([HEAD, *listed, "", *(part for name, each in named for part in _command(name, each))])


def _command(name: str, command: Any) -> list[str]:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and each.name != "help"]
    usage = " ".join(["nbr", name, *map(_written, arguments), "[OPTIONS]"])
    lines = [f"## nbr {name}", "", f"```\n{usage}\n```", "", " ".join(command.help.split()), ""]
    lines += ["| | | |", "|---|---|---|"]
    lines += [f"| `{_written(each)}` | {_said(each)} | |" for each in arguments]
    lines += [f"| `{', '.join(each.opts)}` | {_said(each)} | {_default(each)} |" for each in options]
    return [*lines, ""]


def _written(argument: Any) -> str:
    """As usage lines have it: [NAME] may be left out, NAME... may be repeated."""
    name = argument.name.upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _said(parameter: Any) -> str:
    return " ".join((parameter.help or "").split()).replace("|", "\\|")


def _default(option: Any) -> str:
    if option.required:
        return "needed"
    if option.default in (None, False, ()):
        return "may be repeated" if option.multiple else ""
    return f"`{option.default}`"


def _first(command: Any) -> str:
    return " ".join(command.help.split())
