"""schemathesis against the OpenAPI description of `nbr serve`: whatever it thinks of, no answer is a 500.

    python benchmarks/serve_fuzz.py [--examples 100] [-o docs/results/serve-fuzz.json]

A reasoner with and without a prior, and a classifier. Statuses and shapes of answers have to be those described.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import nbr

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"

PRIOR = """[variables]
a = "bit"
b = ["u", "v"]
c = { from = 0, to = 1 }
[prior]
a = 0.2
[[rules]]
rule = "a -> b=u"
belief = 0.9
"""


def main() -> None:
    from nbr.app.serving.limits import Allowed
    from served import served

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "prior.toml").write_text(PRIOR, encoding="utf-8")
        models = {
            "majority.toml": nbr.load(ROOT / "examples" / "majority.toml"),
            "a choice, a number and a prior": nbr.load(Path(folder, "prior.toml")),
            "mnist-4-9": nbr.load("mnist-4-9"),
        }
    told = {}
    for name, model in models.items():
        with served(model, name, allowed=Allowed(seconds=1.0)) as address:
            command = [str(Path(sys.executable).parent / "st"), "run", f"{address}/openapi.json", "--checks", CHECKS]
            command += ["--max-examples", str(asked.examples), "--seed", "0", "--request-timeout", "60", "--no-color"]
            done = subprocess.run(command, capture_output=True, text=True, cwd=tempfile.gettempdir())
        said = done.stdout
        counts = re.search(r"Test cases:\s*\n\s*(.*)", said)
        told[name] = {"exit": done.returncode, "cases": counts[1].strip() if counts else "", "500": said.count("[500]")}
        print(said[-2500:] if done.returncode else f"{name}: {told[name]['cases']}, nothing found")
    if asked.output:
        asked.output.write_text(json.dumps({"checks": CHECKS.split(","), **told}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
