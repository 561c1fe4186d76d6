"""The page on new models is a program: it runs, its assertions hold, and its estimator passes every check."""

import re
import sys
import types
from pathlib import Path

import dask
import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from latently.checks import estimator_checks, expected_failures

PAGE = Path(__file__).parents[2] / "docs" / "new_model.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


def page_module():
    """The first block as a module of its own, so that its classes can be pickled."""
    module = types.ModuleType("a_new_model")
    sys.modules[module.__name__] = module
    exec(compile(BLOCKS[0], str(PAGE), "exec"), module.__dict__)
    return module


NEW = page_module()


def laws():
    for model in (NEW.BlobMixture(), NEW.BlobMixture(2)):
        expected = expected_failures(model)
        for name, check in estimator_checks(model):
            mark = [pytest.mark.xfail(reason=expected[name])] if name in expected else []
            yield pytest.param(check, id=f"{model}-{name}", marks=mark)


def test_the_page_on_new_models_runs():
    assert len(BLOCKS) == 9
    # one module for all blocks, as a reader would run them
    program = compile("\n".join(BLOCKS), str(PAGE), "exec")
    with dask.config.set(scheduler="synchronous"):
        exec(program, {"__name__": "new_model"})


def test_a_complete_estimator_is_short():
    assert len(BLOCKS[0].splitlines()) <= 100


@parametrize_with_checks([NEW.BlobMixture()], expected_failed_checks=expected_failures)
def test_the_new_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", list(laws()))
def test_the_new_estimator_keeps_every_law(check):
    check()


def test_the_new_estimator_is_the_tied_diagonal_mixture():
    """One component is the sample mean and variance; two agree with a closed form of the E-step."""
    X = np.random.default_rng(0).normal(size=(400, 2)) * [1.0, 3.0]
    model = NEW.BlobMixture().fit(X)
    np.testing.assert_allclose(model.means_[0], X.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(model.variances_, X.var(axis=0), rtol=1e-9)
    low, high = model.impute_interval([[np.nan, 0.0]], level=0.9)
    assert abs(low[0, 0] - (X[:, 0].mean() - 1.645 * X[:, 0].std())) < 0.15
    assert abs(high[0, 0] - (X[:, 0].mean() + 1.645 * X[:, 0].std())) < 0.15
