"""The training loop: checkpoints, interrupts, losses that are not numbers, seeds."""

import math

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning

from latently.learn.checkpoint.checkpoint import CheckpointMismatch
from latently.neural import Autoencoder, MixtureDensityNetwork
from latently.neural.training.loop import Settings, train
from latently.neural.training.session import chosen_device, session
from latently.neural.training.split import split
from latently.neural.training.task import Player, Task, TensorRows

SMALL = {"hidden": (8,), "n_iter_no_change": 2, "random_state": 0}
X = np.random.default_rng(0).normal(size=(80, 3))


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)


def a_line(loss):
    x = torch.linspace(-1, 1, 40)[:, None]
    line = torch.nn.Linear(1, 1)
    return line, Task.single(line, lambda batch: loss(line, batch[0])), TensorRows((x,))


def test_seeds_are_exact_and_the_stream_of_the_user_is_not_touched():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first = Autoencoder(**SMALL).fit(X)
    assert torch.equal(torch.rand(1), expected)
    again, other = Autoencoder(**SMALL).fit(X), Autoencoder(**{**SMALL, "random_state": 1}).fit(X)
    assert same(first.weights_, again.weights_)
    assert not same(first.weights_, other.weights_)


def test_threads_come_back():
    before = torch.get_num_threads()
    with session(1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


class _Stopped(Exception):
    pass


def _stopping_after(monkeypatch, steps, error):
    """The backward pass fails after so many steps."""
    real, seen = torch.Tensor.backward, [0]

    def backward(self, *args, **kwargs):
        seen[0] += 1
        if seen[0] > steps:
            raise error
        return real(self, *args, **kwargs)

    monkeypatch.setattr(torch.Tensor, "backward", backward)


@pytest.mark.parametrize("error", [_Stopped(), KeyboardInterrupt()], ids=["killed", "interrupted"])
def test_a_fit_that_was_stopped_goes_on_from_its_checkpoint_with_the_same_result(tmp_path, monkeypatch, error):
    monkeypatch.setattr(Autoencoder, "_averaging", 0.5)  # averages are part of a checkpoint
    whole = Autoencoder(**SMALL).fit(X)
    with monkeypatch.context() as patched:
        _stopping_after(patched, 20, error)
        if isinstance(error, KeyboardInterrupt):
            stopped = Autoencoder(**SMALL).fit(X, checkpoint=tmp_path, every=3)
            assert (stopped.reason_, stopped.converged_) == ("interrupted", False)
            assert np.isfinite(stopped.transform(X)).all()
        else:
            with pytest.raises(_Stopped):
                Autoencoder(**SMALL).fit(X, checkpoint=tmp_path, every=3)
    resumed_from = []
    real = torch.randperm
    monkeypatch.setattr(torch, "randperm", lambda n: resumed_from.append(n) or real(n))
    resumed = Autoencoder(**SMALL).fit(X, checkpoint=tmp_path, every=3)
    assert same(resumed.weights_, whole.weights_)
    assert resumed.loss_curve_ == whole.loss_curve_
    assert resumed.validation_curve_ == whole.validation_curve_
    assert len(resumed_from) < whole.n_iter_  # the epochs before the checkpoint were not repeated


def test_a_checkpoint_of_another_fit_is_refused(tmp_path):
    Autoencoder(**SMALL).fit(X, checkpoint=tmp_path, every=2)
    with pytest.raises(CheckpointMismatch):
        Autoencoder(**SMALL, noise=0.5).fit(X, checkpoint=tmp_path, every=2)
    with pytest.raises(CheckpointMismatch):
        Autoencoder(**SMALL).fit(X + np.arange(80)[:, None] % 3, checkpoint=tmp_path, every=2)


def test_an_interrupt_before_the_first_epoch_is_an_error(monkeypatch):
    _stopping_after(monkeypatch, 0, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        Autoencoder(**SMALL).fit(X)


def test_a_loss_that_is_not_a_number_stops_the_fit_and_the_last_good_weights_come_back(monkeypatch):
    calls = [0]

    def loss(line, x):
        calls[0] += 1
        return (line(x) - x).square().mean() * (math.nan if calls[0] > 10 else 1.0)

    with session(seed=0):
        line, task, rows = a_line(loss)
        found = train(task, rows, torch.arange(40), torch.arange(0), Settings(batch_size=40))
    assert found.reason == "diverged"
    assert len(found.losses) == found.best_iter == 10
    assert torch.isfinite(line.weight).all()


def test_a_diverged_estimator_says_so():
    model = MixtureDensityNetwork(hidden=(8,), learning_rate=1e30, max_iter=50, early_stopping=False, random_state=0)
    with pytest.warns(ConvergenceWarning, match="not a number in epoch .* lower learning_rate"):
        model.fit(X, X[:, 0])
    assert model.reason_ == "diverged"
    assert not model.converged_
    assert all(np.isfinite(weights).all() for weights in model.weights_.values())


def test_the_best_weights_are_kept_not_the_last():
    """With a huge learning rate the loss goes up and down; what is kept is the lowest that was seen."""
    with session(seed=0):
        _, task, rows = a_line(lambda line, x: (line(x) - 3 * x).square().mean())
        settings = Settings(max_iter=5, batch_size=40, learning_rate=1.5, n_iter_no_change=50)
        found = train(task, rows, torch.arange(0, 40, 2), torch.arange(1, 40, 2), settings)
        assert found.judged.index(min(found.judged)) + 1 == found.best_iter < 5
        assert task.judged(rows, torch.arange(1, 40, 2), 100) == min(found.judged)


def noisy_fit(averaging):
    """Held-out losses of a fit whose steps are pushed about by noise."""
    with session(seed=0):
        line, task, rows = a_line(lambda line, x: (line(x) - 3 * x + torch.randn_like(x)).square().mean())
        exact = Task.single(line, task.players[0].loss, lambda batch: (line(batch[0]) - 3 * batch[0]).square().mean())
        settings = Settings(200, 20, 0.3, n_iter_no_change=500, averaging=averaging)
        return train(exact, rows, torch.arange(0, 40, 2), torch.arange(1, 40, 2), settings).judged


def test_averaged_weights_are_nearer_the_truth_than_those_of_single_steps():
    assert np.median(noisy_fit(0.95)[100:]) < np.median(noisy_fit(0.0)[100:]) / 2


def test_the_start_is_kept_if_every_epoch_is_worse():
    with session(seed=0):
        line, task, rows = a_line(lambda line, x: (line(x) - 3 * x).square().mean())
        torch.nn.init.constant_(line.weight, 3.0)
        torch.nn.init.constant_(line.bias, 0.1)
        worse = Task.single(line, lambda batch: -task.players[0].loss(batch), task.players[0].loss)
        found = train(worse, rows, torch.arange(20), torch.arange(20, 40), Settings(3, 20))
        assert (found.best_iter, line.weight.item()) == (0, 3.0)


def test_learning_rates_are_cut_twice_before_a_plateau_is_convergence():
    with session(seed=0):
        _, task, rows = a_line(lambda line, x: line(x).square().mean() * 0 + 1.0)
        found = train(task, rows, torch.arange(40), torch.arange(0), Settings(batch_size=40, n_iter_no_change=4))
    assert found.reason == "converged"
    assert len(found.losses) == 1 + 3 * 4


def test_gradients_are_clipped():
    with session(seed=0):
        line, _, rows = a_line(lambda line, x: line(x).mean())
        norms = []
        real = torch.optim.Adam.step

        def step(self, *args, **kwargs):
            norms.append(float(torch.stack([p.grad.norm() for p in line.parameters()]).norm()))
            return real(self, *args, **kwargs)

        task = Task.single(line, lambda batch: 1e6 * line(batch[0]).sum())
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(torch.optim.Adam, "step", step)
            train(task, rows, torch.arange(40), torch.arange(0), Settings(max_iter=1, clip=2.0))
    assert norms == pytest.approx([2.0] * len(norms), rel=1e-4)


def test_each_player_moves_its_own_parameters_only_and_takes_its_steps():
    first, second = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    module = torch.nn.ModuleList([first, second])
    counts = {"first": 0}

    def loss(name):
        def called(batch):
            counts[name] += 1
            return (first(batch[0]) + second(batch[0])).square().mean()

        return called

    before = second.weight.clone()
    players = (Player(list(first.parameters()), loss("first"), steps=3),)
    rows = TensorRows((torch.ones(8, 1),))
    train(Task(module, players), rows, torch.arange(8), torch.arange(0), Settings(max_iter=2, batch_size=4))
    assert counts["first"] == 2 * 2 * 3
    assert torch.equal(second.weight, before)


def test_held_out_rows_have_the_shares_of_the_groups_and_are_not_learnt_from():
    groups = np.repeat([0, 1], [180, 20])
    fitted, held_out = split(200, 0.1, np.random.RandomState(0), groups)
    assert sorted([*fitted, *held_out]) == list(range(200))
    assert (groups[held_out] == 1).sum() == 2
    assert len(split(19, 0.1, np.random.RandomState(0))[1]) == 0


def test_a_batch_larger_than_the_data_is_all_of_it():
    assert Autoencoder(batch_size=10_000, tol=0.1, **SMALL).fit(X).n_iter_ > 0


def test_running_out_of_epochs_is_a_warning():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = Autoencoder(max_iter=2, random_state=0).fit(X)
    assert (model.reason_, model.n_iter_) == ("max_iter", 2)


def test_a_device_that_does_not_exist_is_an_error():
    with pytest.raises(ValueError, match="device='toaster'"):
        Autoencoder(device="toaster").fit(X)
    assert chosen_device("auto").type in ("cpu", "cuda")
