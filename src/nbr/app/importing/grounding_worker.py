"""Grounds a program by ProbLog's own package in a process of its own: a script that imports nothing of ours.

Reads one JSON object on standard input and writes one to standard output. What could read files, run code or print is
taken away from the program first.
"""

import json
import os
import sys
from typing import Any

MEMORY = 4 << 30
PURE = """true fail false = \\= findall all all_or_none == \\== is > < =< >= =\\= =:= var atom atomic compound float
rational integer nonvar number simple callable dbreference primitive ground is_list =.. arg functor @> @< @>= @=<
compare length sort between succ plus once call call_nc subsumes_term subsumes_chk atom_number numbervars varnumbers
forall module"""


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    from problog.errors import ProbLogError

    text = json.load(sys.stdin)["text"]
    try:
        found = grounded(text)
    except ProbLogError as error:
        found = {"error": error.base_message, "line": line_of(text, error.location)}
    except (RecursionError, MemoryError):
        found = {"error": "it is too large to be grounded", "line": None}
    answers.write(json.dumps(found))
    answers.flush()


def grounded(text: str) -> dict[str, object]:
    from problog.engine import DefaultEngine
    from problog.engine_stack import BooleanBuiltIn
    from problog.errors import GroundingError
    from problog.formula import LogicFormula
    from problog.program import PrologString

    def refused(*_: object, **around: Any) -> None:
        place = (around.get("call_origin") or (None, None))[1]
        told = "libraries other than lists, files and printing are not taken"
        raise GroundingError(told, around["database"].lineno(place))

    def lists(scope: Any, file: Any, only: Any = None, **around: Any) -> bool:
        if str(file).replace("'", "") not in ("library(lists)", "library(lists.py)"):
            refused(**around)
        around["database"].use_module(file, only, my_scope=None if str(scope) == "None" else str(scope))
        return True

    engine = DefaultEngine()
    for signature in list(engine.get_builtins()):
        predicate, _, arity = signature.rpartition("/")
        if predicate == "_use_module":
            engine.add_builtin(predicate, int(arity), BooleanBuiltIn(lists))
        elif predicate not in PURE.split():
            engine.add_builtin(predicate, int(arity), refused)
    formula = LogicFormula.create_from(PrologString(text), engine=engine)
    nodes = []
    for place, node, kind in formula:
        told = {"kind": kind, "name": None if node.name is None else term(node.name)}
        if kind == "atom":
            told["chance"] = None if node.is_extra else number(node.probability)
            told |= {"group": str(node.group or f"alone {place}"), "extra": node.is_extra}
        else:
            told["parts"] = list(node.children)
        nodes.append(told)
    return {
        "nodes": nodes,
        "queries": [[term(name), key] for name, key in formula.queries()],
        "evidence": [[term(name), key, value] for name, key, value in formula.evidence_all()],
    }


def term(given: object) -> object:
    """A term as nested lists: its functor, then its arguments."""
    from problog.logic import Term

    if not isinstance(given, Term) or not given.arity:
        return [str(given).strip("'")]
    return [str(given.functor).strip("'"), *(term(part) for part in given.args)]


def number(given: object) -> object:
    try:
        return float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, ArithmeticError):
        return str(given)


def line_of(text: str, location: object) -> int | None:
    if isinstance(location, tuple) and len(location) == 3:
        return int(location[1])
    return text.count("\n", 0, location) + 1 if isinstance(location, int) else None


if __name__ == "__main__":
    main()
