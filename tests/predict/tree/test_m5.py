"""Linear models at the leaves."""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, cross_val_score

from latently.predict import BayesianLinearRegression, DecisionTreeRegressor

X, Y = load_diabetes(return_X_y=True)


def test_a_line_needs_one_leaf():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(300, 2))
    y = 3 * x[:, 0] - x[:, 1] + 0.05 * rng.normal(size=300)
    tree = DecisionTreeRegressor.m5().fit(x, y)
    assert tree.get_n_leaves() <= 3
    assert tree.score(x, y) > 0.995
    assert np.abs(tree.predict(x) - BayesianLinearRegression().fit(x, y).predict(x)).max() < 0.1


def test_two_lines_need_two():
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, size=(400, 1))
    y = np.where(x[:, 0] < 0, -2 * x[:, 0], 5 * x[:, 0] + 3) + 0.05 * rng.normal(size=400)
    tree = DecisionTreeRegressor.m5(smoothing=0).fit(x, y)
    means = DecisionTreeRegressor(max_leaf_nodes=tree.get_n_leaves()).fit(x, y)
    assert tree.get_n_leaves() < 12
    grid = np.linspace(-0.9, 0.9, 50)[:, None]
    truth = np.where(grid[:, 0] < 0, -2 * grid[:, 0], 5 * grid[:, 0] + 3)
    assert np.abs(tree.predict(grid) - truth).mean() < 0.08 < np.abs(means.predict(grid) - truth).mean()


def test_better_than_means_on_real_numbers():
    folds = KFold(5, shuffle=True, random_state=0)
    models = DecisionTreeRegressor.m5(), DecisionTreeRegressor(min_samples_leaf=4)
    linear, means = (cross_val_score(model, X, Y, cv=folds).mean() for model in models)
    assert linear > 0.4 > means


def test_smoothing_draws_to_the_root():
    plain, smooth = (DecisionTreeRegressor.m5(smoothing=k).fit(X, Y) for k in (0, 1e12))
    root = BayesianLinearRegression()
    used = np.unique(plain.nodes_.feature[plain.nodes_.feature >= 0])
    assert np.ptp(smooth.linear_.intercept) < 1e-6 * np.abs(smooth.linear_.intercept).max()
    assert len(used) == 0 or np.ptp(plain.linear_.intercept) > 0
    assert root.fit(X, Y).score(X, Y) > 0.4


def test_missing_values_are_at_their_means():
    lost = X.copy()
    lost[::5, 2] = np.nan
    tree = DecisionTreeRegressor.m5().fit(lost, Y)
    assert np.isfinite(tree.predict(np.full((1, 10), np.nan))).all()
    assert tree.score(lost, Y) > 0.4
