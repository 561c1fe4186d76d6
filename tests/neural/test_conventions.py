"""What users of scikit-learn expect of all ten: clones, files, frames, pipelines, searches."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import latently
from latently import neural

FAST = {"max_iter": 2, "random_state": 0}
IRIS = load_iris()
X, y = IRIS.data, IRIS.target
IMAGES = np.random.default_rng(0).uniform(size=(40, 6, 6))
KINDS = np.arange(40) % 2
GRAPH = nx.to_scipy_sparse_array(nx.karate_club_graph(), weight=None)
SIDES = np.array([nx.karate_club_graph().nodes[i]["club"] for i in range(34)])
NODES = np.eye(34)

FITS = {
    "Autoencoder": ((X,), lambda m: m.transform(X)),
    "ConvAutoencoder": ((IMAGES,), lambda m: m.reconstruct(IMAGES)),
    "NormalizingFlow": ((X,), lambda m: m.sample(5, random_state=1)),
    "PretextEncoder": ((X,), lambda m: m.transform(X)),
    "DomainAdversarialClassifier": ((X, y, X[:50] + 1), lambda m: m.predict_proba(X)),
    "ConvNetClassifier": ((IMAGES, KINDS), lambda m: m.predict_proba(IMAGES)),
    "GraphConvClassifier": ((NODES, SIDES, GRAPH), lambda m: m.predict_proba((NODES, GRAPH))),
    "MixtureDensityNetwork": ((X, X[:, 0]), lambda m: m.score_samples(X, X[:, 0])),
    "ConditionalRBM": ((X, y), lambda m: m.score_samples(X, y)),
    "ContrastiveGenerator": ((X,), lambda m: m.sample(5, random_state=1)),
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_all_are_here():
    assert set(FITS) == set(neural.__all__)


@pytest.mark.parametrize("name", FITS)
def test_clones_and_files_are_the_same_model(name, tmp_path):
    given, answer = FITS[name]
    model = getattr(neural, name)(**FAST).fit(*given)
    expected = answer(model)
    assert np.isfinite(expected).all()
    again = clone(model)
    assert not hasattr(again, "weights_")
    assert repr(again.get_params()) == repr(model.get_params())
    assert np.array_equal(answer(again.fit(*given)), expected)
    path = tmp_path / "model"
    latently.save(model, path)
    assert np.array_equal(answer(latently.load(path)), expected)
    assert latently.load(path).get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize("name", FITS)
def test_what_was_not_fitted_says_so(name):
    with pytest.raises(Exception, match="not fitted"):
        FITS[name][1](getattr(neural, name)())


@pytest.mark.parametrize("name", ["Autoencoder", "NormalizingFlow", "PretextEncoder", "ContrastiveGenerator"])
def test_frames_are_read_by_their_names(name):
    kind = getattr(neural, name)
    columns = ["a", "b", "c", "d"]
    frames = pd.DataFrame(X, columns=columns), pl.DataFrame(X, schema=columns)
    expected = kind(**FAST).fit(X).weights_
    for frame in frames:
        model = kind(**FAST).fit(frame)
        assert model.feature_names_in_.tolist() == columns
        assert all(np.array_equal(model.weights_[key], array) for key, array in expected.items())
    verb = model.transform if hasattr(model, "transform") else model.score_samples
    with pytest.raises(ValueError, match="(?s)names.*a"):
        verb(frames[0].rename(columns={"a": "z"}))


@pytest.mark.parametrize("name", ["Autoencoder", "NormalizingFlow", "PretextEncoder", "ConvAutoencoder"])
def test_features_have_names_in_frames(name):
    given = FITS[name][0][0]
    model = getattr(neural, name)(**FAST).set_output(transform="pandas").fit(given)
    found = model.transform(given)
    assert isinstance(found, pd.DataFrame)
    assert found.columns.tolist() == model.get_feature_names_out().tolist()
    assert found.columns[0] == f"{name.lower()}0"
    assert found.shape[1] == model.transform(given).shape[1]


def test_pipelines_and_searches():
    chain = make_pipeline(StandardScaler(), neural.DomainAdversarialClassifier(max_iter=30, random_state=0))
    assert chain.fit(X, y).score(X, y) > 0.8
    grid = {"domainadversarialclassifier__hidden": [(4,), (16,)]}
    search = GridSearchCV(chain, grid, cv=2).fit(X, y)
    assert set(search.cv_results_["param_domainadversarialclassifier__hidden"]) == {(4,), (16,)}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    flows = GridSearchCV(neural.NormalizingFlow(**FAST), {"n_layers": [1, 2]}, cv=2).fit(X)
    assert flows.best_score_ == max(flows.cv_results_["mean_test_score"])  # mean log density: the higher the better


@pytest.mark.parametrize("name", ["Autoencoder", "NormalizingFlow", "ContrastiveGenerator"])
def test_scores_are_means_of_scores_of_rows(name):
    model = getattr(neural, name)(**FAST).fit(X)
    assert model.score(X) == pytest.approx(model.score_samples(X).mean())


def test_scores_are_accuracies_or_determination():
    rbm = neural.ConditionalRBM(**FAST).fit(X, y)
    assert rbm.score(X, y) == pytest.approx((rbm.predict(X) == y).mean())
    network = neural.MixtureDensityNetwork(**FAST).fit(X, X[:, 0])
    apart = ((network.predict(X) - X[:, 0]) ** 2).mean() / X[:, 0].var()
    assert network.score(X, X[:, 0]) == pytest.approx(1 - apart)


def test_a_label_that_one_row_has_and_labels_of_text():
    names = np.where(np.arange(150) == 7, "rare", np.where(y == 0, "b", "a"))
    model = neural.DomainAdversarialClassifier(**FAST).fit(X, names)
    assert model.classes_.tolist() == ["a", "b", "rare"]
    with pytest.raises(ValueError, match=r"'blue'.*expected \['a', 'b', 'rare'\]"):
        model.decide(X[:2], {"blue": {"go": 1.0}})
