"""A typed client of the API, made from its description by openapi-python-client, asks, explains and classifies.

python .ci/client.py [ENVIRONMENT]    with the package importable; ENVIRONMENT is a folder to keep the tools in
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ["openapi-python-client==0.29.1", "ruff", "mypy", "httpx", "attrs", "python-dateutil"]
USES = {
    "garden.toml": """
from client import Client
from client.api.default import ask_api_ask_post, explain_api_explain_post, model_api_model_get
from client.models import Ask, AskedReply, Explain, ExplanationReply, ModelReply
here = Client(base_url="ADDRESS")
model = model_api_model_get.sync(client=here)
assert isinstance(model, ModelReply)
answer = ask_api_ask_post.sync(client=here, body=Ask(question="rain", given="grass=wet, ~sprinkler"))
assert isinstance(answer, AskedReply)
why = explain_api_explain_post.sync(client=here, body=Explain(question="rain", given="grass=wet, ~sprinkler"))
assert isinstance(why, ExplanationReply)
assert (answer.belief, answer.plausibility) == (0.7, 1.0), answer
assert why.rules[1].without.belief == 0.0
print("  ", model.name, answer.belief, answer.plausibility, why.words)
""",
    "mnist-4-9": """
from client import Client
from pathlib import Path
from client.api.default import classify_api_classify_post, classify_files_api_classify_files_post
from client.models import BodyClassifyFilesApiClassifyFilesPost, Classified, Picture, Several
from client.types import File
here = Client(base_url="ADDRESS")
four = File(payload=Path("EXAMPLES/four.png").open("rb"), file_name="four.png")
several = classify_files_api_classify_files_post.sync(
    client=here, body=BodyClassifyFilesApiClassifyFilesPost(pictures=[four])
)
assert isinstance(several, Several)
assert [each.label for each in several.pictures] == [4]
found = classify_api_classify_post.sync(client=here, body=Picture(sample=5))
assert isinstance(found, Classified)
assert found.label == 9
assert found.proved_radius is not None and found.proved_radius > 0
print("   a", found.label, "within", found.proved_radius)
""",
}


def main(kept: Path | None = None) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tools = (kept or folder / "tools").resolve()
        if not (tools / "bin" / "openapi-python-client").exists():
            venv.create(tools, with_pip=True)
            subprocess.run([tools / "bin/python", "-m", "pip", "install", "--quiet", *TOOLS], check=True)
        for model, uses in USES.items():
            used(folder, tools / "bin", model, uses)


def used(folder: Path, tools: Path, model: str, uses: str) -> None:
    """Serve a model, make its client, check the types of what uses it, and run that."""
    place = ROOT / "examples" / model
    command = [sys.executable, "-m", "nbr", "serve", str(place) if place.exists() else model, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            address = server.stderr.readline().split(": ", 1)[1].split()[0].rstrip("/")
            (folder / "openapi.json").write_bytes(urllib.request.urlopen(f"{address}/openapi.json").read())
            (folder / "uses.py").write_text(
                uses.replace("ADDRESS", address).replace("EXAMPLES", str(ROOT / "examples")), encoding="utf-8"
            )
            path = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
            made = ["--path", "openapi.json", "--output-path", "client", "--meta", "none", "--overwrite"]
            for words in (
                ["openapi-python-client", "generate", *made],
                ["mypy", "--strict", "--follow-imports=silent", "uses.py"],
                ["python", "uses.py"],
            ):
                done = subprocess.run(
                    [tools / words[0], *words[1:]], cwd=folder, env=path, text=True, capture_output=True
                )
                print(f"{model}: {words[0]}", done.stdout.strip(), sep="\n")
                if done.returncode:
                    sys.exit(done.stdout + done.stderr)
        finally:
            server.terminate()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
