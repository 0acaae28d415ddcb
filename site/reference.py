"""The API: a page of public names, and one for each room of the house, from docstrings; nothing is imported for it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

import nbr

SOURCE = Path(nbr.__file__).parent
HIDDEN = ("__init__", "__main__", "models")
PUBLIC = "# Python\n\nThe names that `import nbr` promises. Everything else may change.\n\n"


def on_config(config: Any) -> Any:
    pages = [{"The public names": "api/index.md"}, *({room: f"api/{room}.md"} for room in _rooms())]
    for entry in config.nav:
        if "Python" in entry:
            entry["Python"] = pages
    return config


def on_files(files: Files, config: Any, **_: Any) -> Files:
    modules = {name: home for name, home in nbr._HOME.items() if home == name}
    public = [f"::: nbr.{home}.{name}" for name, home in sorted(nbr._HOME.items()) if name not in modules]
    listed = "Modules: " + ", ".join(f"[`nbr.{name}`]({name}.md)" for name in sorted(modules)) + ".\n\n"
    files.append(File.generated(config, "api/index.md", content=PUBLIC + listed + "\n\n".join(public) + "\n"))
    for room in _rooms():
        files.append(File.generated(config, f"api/{room}.md", content=_page(room)))
    return files


def _rooms() -> list[str]:
    inside = [place for place in SOURCE.iterdir() if place.suffix == ".py" or (place / "__init__.py").exists()]
    return sorted(place.stem for place in inside if place.stem not in HIDDEN)


def _page(room: str) -> str:
    """What the room is for, in its own words, and its modules in turn."""
    place = SOURCE / room
    files = sorted(place.rglob("*.py")) if place.is_dir() else [SOURCE / f"{room}.py"]
    names = [_name(file) for file in files]
    said = ast.get_docstring(ast.parse(files[0].read_text(encoding="utf-8"))) or ""
    head = f"# nbr.{room}\n\n{said.splitlines()[0] if place.is_dir() else ''}\n\n"
    inside = [name for name in names if name != f"nbr.{room}" or not place.is_dir()]
    return head + "\n\n".join(f"::: {name}" for name in inside) + "\n"


def _name(file: Path) -> str:
    return ".".join(["nbr", *file.relative_to(SOURCE).with_suffix("").parts]).removesuffix(".__init__")
