"""The help of `nbr` itself: commands in groups, each with a whole sentence, and an example to begin with."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

GROUPS = {
    "Ask a model": ("init", "ask", "explain", "best", "decide", "show", "check", "schema"),
    "Learn from tables": ("fit", "score", "predict", "impute", "compare", "collect", "sample", "distil"),
    "See and share": ("serve", "mcp"),
    "Classify pictures": ("train", "classify", "certify", "attack"),
    "More": ("combine", "import", "data", "reproduce"),
}
EXAMPLE = """\
nbr init first.toml                    write a small rule file to start from
nbr ask first.toml grass=wet --given rain
nbr explain first.toml grass=wet --given rain
nbr serve first.toml                   the same on a page, in the browser
nbr COMMAND --help                     what a command takes, with examples"""


class GroupedCommands(TyperGroup):
    """Lists its commands under headings; one that no heading names stands under the last."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        shown = {name: self.commands[name] for name in self.list_commands(ctx) if not self.commands[name].hidden}
        placed = {name for names in GROUPS.values() for name in names}
        width = max(map(len, shown))
        for title, names in GROUPS.items():
            others = [name for name in shown if name not in placed] if title == "More" else []
            rows = [
                (name.ljust(width), first_sentence(shown[name].help or ""))
                for name in (*names, *others)
                if name in shown
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
        with formatter.section("Begin with"):
            for line in EXAMPLE.splitlines():
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def first_sentence(words: str) -> str:
    """All up to the first full stop, on one line.

    >>> first_sentence("Ask a model. The answer is\\nan interval.")
    'Ask a model.'
    """
    line = " ".join(words.split("\n\n")[0].split())
    sentence, stop, _ = line.partition(". ")
    return sentence + "." if stop else line
