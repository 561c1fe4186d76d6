"""Checkpoints in one process: what is saved, when it is refused, and that going on changes no bit."""

import warnings
from functools import partial

import numpy as np
import pytest
from toy import START, Coins, TwoCoins, tosses

from latently.cluster import BernoulliMixture, GaussianMixture, KMeans, Mixture
from latently.data.open import as_source
from latently.data.storage import container
from latently.learn import em, reducing, threads
from latently.learn.checkpoint import checkpoint
from latently.learn.checkpoint.checkpoint import CheckpointMismatch, CheckpointWarning, checkpointing
from latently.learn.checkpoint.tree import fingerprint, put_together, taken_apart
from latently.sequence import CategoricalHMM, GaussianHMM


class Killed(BaseException):
    """Not an Exception, so that nothing on the way catches it."""


def coins(X=None, start=START, tol=0.0, max_iter=40, hook=None, **settings):
    with reducing(as_source(tosses() if X is None else X)) as reduce:
        return em(TwoCoins(), start, reduce, tol=tol, max_iter=max_iter, on_iteration=hook, **settings)


def dying_at(iteration):
    def hook(step):
        if step.iteration == iteration:
            raise Killed

    return hook


def left_at(path, iteration, every=5, **settings):
    with pytest.raises(Killed), checkpointing(path, every):
        coins(hook=dying_at(iteration), **settings)


def same_bits(a, b):
    assert fingerprint(a) == fingerprint(b)


def test_a_fit_that_died_goes_on_and_ends_with_the_same_bits(tmp_path):
    left_at(tmp_path, 23)
    seen = []
    with checkpointing(tmp_path, 5):
        fit = coins(hook=lambda step: seen.append(step.iteration))
    whole = coins()
    same_bits(fit.params, whole.params)
    assert fit.trace == whole.trace
    assert (fit.n_iter, fit.reason) == (40, "max_iter")
    assert seen == list(range(20, 41))


def test_a_fit_that_ended_repeats_its_last_iteration_only(tmp_path):
    whole = coins(tol=1e-12, max_iter=500)
    for expected in (list(range(1, whole.n_iter + 1)), [whole.n_iter]):
        seen = []
        with checkpointing(tmp_path, 5):
            fit = coins(tol=1e-12, max_iter=500, hook=lambda step, seen=seen: seen.append(step.iteration))
        assert fit.reason == "converged"
        assert seen == expected
        same_bits(fit.params, whole.params)


def test_a_stop_rule_with_a_memory_of_its_own_ends_where_it_ended(tmp_path):
    def rule():
        history = []

        def stop(step):
            history.append(step.objective)
            return len(history) > 12

        return stop

    fits = []
    for _ in range(2):
        with checkpointing(tmp_path, 4):
            fits.append(coins(stop=rule()))
    assert fits[0].n_iter == fits[1].n_iter == 13
    same_bits(fits[0].params, fits[1].params)


def test_fewer_iterations_than_every_leave_nothing(tmp_path):
    with checkpointing(tmp_path, 50):
        coins(max_iter=40)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty"])
def test_a_damaged_checkpoint_is_told_and_the_one_before_is_used(tmp_path, damage):
    left_at(tmp_path, 23)
    file = tmp_path / "run-0.safetensors"
    content = bytearray(file.read_bytes())
    if damage == "flipped":
        content[-3] ^= 0x40
    file.write_bytes({"truncated": content[:-20], "flipped": content, "empty": b""}[damage])
    seen = []
    with checkpointing(tmp_path, 5), pytest.warns(CheckpointWarning, match=r"run-0\.safetensors .*before it is used"):
        fit = coins(hook=lambda step: seen.append(step.iteration))
    assert seen[0] == 15
    same_bits(fit.params, coins().params)


def test_with_both_damaged_the_fit_starts_anew(tmp_path):
    left_at(tmp_path, 23)
    for file in tmp_path.iterdir():
        file.write_bytes(b"nothing")
    with checkpointing(tmp_path, 5), pytest.warns(CheckpointWarning) as told:
        fit = coins()
    assert len(told) == 2
    same_bits(fit.params, coins().params)


def test_a_crash_between_two_renames_leaves_the_one_before(tmp_path):
    left_at(tmp_path, 23)
    (tmp_path / "run-0.safetensors").unlink()
    with checkpointing(tmp_path, 5):
        same_bits(coins().params, coins().params)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_iter": 41}, "max_iter was 40, is 41"),
        ({"tol": 1e-3}, r"tol was 0\.0, is 0\.001"),
        ({"start": Coins(0.4, np.array([0.4, 0.6]))}, "start was"),
        ({"X": tosses(499)}, "rows was 500, is 499"),
        ({"X": np.tile(tosses(), 2)}, "columns was"),
    ],
)
def test_a_checkpoint_of_another_fit_is_refused(tmp_path, change, message):
    left_at(tmp_path, 23)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    with checkpointing(tmp_path, 5), pytest.raises(CheckpointMismatch, match=rf"run-0.*{message}.*delete the folder"):
        coins(**change)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_another_model_is_refused(tmp_path):
    class MoreTosses(TwoCoins):
        def __init__(self):
            self.tosses = 12

    left_at(tmp_path, 23)
    with (
        checkpointing(tmp_path, 5),
        reducing(as_source(tosses())) as reduce,
        pytest.raises(CheckpointMismatch, match="model was toy.TwoCoins, is .*MoreTosses"),
    ):
        em(MoreTosses(), START, reduce, tol=0.0, max_iter=40)


@pytest.mark.parametrize("ended", [False, True])
def test_other_rows_of_the_same_shape_are_noticed(tmp_path, ended):
    if ended:
        with checkpointing(tmp_path, 5):
            coins()
    else:
        left_at(tmp_path, 23)
    with (
        checkpointing(tmp_path, 5),
        pytest.raises(CheckpointMismatch, match="made with other data: its objective"),
    ):
        coins(X=tosses(seed=1))


def test_without_a_seed_the_error_says_that_one_is_needed(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 2))
    with checkpointing(tmp_path, 2):
        GaussianMixture(2, tol=1e-6, max_iter=500, init_params="random").fit(X)
    with checkpointing(tmp_path, 2), pytest.raises(CheckpointMismatch, match="random_state"):
        GaussianMixture(2, tol=1e-6, max_iter=500, init_params="random").fit(X)


def test_a_class_that_the_start_does_not_hold_is_never_looked_up(tmp_path):
    left_at(tmp_path, 23)
    file = tmp_path / "run-0.safetensors"
    manifest, arrays = container.read(file)
    manifest["params"]["class"] = "subprocess.Popen"
    container.write(file, manifest, arrays)
    (tmp_path / "run-0.before").unlink()
    with checkpointing(tmp_path, 5), pytest.warns(CheckpointWarning, match="no part of the parameters"):
        same_bits(coins().params, coins().params)


def test_a_file_of_another_kind_is_told(tmp_path):
    container.write(tmp_path / "run-0.safetensors", {"format": 1}, {})
    with checkpointing(tmp_path, 5), pytest.warns(CheckpointWarning, match="not a checkpoint"):
        coins()


def test_bad_settings_are_errors(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(NotADirectoryError, match="file, but a folder is needed"), checkpointing(file):
        pass
    for every in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="every must be"), checkpointing(tmp_path, every):
            pass
    with checkpointing(None, 0):
        coins(max_iter=3)


def test_parameters_that_no_file_can_hold_are_named(tmp_path):
    class Odd(TwoCoins):
        def update(self, params, stats):
            return (super().update(params[0], stats), {1: 2})

        def expect(self, params, chunk):
            return super().expect(params[0], chunk)

    with (
        checkpointing(tmp_path, 2),
        reducing(as_source(tosses())) as reduce,
        pytest.raises(TypeError, match=r"params\[1\] is a dict"),
    ):
        em(Odd(), (START, {}), reduce, tol=0.0, max_iter=5)


# Estimators: nothing but the context is needed

BINARY = (np.random.default_rng(3).uniform(size=(400, 6)) < np.repeat([[0.2], [0.7]], 200, axis=0)).astype(float)
CLOUD = np.random.default_rng(0).normal(size=(600, 3)) + np.repeat([[0.0], [1.5], [-1.5]], 200, axis=0)
HOLES = np.where(np.random.default_rng(1).uniform(size=CLOUD.shape) < 0.1, np.nan, CLOUD)
LONG = {"tol": 0.0, "random_state": 0}
ESTIMATORS = {
    "full": (GaussianMixture(3, n_init=3, max_iter=30, **LONG), CLOUD),
    "tied": (GaussianMixture(3, covariance_type="tied", max_iter=30, **LONG), CLOUD),
    "diag": (GaussianMixture(3, covariance_type="diag", init_params="random", max_iter=30, **LONG), CLOUD),
    "absent": (GaussianMixture(3, n_init=2, max_iter=30, **LONG), HOLES),
    "kmeans": (KMeans(9, n_init=3, **LONG), CLOUD),
    "many centres": (KMeans(60, init="random", n_init=2, **LONG), CLOUD),
    "mixture": (Mixture(3, n_init=2, max_iter=30, **LONG), CLOUD),
    "bernoulli": (BernoulliMixture(2, n_init=2, max_iter=30, **LONG), BINARY),
    "gaussian hmm": (GaussianHMM(3, n_iter=20, **LONG), CLOUD),
    "categorical hmm": (CategoricalHMM(2, n_iter=20, **LONG), BINARY[:, :1].astype(int)),
}


def fitted_bits(model, X):
    from sklearn.base import clone

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(model).fit(X)
    return fingerprint({name: value for name, value in sorted(vars(model).items()) if name.endswith("_")})


def answers(model, X, folder=None):
    from sklearn.base import clone

    with checkpointing(folder, 3), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(model).fit(X)
    return fitted.transform(X) if isinstance(model, KMeans) else fitted.predict_proba(X)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_iterative_estimator_goes_on_with_the_same_bits(tmp_path, monkeypatch, name):
    model, X = ESTIMATORS[name]
    if isinstance(model, KMeans | GaussianMixture):  # what is not stored may be one compiled call: the same to rounding
        with checkpointing(tmp_path / "whole", 3):
            whole = fitted_bits(model, X)
        np.testing.assert_allclose(answers(model, X), answers(model, X, tmp_path / "again"), rtol=1e-8, atol=1e-8)
    else:
        whole = fitted_bits(model, X)
    writes = []
    write = container.write

    def counting(*args, **kwargs):
        write(*args, **kwargs)
        writes.append(args[0])
        if len(writes) == 4:
            raise Killed

    monkeypatch.setattr(checkpoint.container, "write", counting)
    with pytest.raises(Killed), checkpointing(tmp_path, 3), threads(1):
        fitted_bits(model, X)
    with checkpointing(tmp_path, 3), threads(2):
        assert fitted_bits(model, X) == whole
    assert len(writes) > 4
    with checkpointing(tmp_path, 3):
        assert fitted_bits(model, X) == whole


def test_a_fit_by_gradient_goes_on_with_the_same_bits(tmp_path):
    model = GaussianMixture(3, method="gradient", tol=1e-9, max_iter=100, random_state=0)

    def learnt(folder, hook=None):
        with checkpointing(folder, 4), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(CLOUD, on_iteration=hook).means_.copy()

    whole = learnt(tmp_path / "whole")
    assert model.n_iter_ > 12
    with pytest.raises(Killed):
        learnt(tmp_path / "killed", dying_at(10))
    for _ in range(2):
        assert np.array_equal(learnt(tmp_path / "killed"), whole)
    bound = model.lower_bound_
    assert bound == pytest.approx(model.fit(CLOUD).lower_bound_, abs=1e-3)


# Taking apart and putting together


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        "text",
        float("inf"),
        np.float32(0.1),
        [1.5, (2, None)],
        {"a": np.arange(3)},
        (START, [START]),
        np.zeros((0, 2)),
    ],
)
def test_values_come_back_to_the_bit(value):
    arrays = {}
    back = put_together(taken_apart(value, arrays), arrays, value)
    assert fingerprint(back) == fingerprint(value)


def test_memory_order_comes_back():
    value, arrays = np.asfortranarray(np.arange(6.0).reshape(2, 3)), {}
    back = put_together(taken_apart(value, arrays), arrays, None)
    assert back.flags.f_contiguous
    assert np.array_equal(back, value)


def test_fingerprints_tell_settings_functions_and_circles_apart():
    class Model:
        def __init__(self, k, f):
            self.k, self.f, self.me = k, f, self

    assert fingerprint(Model(2, len)) == fingerprint(Model(2, len))
    assert fingerprint(Model(2, len)) != fingerprint(Model(3, len))
    assert fingerprint(Model(2, len)) != fingerprint(Model(2, max))
    assert fingerprint(Model(2, partial(len))) == fingerprint(Model(2, partial(len)))
    assert fingerprint([np.array([1, "a"], dtype=object)]) != fingerprint([np.array([1, "b"], dtype=object)])
    assert fingerprint({"a": -0.0}) != fingerprint({"a": 0.0})
