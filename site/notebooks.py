"""Notebooks as pages: they are run while the site is built, so that what they show is what they give today."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.structure.files import File, Files
from nbclient import NotebookClient

PLACE = Path(__file__).parents[1] / "docs" / "notebooks"


def on_files(files: Files, config: Any, **_: Any) -> Files:
    for place in sorted(PLACE.glob("*.ipynb")):
        notebook = run(place)
        pictures: list[bytes] = []
        text = "\n\n".join(_cell(cell, place.stem, pictures) for cell in notebook.cells)
        files.append(File.generated(config, f"notebooks/{place.stem}.md", content=text))
        for number, content in enumerate(pictures):
            files.append(File.generated(config, f"notebooks/{place.stem}-{number}.png", content=content))
    return files


def run(place: Path) -> Any:
    """The notebook with its outputs; a cell that fails ends the build."""
    notebook = nbformat.read(place, as_version=4)
    quiet = ["--IPKernelApp.log_level=ERROR"]  # it warns that others on this computer may listen
    where = {"metadata": {"path": PLACE}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=where, extra_arguments=quiet).execute()
    return notebook


def _cell(cell: Any, stem: str, pictures: list[bytes]) -> str:
    if cell.cell_type == "markdown":
        return str(cell.source)
    parts = [f"```python\n{cell.source}\n```"]
    return "\n\n".join([*parts, *(_output(each, stem, pictures) for each in cell.outputs)])


def _output(output: Any, stem: str, pictures: list[bytes]) -> str:
    if output.output_type == "stream":
        return f"```\n{output.text.rstrip()}\n```" if output.name == "stdout" else ""
    if "text/html" in output.data:
        words = re.sub(r"<style.*?</style>", "", output.data["text/html"], flags=re.DOTALL)
        return f'<div class="shown">{" ".join(words.split())}</div>'
    if "image/png" in output.data:
        pictures.append(base64.b64decode(output.data["image/png"]))
        return f"![What the cell above draws]({stem}-{len(pictures) - 1}.png)"
    return f"```\n{output.data['text/plain'].rstrip()}\n```"
