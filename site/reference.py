"""The API by topic, from docstrings: one page for each public class, and for the functions of each module."""

from __future__ import annotations

from typing import Any

from mkdocs.structure.files import File, Files

import nbr

HEAD = """# Python

Everything here is public: what `import nbr` offers, and the results that it returns. Other modules may change without
notice ([releases](../releasing.md)). Points are tensors in float64 with the batch first. Randomness comes only from
seeds.

"""
MODULES = ("evidence", "priors", "lipschitz", "datasets")
TOPICS = {
    "Worlds and statements": ["World", "Bit", "Choice", "Ordered", "Real", "parse", "Expression"],
    "Rules": ["Clause", "Neural", "Fuzzy", "Memory", "one_of", "Source", "Rule"],
    "Models": ["Reasoner", "load", "NbrError"],
    "Answers": [
        "Answer",
        "Bounds",
        "Probability",
        "Explanation",
        "Ranking",
        "Best",
        "Appraisal",
        "Check",
        "Collecting",
        "Session",
        "Distilled",
        "Tuning",
        "FocalSet",
    ],
    "Learning from tables": ["fit", "Fitted", "Predictor", "priors"],
    "Classifiers": ["RobustClassifier", "NonexpansiveClassifier", "BeliefClassifier", "certified_radius", "Verdict"],
    "Pictures among the rules": ["Sensor", "train", "Readings"],
    "Belief functions as tensors": ["evidence"],
    "Networks with a proof": ["lipschitz"],
    "Data": ["datasets"],
}
ALONE = "      show_root_heading: false\n      show_root_toc_entry: false\n"


def on_config(config: Any) -> Any:
    topics = [{topic: [{name: f"api/{name}.md"} for name in names]} for topic, names in TOPICS.items()]
    for entry in config.nav:
        if "Python" in entry:
            entry["Python"] = [{"All names": "api/index.md"}, *topics]
    return config


def on_files(files: Files, config: Any, **_: Any) -> Files:
    missing = set(nbr.__all__) - {name for names in TOPICS.values() for name in names}
    if missing:
        raise ValueError(f"public names without a topic: {', '.join(sorted(missing))}")
    listed = "\n".join(f"## {topic}\n\n{_table(names)}" for topic, names in TOPICS.items())
    files.append(File.generated(config, "api/index.md", content=HEAD + listed))
    for name in {name for names in TOPICS.values() for name in names}:
        files.append(File.generated(config, f"api/{name}.md", content=_page(name)))
    return files


def _table(names: list[str]) -> str:
    rows = [f"| [nbr.{name}]({name}.md) | {_first(name)} |" for name in names]
    return "\n".join(["| name | |", "|---|---|", *rows, ""])


def _first(name: str) -> str:
    """The first sentence of the docstring."""
    said = (_value(name).__doc__ or "").strip().split("\n\n")[0]
    return " ".join(said.split()).replace("|", "\\|")


def _page(name: str) -> str:
    if name not in MODULES:
        return f"# {name}\n\n" + _entry(_path(name)) + ALONE
    module = _value(name)
    words, sign, code = (module.__doc__ or "").partition(">>>")
    example = f"```python\n{sign}{code.rstrip()}\n```\n\n" if sign else ""
    entries = "\n".join(_entry(_path(name, each)) for each in _names(module))
    return f"# nbr.{name}\n\n{words.strip()}\n\n{example}{entries}"


def _entry(path: str) -> str:
    return f"::: {path}\n    options:\n      inherited_members: true\n"


def _names(module: Any) -> list[str]:
    """The classes and functions that a module promises, classes first."""
    named = [name for name in module.__all__ if hasattr(getattr(module, name), "__qualname__")]
    return sorted(named, key=lambda name: (not name[0].isupper(), name.lower()))


def _value(name: str) -> Any:
    return getattr(nbr, name)


def _path(name: str, member: str | None = None) -> str:
    value = _value(name) if member is None else getattr(_value(name), member)
    return f"{value.__module__}.{value.__qualname__}"
