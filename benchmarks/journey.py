"""How many functions and files of ours a command goes through, and how deep; what importing modules runs is left out.

python benchmarks/journey.py ask examples/garden.toml rain --given "grass=wet, ~sprinkler"
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import nbr

SOURCE = Path(nbr.__file__).parent


def main() -> None:
    seen: set[tuple[str, str]] = set()
    deepest = depth = importing = 0

    def watch(frame: FrameType, event: str, argument: object) -> None:
        nonlocal depth, deepest, importing
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(str(SOURCE)):
            return
        if code.co_name == "<module>":
            importing += 1 if event == "call" else -1
        if importing or code.co_name == "<module>":
            return
        depth += 1 if event == "call" else -1
        deepest = max(deepest, depth)
        seen.add((code.co_filename, code.co_qualname))

    from nbr.app.cli import app

    sys.argv = ["nbr", *sys.argv[1:]]
    sys.setprofile(watch)
    try:
        app()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
    files = len({file for file, _ in seen})
    print(f"{len(seen)} functions in {files} files, at most {deepest} deep", file=sys.stderr)


if __name__ == "__main__":
    main()
