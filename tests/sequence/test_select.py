"""The number of states, chosen by `latently.learn.select`."""

import numpy as np
import pytest

from latently.data.sources.sequences import as_sequences
from latently.learn import select
from latently.sequence import CategoricalHMM, GaussianHMM, HiddenMarkovModel, MarkovChain

LENGTHS = [90] * 12
GRID = {"n_components": range(1, 5)}


def three_levels():
    """Twelve series that stay for ten steps at one of three levels."""
    rng = np.random.default_rng(0)
    levels = np.concatenate([np.repeat(rng.permutation(np.arange(9) % 3), 10) for _ in LENGTHS])
    return 5.0 * levels[:, None] + rng.normal(size=(len(levels), 1))


@pytest.mark.parametrize("criterion", ["bic", "icl"])
@pytest.mark.parametrize("model", [GaussianHMM(n_iter=300, tol=1e-4, n_init=2), HiddenMarkovModel(n_init=2)], ids=repr)
def test_the_number_of_states_is_found(model, criterion):
    X = three_levels()
    found = select((model, GRID), np.split(X, len(LENGTHS)), criterion, random_state=0)
    assert found.best["n_components"] == 3
    line, best = found.best, found.best_model
    assert line[criterion] == pytest.approx(getattr(best, criterion)(X, LENGTHS))
    assert line["log_likelihood"] == pytest.approx(best.score(X, LENGTHS))
    # start and transitions 2 + 3 * 2, a mean and a variance for each state
    assert line["n_parameters"] == 2 + 6 + 6


def test_lengths_and_a_list_of_arrays_are_the_same():
    X = three_levels()
    model = GaussianHMM(n_iter=50, tol=1e-3)
    together = select((model, GRID), as_sequences(X, LENGTHS), random_state=0)
    apart = select((model, GRID), np.split(X, len(LENGTHS)), random_state=0)
    assert [line["bic"] for line in together.table] == [line["bic"] for line in apart.table]


def test_whole_sequences_are_held_out():
    X = three_levels()
    model = GaussianHMM(n_iter=100, tol=1e-3, n_init=2)
    found = select((model, {"n_components": [1, 2, 3]}), as_sequences(X, LENGTHS), "held-out", folds=3, random_state=0)
    assert found.best["n_components"] == 3
    assert found.best["held_out"] > found.table[1]["held_out"] > found.table[0]["held_out"]


def test_more_states_than_rows_do_not_end_the_search():
    X = np.random.default_rng(1).integers(0, 2, size=(12, 1))
    found = select((CategoricalHMM(random_state=0, n_iter=300), {"n_components": [1, 20]}), X)
    assert found.best["n_components"] == 1
    assert "more states than the 12 rows" in found.table[1]["error"]


def test_the_order_of_a_chain_is_found():
    rng = np.random.default_rng(0)
    symbols = [0]
    for u in rng.uniform(size=3000):
        symbols.append(int(u < [0.9, 0.2][symbols[-1]]))
    found = select((MarkovChain(), {"order": [0, 1, 2, 3]}), symbols)
    assert found.best["order"] == 1
