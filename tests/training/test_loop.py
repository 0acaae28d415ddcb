"""The one loop: it goes on where it was, stops when it should, and says when something is wrong."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch.optim.lr_scheduler import LambdaLR

from nbr import NbrError
from nbr.lipschitz import Stiefel, dense
from nbr.training import (
    Checkpoint,
    EarlyStopping,
    Loop,
    Process,
    averaged,
    fingerprint,
    generator,
    loop,
    shuffled,
)

OPTIMISERS: dict[str, Callable[[torch.nn.Module], torch.optim.Optimizer]] = {
    "AdamW": lambda network: torch.optim.AdamW(network.parameters(), lr=0.05),
    "SGD with momentum": lambda network: torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9),
    "Stiefel": lambda network: Stiefel(network, lr=0.05),
}
STEPS = 40


class Task:
    """A small network with an average and early stopping, on batches that are drawn anew in each step."""

    def __init__(self, optimiser: str, path: Path | None = None, mark: str = "same", rest: int = 1) -> None:
        self.network = dense(3, [4, 4], 1, 0, 0)
        self.average = averaged(self.network, 0.9)
        model = self.average.module
        self.early = EarlyStopping(
            model, lambda: -self.error(model, generator(7, 0)).item(), every=5, patience=4, last_step=STEPS
        )
        made = OPTIMISERS[optimiser](self.network)
        self.seen: list[int] = []
        self.loop = Loop(
            made,
            self.loss,
            STEPS,
            schedule=LambdaLR(made, lambda step: 1 - step / STEPS),
            after=self.after,
            kept={"network": self.network, "average": self.average, "early": self.early},
            checkpoint=None if path is None else Checkpoint(path, fingerprint(mark=mark)),
            rest=rest,
        )

    def error(self, network: torch.nn.Module, source: torch.Generator) -> torch.Tensor:
        points = torch.randn(16, 3, generator=source)
        return (network(points)[0, :, 0] - points[:, 0].abs()).square().mean()

    def loss(self, step: int) -> torch.Tensor:
        self.seen.append(step)
        return self.error(self.network, generator(3, step))

    def after(self, step: int, loss: float) -> bool:
        self.average.update_parameters(self.network)
        return self.early(step)

    @property
    def weights(self) -> torch.Tensor:
        parts = [self.network, self.average.module]
        vectors = [torch.nn.utils.parameters_to_vector(part.parameters()).detach() for part in parts]
        best = [self.early.weights[name].flatten() for name in sorted(self.early.weights)]
        return torch.cat([*vectors, *best, torch.tensor([self.early.best])])


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "SECONDS", 0.0)


class Stop(Exception):
    pass


@pytest.mark.parametrize("rest", [1, 8])
@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(tmp_path: Path, optimiser: str, rest: int) -> None:
    whole = Task(optimiser)
    whole.loop.run()
    path = tmp_path / "run"
    for at in (11, 27):
        broken = Task(optimiser, path, rest=rest)

        def stop(progress, at: int = at) -> None:
            if progress.done == at and not progress.ended:
                raise Stop

        with pytest.raises(Stop):
            broken.loop.run(stop)
    last = Task(optimiser, path, rest=rest)
    assert last.loop.run() == whole.loop.step
    assert last.seen[0] == (26 if rest == 1 else 24)
    assert torch.equal(last.weights, whole.weights)
    again = Task(optimiser, path, rest=rest)
    again.loop.run()
    assert again.seen == []
    assert torch.equal(again.weights, whole.weights)


def test_checkpoints_are_written_now_and_then_and_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(10_000))  # a second passes with each look
    monkeypatch.setattr(loop.time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(loop, "SECONDS", 9.5)
    task, saved = Task("AdamW", tmp_path / "run"), []
    monkeypatch.setattr(task.loop, "_save", lambda: saved.append(task.loop.step))
    steps = task.loop.run()
    assert 1 < len(saved) <= 1 + steps / 9
    assert saved[-1] == steps


def test_a_run_takes_up_only_its_own_checkpoint(tmp_path: Path) -> None:
    Task("AdamW", tmp_path / "run").loop.run()
    with pytest.raises(NbrError, match="other data or other settings"):
        Task("AdamW", tmp_path / "run", mark="other").loop.run()


def test_one_run_at_a_time(tmp_path: Path) -> None:
    def second(progress) -> None:
        with pytest.raises(NbrError, match="has not ended"):
            Task("SGD with momentum", tmp_path / "run").loop.run()

    Task("SGD with momentum", tmp_path / "run").loop.run(second)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C as a terminal has it; a shell that starts tests in the background tells them to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_waits_for_the_step_and_saves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "SECONDS", 1e9)
    whole, broken = Task("AdamW"), Task("AdamW", tmp_path / "run")
    whole.loop.run()
    plain = broken.loop.loss

    def interrupted(step: int) -> torch.Tensor:
        if step == 12:
            signal.raise_signal(signal.SIGINT)
        return plain(step)

    broken.loop.loss = interrupted
    with pytest.raises(KeyboardInterrupt):
        broken.loop.run()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    last = Task("AdamW", tmp_path / "run")
    last.loop.run()
    assert last.seen[0] == 13
    assert torch.equal(last.weights, whole.weights)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number(tmp_path: Path, value: float) -> None:
    task = Task("AdamW", tmp_path / "run")
    plain = task.loop.loss
    task.loop.loss = lambda step: plain(step) * (value if step == 4 else 1)
    with pytest.raises(NbrError, match=f"failed at step 5: the loss is {value}"):
        task.loop.run()
    kept = Task("AdamW", tmp_path / "run")
    kept.loop.run()
    assert kept.seen[0] == 4


def test_the_schedule_and_the_global_state_are_kept_in_order() -> None:
    value = torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.SGD([value], lr=1.0)
    rates = []

    def loss(step: int) -> torch.Tensor:
        assert torch.are_deterministic_algorithms_enabled()
        assert not torch.utils.deterministic.fill_uninitialized_memory
        rates.append(optimiser.param_groups[0]["lr"])
        return value.sum()

    steps = Loop(optimiser, loss, 4, schedule=LambdaLR(optimiser, lambda step: 1 - step / 4)).run()
    assert (steps, rates) == (4, [1.0, 0.75, 0.5, 0.25])
    assert value.item() == -2.5
    assert not torch.are_deterministic_algorithms_enabled()
    assert torch.utils.deterministic.fill_uninitialized_memory


def test_early_stopping_keeps_the_best() -> None:
    model = torch.nn.Linear(1, 1)
    values = iter([1.0, 3.0, 2.0, 2.5, 2.9, float("nan")])
    early = EarlyStopping(model, lambda: next(values), every=10, patience=3, last_step=95)
    stops = {}
    for step in range(1, 51):
        torch.nn.init.constant_(model.weight, step)
        stops[step] = early(step)
    assert [step for step, stop in stops.items() if stop] == [50]
    early.restore()
    assert (early.best, early.best_step, model.weight.item()) == (3.0, 20, 20.0)
    assert not early(51)
    with pytest.raises(NbrError, match="step 95"):
        early(95)


def test_averages_follow_the_weights() -> None:
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.constant_(model.weight, 1.0)
    average = averaged(model, 0.5)
    expected = 1.0
    for step in range(1, 30):
        torch.nn.init.constant_(model.weight, float(step))
        average.update_parameters(model)
        expected += (1 - min(0.5, step / (step + 9))) * (step - expected)
        assert average.module.weight.item() == pytest.approx(expected, rel=1e-5)


def test_batches_are_those_of_the_step_and_shares_make_them_up() -> None:
    assert torch.equal(torch.rand(3, generator=generator(1, 2)), torch.rand(3, generator=generator(1, 2)))
    different = {tuple(torch.rand(3, generator=generator(seed, step)).tolist()) for seed in (1, 2) for step in (0, 1)}
    assert len(different) == 4
    batches = shuffled(107, 20, generator(0, 0))
    assert [len(rows) for rows in batches] == [20] * 5
    assert sorted(torch.cat(shuffled(111, 20, generator(0, 0))).tolist()) == list(range(111))
    assert [len(rows) for rows in shuffled(7, 20, generator(0, 0))] == [7]
    shares = [Process(rank, 3).share(batches[0]) for rank in range(3)]
    assert sorted(torch.cat(shares).tolist()) == sorted(batches[0].tolist())
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_fingerprints_tell_everything_apart() -> None:
    weights = torch.arange(4.0)
    same = {"a": weights, "b": [1, {"c": None}], "d": "x"}
    others = [
        {**same, "a": weights + 1},
        {**same, "a": weights.view(2, 2)},
        {**same, "a": weights.double()},
        {**same, "b": [2, {"c": None}]},
        {**same, "b": [1, {"c": 0}]},
        {**same, "d": "y"},
        {"a": weights, "b": [1, {"c": None}]},
        {},
    ]
    digests = [fingerprint(**each) for each in (same, *others)]
    assert len(set(digests)) == len(digests)
    assert fingerprint(**same) == digests[0]
    with pytest.raises(TypeError):
        fingerprint(a=object())
