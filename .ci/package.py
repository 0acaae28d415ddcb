"""Build sdist and wheel, install the wheel in an empty environment and use it: the core alone, then with [all].

python .ci/package.py            in a temporary folder; pip's own cache keeps it short
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from hints import printed  # noqa: E402

CORE = """
import nbr
r = nbr.Reasoner(nbr.World.bits(2), [nbr.Clause("x0 -> x1", belief=0.9)])
answer = r.ask("x1", given="x0")
assert (answer.belief, answer.plausibility) == (0.9, 1.0), answer
r.save("m.nbr")
assert nbr.load("m.nbr").ask("x1", given="x0").belief == 0.9
"""
USES = """
import sys
import nbr
answer = nbr.Reasoner(nbr.World.bits(2)).ask("x1")
uses = [
    lambda: nbr.load("mnist-4-9"),
    lambda: nbr.fit("t.csv", rules="clauses"),
    lambda: answer.plot(),
    lambda: nbr.RobustClassifier(),
]
wanted = sys.argv[1] == "installed"
for use in uses:
    try:
        use()
    except nbr.NbrError as error:
        assert not wanted and "pip install 'neural-belief-reasoner[" in str(error), error
        print("   without it:", error)
    else:
        assert wanted, "something worked that should have named an extra"
"""


def main() -> None:
    os.environ["PIP_CONSTRAINT"] = str(ROOT / "constraints.txt")
    os.environ["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    os.environ.pop("PYTHONPATH", None)  # what is installed is meant, not a folder
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = built(folder)
        with step("an empty environment"):
            venv.create(folder / "env", with_pip=True)
        with step("the core alone"):
            run(folder, "pip", "install", "--quiet", "--no-compile", str(wheel))
        (folder / "t.csv").write_text("a,b\n" + "1,0\n" * 20, encoding="utf-8")
        run(folder, "python", "-c", CORE)
        told = run(folder, "python", "-c", USES, "missing")
        print(told, end="")
        hints = printed()
        assert set(re.findall(r"pip install '[^']+'", told)) <= hints, told
        refused = subprocess.run([folder / "env/bin/nbr", "--help"], capture_output=True, text=True, cwd=folder)
        told = refused.stderr.strip()
        assert refused.returncode == 2, told
        assert "pip install 'neural-belief-reasoner[cli]'" in told, told
        print("   without it:", told)
        with step("every hint of the source, run as it is printed"):
            for hint in sorted(hints):
                print("  ", hint, flush=True)
                run(
                    folder,
                    "python",
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--no-compile",
                    "--find-links",
                    str(folder),
                    *shlex.split(hint)[2:],
                )
        run(folder, "python", "-c", USES, "installed")
        with step("with [all]"):
            run(folder, "pip", "install", "--quiet", "--no-compile", "neural-belief-reasoner[all]")  # as our hints say
        everything(folder)
    print("installed and used: core alone, and [all]")


def built(folder: Path) -> Path:
    with step("sdist, and the wheel from it"):
        venv.create(folder / "tools", with_pip=True)
        tools = folder / "tools" / "bin" / "python"
        subprocess.run([tools, "-m", "pip", "install", "--quiet", "build"], check=True)
        build = [tools, "-m", "build", "--outdir", folder, ROOT]
        told = subprocess.run(build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if told.returncode:
            sys.exit(told.stdout)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    print(f"   {sdist.name} {sdist.stat().st_size / 1e6:.1f} MB, {wheel.name} {wheel.stat().st_size / 1e6:.1f} MB")
    return wheel


def everything(folder: Path) -> None:
    """Commands of each extra, and the page of a server."""
    garden = ROOT / "examples" / "garden.toml"
    assert "[belief, plausibility]" in run(folder, "nbr", "--help")
    told = json.loads(run(folder, "nbr", "ask", str(garden), "rain", "--given", "grass=wet, ~sprinkler", "--json"))
    assert (told["belief"], told["plausibility"]) == (0.7, 1.0), told
    run(folder, "nbr", "fit", str(ROOT / "examples" / "survey.csv"), "--rules", "clauses", "-o", "s.nbr")
    assert "probability" in run(folder, "nbr", "ask", "s.nbr", "cough", "--given", "smokes")
    assert ": 9" in run(folder, "nbr", "classify", str(ROOT / "examples" / "nine.png"))
    run(folder, "nbr", "show", str(garden), "--plot", "rules.png")
    shell = ["bash", "-c", f"'{folder}/env/bin/nbr' --show-completion && true"]  # it asks which shell runs it
    assert "_nbr_completion" in subprocess.run(shell, capture_output=True, text=True, cwd=folder).stdout
    command = [folder / "env/bin/nbr", "serve", str(garden), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder) as server:
        assert server.stderr is not None
        found = re.search(r"http://\S+/", server.stderr.readline())
        assert found
        page = urllib.request.urlopen(found[0]).read().decode()
        for name in re.findall(r'(?:src|href)="/([\w.]+)"', page):
            assert urllib.request.urlopen(found[0] + name).status == 200
        assert json.load(urllib.request.urlopen(f"{found[0]}api/model"))["name"] == "garden.toml"
        server.terminate()


def run(folder: Path, program: str, *words: str) -> str:
    """A program of the environment, in the folder, so that nothing of the project's own folder is found."""
    done = subprocess.run([folder / "env/bin" / program, *words], capture_output=True, text=True, cwd=folder)
    if done.returncode:
        sys.exit(f"{program} {' '.join(words)[:200]}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class step:
    """Says what is done, and how long it took."""

    def __init__(self, words: str) -> None:
        self.words = words

    def __enter__(self) -> None:
        self.start = time.monotonic()

    def __exit__(self, *_: object) -> None:
        print(f"{self.words}: {time.monotonic() - self.start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
