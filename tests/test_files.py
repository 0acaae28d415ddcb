"""Files: nothing is lost, nothing is half-written, and nothing in a file can crash or run."""

import json
import pickle
import random
import struct

import pytest
import torch
from torch import nn

import nbr

TOML = """
[variables]
rain = "bit"
grass = ["dry", "wet"]
temperature = { from = -20, to = 45 }
"x1..x3" = "bit"
[[rules]]
rule = "rain -> grass=wet"
belief = 0.9
[[rules]]
memory = { rain = 1, temperature = 12.5 }
radius = 0.3
belief = 0.4
name = "last autumn"
"""


def model() -> nbr.Reasoner:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    world = nbr.World({"rain": nbr.Bit(), "blood pressure": nbr.Real(60, 220), "c": nbr.Choice("é", "b c")})
    rules = [
        nbr.Clause('rain -> "blood pressure">=140', 0.9, name="law"),
        nbr.Neural(["rain", "c"], net, 1 / 3),
        nbr.Memory({"rain": 1, "c": "b c"}, 0.5, 0.2),
    ]
    return nbr.Reasoner(world, rules)


def same(first: nbr.Reasoner, second: nbr.Reasoner) -> bool:
    points = torch.tensor([[0, 60.0, 0], [1, 139.0, 1], [1, 150.0, 0]], dtype=torch.float64)
    return (
        first.world == second.world
        and torch.equal(first.beliefs, second.beliefs)
        and torch.equal(first.grades(points), second.grades(points))
        and [rule.name for rule in first.rules] == [rule.name for rule in second.rules]
    )


def test_toml(tmp_path) -> None:
    (tmp_path / "m.toml").write_text(TOML)
    reasoner = nbr.load(tmp_path / "m.toml")
    assert reasoner.world.names == ("rain", "grass", "temperature", "x1", "x2", "x3")
    assert reasoner.ask("grass=wet", given="rain").belief == pytest.approx(0.9, abs=0.1)
    assert [str(rule) for rule in reasoner.rules] == ["rain -> grass=wet", "last autumn"]


def test_saved_model_is_equal(tmp_path) -> None:
    model().save(tmp_path / "m.nbr")
    assert same(nbr.load(tmp_path / "m.nbr"), model())
    assert [path.name for path in tmp_path.iterdir()] == ["m.nbr"]


def test_decoder_is_saved(tmp_path) -> None:
    decoder = nn.Sequential(nn.Linear(2, 1))
    latent = nbr.World(u=nbr.Bit(), v=nbr.Bit())
    before = nbr.Reasoner(nbr.World.bits(1), [nbr.Clause("u", 0.5)], latent=latent, decoder=decoder)
    before.save(tmp_path / "m.nbr")
    after = nbr.load(tmp_path / "m.nbr")
    points = torch.tensor([[0, 1.0], [1, 0]], dtype=torch.float64)
    assert torch.equal(after.observe(points), before.observe(points))


def test_a_failed_save_leaves_the_old_file(tmp_path) -> None:
    path = tmp_path / "m.nbr"
    model().save(path)
    old = path.read_bytes()
    with pytest.raises(nbr.NbrError, match="cannot be saved"):
        nbr.Reasoner(nbr.World.bits(1), [nbr.Fuzzy(lambda z: z[:, 0], 0.5)]).save(path)
    assert path.read_bytes() == old
    with pytest.raises(nbr.NbrError, match="cannot write"):
        model().save(tmp_path / "nowhere" / "m.nbr")
    with pytest.raises(nbr.NbrError, match="must end in .nbr"):
        model().save(tmp_path / "m.pt")


def test_random_byte_flips_are_noticed_or_harmless(tmp_path) -> None:
    path = tmp_path / "m.nbr"
    model().save(path)
    content = path.read_bytes()
    dice = random.Random(0)
    refused = 0
    for _ in range(2500):
        flipped = bytearray(content)
        for _ in range(dice.choice([1, 1, 1, 2, 8])):
            flipped[dice.randrange(len(flipped))] ^= 1 << dice.randrange(8)
        path.write_bytes(flipped)
        try:
            assert same(nbr.load(path), model())
        except nbr.NbrError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 2000


def test_truncated_and_garbled_files(tmp_path) -> None:
    path = tmp_path / "m.nbr"
    model().save(path)
    content = path.read_bytes()
    dice = random.Random(1)
    candidates = [content[:length] for length in (0, 1, 7, 8, 9, 100, len(content) // 2, len(content) - 1)]
    candidates += [content + b"x", b"\xff" * 100, dice.randbytes(1000), pickle.dumps({"a": 1}), b"{}", b"PK\x03\x04"]
    candidates += [struct.pack("<Q", 2) + b"{}", struct.pack("<Q", 1 << 62) + b"{}", struct.pack("<Q", 4) + b"[[]]"]
    candidates += [struct.pack("<Q", 9000) + b"[" * 9000]
    for candidate in candidates:
        path.write_bytes(candidate)
        with pytest.raises(nbr.NbrError) as error:
            nbr.load(path)
        assert "\n" not in str(error.value)


class Bomb:
    """What a pickle could do if anybody loaded it."""

    def __reduce__(self):
        return (open, ("exploded", "w"))


def test_a_pickle_is_never_loaded(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.nbr").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(nbr.NbrError, match="not an NBR model"):
        nbr.load(tmp_path / "m.nbr")
    assert not (tmp_path / "exploded").exists()


def rewritten(content: bytes, change) -> bytes:
    """The file with its header changed, its checksum as it was."""
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    inner = json.loads(header["__metadata__"]["nbr"])
    change(inner)
    header["__metadata__"]["nbr"] = json.dumps(inner)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content[8 + length :]


def test_newer_format_and_altered_model(tmp_path) -> None:
    path = tmp_path / "m.nbr"
    model().save(path)
    content = path.read_bytes()
    path.write_bytes(rewritten(content, lambda inner: inner.update(format=99)))
    with pytest.raises(nbr.NbrError, match="format 99.*update nbr"):
        nbr.load(path)
    for version in ("1", True, 0, None):
        path.write_bytes(rewritten(content, lambda inner, version=version: inner.update(format=version)))
        with pytest.raises(nbr.NbrError, match="no format version"):
            nbr.load(path)
    path.write_bytes(rewritten(content, lambda inner: inner["model"]["rules"][0].update(belief=0.1)))
    with pytest.raises(nbr.NbrError, match="damaged"):
        nbr.load(path)
    path.write_bytes(rewritten(content, lambda inner: None))
    assert same(nbr.load(path), model())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("x = ", "not a TOML file"),
        ("[rules]\n", r"no \[variables\]"),
        ("[variables]\nx = 'bit'\n[rules]\n", r"write \[\[rules\]\]"),
        ("[variables]\n", "at least one variable"),
        ("[variables]\nx = 'bite'\n", "not a kind of variable"),
        ("[variables]\nx = {from = 3, to = 1}\n", "'x'.*lower one first"),
        ("[variables]\nx = {from = nan, to = 1}\n", "'x'.*finite"),
        ("[variables]\n'x4..x1' = 'bit'\n", "not a range"),
        ("[variables]\n'x1..x3' = 'bit'\nx2 = 'bit'\n", "'x2' appears twice"),
        ("[variable]\nx = 'bit'\n", "did you mean 'variables'"),
        ("[variables]\nx = 'bit'\n[[rules]]\nrule = 'x'\n", "rule 1: has no belief"),
        ("[variables]\nx = 'bit'\n[[rules]]\nbelief = 1\n", "rule 1: has no rule"),
        ("[variables]\nx = 'bit'\n[[rules]]\nrule = 'x'\nbelief = 1.2\n", "rule 1: .*0 to 1, not 1.2"),
        ("[variables]\nx = 'bit'\n[[rules]]\nrule = 'x'\nbelief = nan\n", "rule 1: .*0 to 1, not nan"),
        ("[variables]\nx = 'bit'\n[[rules]]\nrule = 'x'\nbelief = 'much'\n", "'belief' must be a number"),
        ("[variables]\nx = 'bit'\n[[rules]]\nrule = 3\nbelief = 1\n", "'rule' must be text"),
        ("[variables]\nx = 'bit'\n[[rules]]\nrule = 'y'\nbelief = 1\n", "rule 1: unknown variable 'y'"),
        ("[variables]\nx = 'bit'\n[[rules]]\nrule = '(x'\nbelief = 1\n", "rule 1: a '\\)' is missing"),
        ("[variables]\nx = 'bit'\n[[rules]]\nrule = 'x'\nbelif = 1\n", "did you mean 'belief'"),
        ("[variables]\nx = 'bit'\n[[rules]]\nmemory = {x = 1}\nbelief = 1\n", "radius"),
        ("[variables]\nx = 'bit'\n[[rules]]\nnetwork = ['relu']\nbelief = 1\n", "only be stored in a .nbr"),
    ],
)
def test_wrong_toml(tmp_path, text: str, words: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(text)
    with pytest.raises(nbr.NbrError, match=f"m.toml: .*{words}") as error:
        nbr.load(path)
    assert "\n" not in str(error.value)


def test_missing_file_and_folder(tmp_path) -> None:
    with pytest.raises(nbr.NbrError, match="No such file"):
        nbr.load(tmp_path / "m.nbr")
    with pytest.raises(nbr.NbrError, match="cannot read"):
        nbr.load(tmp_path)
    (tmp_path / "m.txt").write_text("hello")
    with pytest.raises(nbr.NbrError, match="not an NBR model"):
        nbr.load(tmp_path / "m.txt")


@pytest.mark.parametrize(
    "model",
    [
        {},
        {"variables": 3},
        {"variables": [["a", "bit"]], "rules": [{"network": 3, "inputs": ["a"], "belief": 1}]},
        {"variables": [["a", "bit"]], "rules": [{"network": ["relu"], "inputs": [1], "belief": 1}]},
        {"variables": [["a", "bit"]], "rules": [], "decoder": ["relu"]},
        {"variables": [["a", "bit"]], "rules": [], "prior": {"prior": "oracle"}},
        {"variables": [["a", "bit"]], "rules": [{"weights": 9, "network": [], "inputs": ["a"], "belief": 1}]},
    ],
)
def test_a_file_made_by_hand_with_a_valid_checksum(tmp_path, model) -> None:
    from nbr.storage import container

    header = json.dumps({"format": container.FORMAT, "checksum": container.checksum(model, {}), "model": model})
    (tmp_path / "m.nbr").write_bytes(container.safetensors.torch.save({}, metadata={"nbr": header}))
    with pytest.raises(nbr.NbrError):
        nbr.load(tmp_path / "m.nbr")
