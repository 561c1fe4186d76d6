"""A larger mixture over a table, started from a smaller one."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from latently.cluster import BernoulliMixture, Mixture
from latently.distributions import Poisson
from latently.learn import select


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    frame = pd.DataFrame(
        {
            "age": np.array([20.0, 40.0, 60.0])[group] + 3 * rng.normal(size=n),
            "job": np.array(["smith", "judge", "cook"])[np.where(rng.uniform(size=n) < 0.9, group, 0)],
            "visits": rng.poisson(np.array([1.0, 5.0, 12.0])[group]),
        }
    )
    return frame.mask(rng.uniform(size=frame.shape) < 0.05), group


def test_the_groups_that_the_smaller_one_had_together_are_found():
    frame, group = table()
    families = {"visits": Poisson()}
    two = Mixture(2, families=families, random_state=0).fit(frame)
    asked = Mixture(3, families=families, random_state=0)
    three = asked._grown_fit(two, frame)
    found = pd.crosstab(three.predict(frame), group).to_numpy()
    assert found.max(axis=0).sum() > 0.95 * len(frame)
    assert (np.diff(three.weights_) <= 0).all()
    assert three.lower_bound_ > two.lower_bound_
    assert three.get_params()["components_init"] is None
    assert three.lower_bound_ == pytest.approx(asked.fit(frame).lower_bound_, abs=1e-3)


def test_several_steps_at_once_and_from_some_of_the_rows():
    frame, _ = table()
    one = Mixture(1).fit(frame)
    four = Mixture(4, random_state=0)._grown_fit(one, frame, frame.iloc[:100])
    assert four.weights_.shape == (4,)
    assert four.statistics_.rows == len(frame)


def test_binary_tables_grow_too():
    rng = np.random.default_rng(0)
    chances = rng.uniform(size=(3, 12)) > 0.5
    group = rng.integers(3, size=400)
    X = np.where(rng.uniform(size=(400, 12)) < 0.1, ~chances[group], chances[group]).astype(float)
    two = BernoulliMixture(2, random_state=0).fit(X)
    three = BernoulliMixture(3, random_state=0)._grown_fit(two, X)
    assert pd.crosstab(three.predict(X), group).to_numpy().max(axis=0).sum() > 0.95 * 400
    assert three.probabilities_init is None


def test_what_has_a_start_of_its_own_does_not_grow():
    assert Mixture(2)._can_grow()
    assert not Mixture(2, fixed_weights=[0.5, 0.5])._can_grow()
    assert not Mixture(2, tied={0: {"mean": True}})._can_grow()
    assert not clone(BernoulliMixture(2, weights_init=[0.5, 0.5]))._can_grow()


def test_a_search_over_sizes_grows_the_mixture():
    frame, _ = table()
    grid = (Mixture(tol=1e-5, random_state=0), {"n_components": [1, 2, 3, 4]})
    found = select(grid, frame)
    assert found.best["n_components"] == 3
    assert found.best_model.get_params()["components_init"] is None
