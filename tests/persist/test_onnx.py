"""ONNX graphs, run by onnxruntime, give the answers of the models they were made from."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from latently.cluster import BernoulliMixture, GaussianMixture, KMeans, Mixture
from latently.distributions import Exponential, Gaussian, VonMises
from latently.factor import PCA
from latently.persist import to_onnx
from latently.predict import (
    BayesianLinearRegression,
    BernoulliNB,
    CategoricalNB,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    RandomForestClassifier,
    RandomForestRegressor,
)

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
GAPS = np.where(np.random.default_rng(0).random(IRIS.shape) < 0.2, np.nan, IRIS)


def answers(model, X):
    graph = to_onnx(model).SerializeToString()
    session = runtime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    names = [given.name for given in session.get_inputs()]
    if isinstance(X, pd.DataFrame):
        fed = {name: column(X[name], given.type) for name, given in zip(names, session.get_inputs(), strict=True)}
    else:
        fed = {"X": np.asarray(X, dtype=np.float64)}
    return dict(zip([out.name for out in session.get_outputs()], session.run(None, fed), strict=True))


def column(values, kind):
    if kind == "tensor(string)":
        return values.where(values.notna(), "").to_numpy(dtype=object)[:, None]
    return values.to_numpy(dtype=np.float64)[:, None]


def same_memberships(model, X, *, density=True):
    """Whether a graph says the same as the model it was made from."""
    found = answers(model, X)
    same = np.array_equal(found["label"], model.predict(X))
    same &= np.allclose(found["probabilities"], model.predict_proba(X), rtol=1e-9, atol=1e-12, equal_nan=True)
    if density:
        same &= np.allclose(found["log_density"], model.score_samples(X), rtol=1e-10, atol=1e-9, equal_nan=True)
    return same


@pytest.mark.parametrize("X", [IRIS, GAPS, IRIS + 1e8], ids=["complete", "missing", "offset"])
def test_kmeans(X):
    model = KMeans(3, random_state=0).fit(X)
    found = answers(model, X)
    np.testing.assert_array_equal(found["label"], model.predict(X))
    np.testing.assert_allclose(found["distances"], model.transform(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_gaussian_mixture(kind):
    assert same_memberships(GaussianMixture(3, covariance_type=kind, random_state=0).fit(IRIS), IRIS)


@pytest.mark.parametrize("kind", ["diag", "spherical"])
def test_missing_values_are_left_out_of_independent_columns(kind):
    assert same_memberships(GaussianMixture(3, covariance_type=kind, random_state=0).fit(GAPS), GAPS)


def test_a_row_with_missing_values_has_no_answer_under_full_covariances():
    model = GaussianMixture(2, random_state=0).fit(IRIS)
    found = answers(model, GAPS)
    gone = np.isnan(GAPS).any(axis=1)
    assert np.isnan(found["probabilities"][gone]).all()
    np.testing.assert_allclose(found["probabilities"][~gone], model.predict_proba(GAPS[~gone]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("X", [IRIS, GAPS], ids=["complete", "missing"])
def test_bernoulli_mixture(X):
    ones = np.where(np.isnan(X), np.nan, (X > 3).astype(float))
    assert same_memberships(BernoulliMixture(2, random_state=0).fit(ones), ones)


def table(seed=0, n=200):
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(
        {
            "height": rng.normal(size=n),
            "width": rng.normal(size=n),
            "visits": rng.poisson(12.0, size=n).astype(float),
            "waiting": rng.exponential(3.0, size=n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "grade": rng.integers(1, 4, n).astype(float),
        }
    )
    for name in ("waiting", "visits", "colour"):
        made.loc[rng.random(n) < 0.1, name] = None
    return made


def test_a_mixture_of_mixed_types():
    families = {("height", "width"): Gaussian(), "visits": "counts", "waiting": Exponential(), "grade": "categorical"}
    data = table()
    assert same_memberships(Mixture(3, families=families, random_state=0).fit(data), data)


def test_categories_never_seen_are_left_out_by_a_mixture():
    data = table()
    model = Mixture(2, families={"grade": "categorical"}, random_state=0).fit(data)
    new = table(1).replace({"colour": {"red": "pink"}})
    assert same_memberships(model, new)


def test_a_family_without_a_form_in_onnx_is_named():
    data = np.random.default_rng(0).vonmises(0.0, 2.0, size=(100, 1))
    with pytest.raises(TypeError, match="VonMises cannot be written as ONNX"):
        to_onnx(Mixture(2, families=VonMises(), random_state=0).fit(data))


@pytest.mark.parametrize("X", [IRIS, GAPS, IRIS + 1e8], ids=["complete", "missing", "offset"])
def test_gaussian_naive_bayes(X):
    assert same_memberships(GaussianNB().fit(X, NAMES), X, density=False)


def test_bernoulli_naive_bayes():
    for X in (IRIS - 3, GAPS - 3):
        assert same_memberships(BernoulliNB().fit(X, NAMES), X, density=False)
        assert same_memberships(BernoulliNB(alpha=0.0, binarize=1.0).fit(X, SPECIES), X, density=False)


def test_multinomial_and_categorical_naive_bayes():
    counts = np.round(IRIS)
    assert same_memberships(MultinomialNB().fit(counts, SPECIES), counts, density=False)
    model = CategoricalNB().fit(counts, NAMES)
    assert same_memberships(model, counts, density=False)
    assert same_memberships(model, np.where(counts == 5, 40, counts), density=False)  # never seen
    assert same_memberships(model, np.where(counts == 5, np.nan, counts), density=False)


def test_naive_bayes_of_mixed_types():
    data, new = table(), table(1).replace({"colour": {"red": "pink"}})
    kinds = {"visits": "counts", "waiting": Exponential(), "grade": "categorical"}
    y = np.where(data["height"] + (data["colour"] == "red") > 0, "high", "low")
    model = NaiveBayes(families=kinds).fit(data, y)
    assert same_memberships(model, data, density=False)
    assert same_memberships(model, new, density=False)


@pytest.mark.parametrize("whiten", [False, True])
def test_pca(whiten):
    model = PCA(2, whiten=whiten).fit(IRIS)
    np.testing.assert_allclose(answers(model, IRIS)["transformed"], model.transform(IRIS), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("make", [DecisionTreeClassifier, lambda **k: RandomForestClassifier(7, **k)])
def test_classification_trees(make):
    X, y = load_breast_cancer(return_X_y=True)
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    for rows in (X, gaps):
        model = make(random_state=0, max_depth=6, m=1.0) if make is DecisionTreeClassifier else make(random_state=0)
        assert same_memberships(model.fit(rows, np.array(["no", "yes"])[y]), rows, density=False)


def test_trees_split_at_the_very_threshold():
    X = np.array([[0.1], [0.3], [np.nextafter(0.3, 1)], [0.7]])
    model = DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    at = np.array([[np.nextafter(v, side)] for v in model.tree_.threshold[:1] for side in (0, 1)] + X.tolist())
    np.testing.assert_array_equal(answers(model, at)["label"], model.predict(at))


@pytest.mark.parametrize("nominal", ["groups", "values"])
def test_trees_of_categories(nominal):
    data, new = table(n=400), table(1).replace({"colour": {"red": "pink"}})
    y = np.where((data["colour"] == "red") ^ (data["height"] > 0) ^ (data["grade"] == 2), "a", "b")
    model = DecisionTreeClassifier(nominal=nominal, random_state=0, max_depth=8).fit(data, y)
    assert same_memberships(model, data, density=False)
    assert same_memberships(model, new, density=False)


def test_a_tree_that_is_one_leaf():
    assert same_memberships(DecisionTreeClassifier().fit(IRIS, np.zeros(150)), IRIS, density=False)


def test_several_outputs():
    y = np.column_stack([NAMES, (IRIS[:, 0] > 6).astype(str)])
    model = RandomForestClassifier(5, random_state=0).fit(IRIS, y)
    found = answers(model, IRIS)
    for place, shares in enumerate(model.predict_proba(IRIS)):
        np.testing.assert_array_equal(found[f"label_{place}"], model.predict(IRIS)[:, place])
        np.testing.assert_allclose(found[f"probabilities_{place}"], shares, atol=1e-12)


@pytest.mark.parametrize("make", [DecisionTreeRegressor, lambda **k: RandomForestRegressor(7, **k)])
def test_regression_trees(make):
    X, y = load_diabetes(return_X_y=True)
    model = make(random_state=0).fit(X, y)
    np.testing.assert_allclose(answers(model, X)["prediction"][:, 0], model.predict(X), rtol=1e-12)


def test_what_has_no_form_in_onnx_is_refused():
    with pytest.raises(TypeError, match="BayesianLinearRegression cannot be written as ONNX"):
        to_onnx(BayesianLinearRegression())
    with pytest.raises(TypeError, match="missing='side'"):
        to_onnx(DecisionTreeClassifier.c45().fit(GAPS, NAMES))
    with pytest.raises(TypeError, match="leaf='mean'"):
        to_onnx(DecisionTreeRegressor.m5().fit(*load_diabetes(return_X_y=True)))


def test_a_model_must_be_fitted():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        to_onnx(KMeans())


def test_the_file_is_the_graph(tmp_path):
    graph = to_onnx(KMeans(2, random_state=0).fit(IRIS), tmp_path / "kmeans.onnx")
    assert (tmp_path / "kmeans.onnx").read_bytes() == graph.SerializeToString()
    assert graph.producer_name == "latently"
