"""Every public estimator, found by itself, against scikit-learn's checks and our laws.

A new model needs no line here. A line in CONFIGURATIONS examines it in more than one shape, or says how to
make it if its constructor has required arguments.
"""

import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy._lib._array_api import SCIPY_ARRAY_API
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from latently.checks import LAWS, all_estimators, estimator_checks, expected_failures, for_rows

CONFIGURATIONS = {
    "Autoencoder": [{"hidden": (8,), "n_iter_no_change": 2, "tol": 0.1}],
    "BernoulliMixture": [{}, {"n_components": 2}],
    "Isomap": [{"n_neighbors": None, "radius": 1e9}],  # rows in groups: with few neighbours a warning says so
    "LocallyLinearEmbedding": [{"n_neighbors": None, "radius": 1e9}],
    "PseudoEuclidean": [{"metric": "euclidean"}],
    "GaussianMixture": [{"n_components": 2, "covariance_type": kind} for kind in ("full", "tied", "diag", "spherical")],
    "GaussianHMM": [{}, {"n_components": 2, "covariance_type": "full"}],
    "HiddenMarkovModel": [{}, {"n_components": 2}],
    "CCA": [{"n_components": 1}],
    "ConditionalRBM": [{"n_hidden": 16, "n_iter_no_change": 5, "tol": 1e-3, "learning_rate": 0.05}],
    "ContrastiveGenerator": [{"hidden": (8,), "n_iter_no_change": 2, "tol": 0.1}],
    "ConvAutoencoder": [{"hidden": (4,), "n_iter_no_change": 2, "tol": 0.1}],
    "ConvNetClassifier": [{"hidden": (4,), "n_iter_no_change": 5, "tol": 0.01, "max_iter": 1000}],
    "DictionaryLearning": [{}, {"transform_algorithm": "lasso_lars"}],
    "DomainAdversarialClassifier": [{"hidden": (8,), "n_iter_no_change": 5, "tol": 0.01}],
    "GraphConvClassifier": [{"hidden": (8,), "n_iter_no_change": 5, "tol": 0.01}],
    "KMeans": [{"n_clusters": 3}],
    "Mixture": [{}, {"n_components": 2}],
    "MultipleMapsTSNE": [{"perplexity": 2.0, "max_iter": 30}],
    "SNE": [{"perplexity": 2.0, "max_iter": 60}],
    "TSNE": [{"perplexity": 2.0, "max_iter": 60}],
    "MixtureDensityNetwork": [{"hidden": (8,), "n_iter_no_change": 5, "tol": 0.01}],
    "NormalizingFlow": [{"n_layers": 1, "hidden": (8,), "n_iter_no_change": 2, "tol": 0.1}],
    "PretextEncoder": [{"hidden": (8,), "n_iter_no_change": 2, "tol": 0.1}],
}


def configured(name):
    return CONFIGURATIONS.get(name, [{}])


def instances():
    for name, cls in all_estimators():
        for params in configured(name):
            if reads_tables(model := cls(**params)):
                yield model


def one_of_each():
    for name, cls in all_estimators():
        if reads_tables(model := cls(**configured(name)[0])):
            yield model


def reads_tables(model):
    """Whether the checks, whose data are tables, can be made: a transformer of texts has tests of its own."""
    return get_tags(model).input_tags.two_d_array


def laws():
    for model in instances():
        expected = expected_failures(model)
        for name, check in estimator_checks(model):
            mark = [pytest.mark.xfail(reason=expected[name])] if name in expected else []
            yield pytest.param(check, id=f"{model}-{name}", marks=mark)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # on random tables, by rounding
@parametrize_with_checks(list(map(for_rows, one_of_each())), expected_failed_checks=expected_failures)
def test_scikit_learn(estimator, check):
    check(estimator)


def test_the_array_api_checks_are_not_left_out():
    """They would be, silently, without the setting that scipy reads when it is imported."""
    with config_context(array_api_dispatch=True):  # refused without it
        assert SCIPY_ARRAY_API


@pytest.mark.parametrize("check", list(laws()))
def test_law(check):
    check()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # on random tables, by rounding
@pytest.mark.parametrize("model", list(map(for_rows, one_of_each())), ids=repr)
def test_pipelines_searches_and_notebooks_take_it(model):
    rows = np.random.default_rng(0).integers(0, 2, size=(60, 4)).astype(float)
    if hasattr(model, "_check_data"):
        rows = np.asarray(model._check_data(60, np.random.default_rng(0)))
    y = np.arange(60) % 2
    assert type(model).__name__ in model._repr_html_()
    fitted = make_pipeline(FunctionTransformer(), clone(model)).fit(rows, y)
    name, value = next(iter(model.get_params().items()))
    search = GridSearchCV(model, {name: [value]}, cv=2, scoring=_all_alike).fit(rows, y)
    assert pickle.loads(pickle.dumps(search)).best_params_ == search.best_params_
    assert type(fitted[-1]) is type(search.best_estimator_)


def _all_alike(model, X, y=None):
    return 1.0


@pytest.mark.parametrize("model", list(one_of_each()), ids=repr)
def test_every_expected_failure_names_a_check_and_a_reason(model):
    from sklearn.utils.estimator_checks import estimator_checks_generator

    known = {law.name for law in LAWS}
    known |= {getattr(check, "func", check).__name__ for _, check in estimator_checks_generator(for_rows(model))}
    assert expected_failures(model).keys() <= known
    assert all(expected_failures(model).values())


def test_every_configuration_is_of_an_estimator_that_exists():
    assert CONFIGURATIONS.keys() <= {name for name, _ in all_estimators()}


def test_every_package_with_a_table_of_names_is_discovered():
    import latently

    packages = {path.parent.name for path in Path(latently.__file__).parent.glob("*/__init__.py")}
    discovered = {cls.__module__.split(".")[1] for _, cls in all_estimators()}
    assert "cluster" in discovered <= packages
