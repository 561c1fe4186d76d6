import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from tacit.checks import estimator_checks, expected_failures
from tacit.cluster.mixture import Mixture
from tacit.cluster.bernoulli_mixture import BernoulliMixture
M=[Mixture(),Mixture(2),BernoulliMixture(),BernoulliMixture(2)]
@parametrize_with_checks(M, expected_failed_checks=expected_failures, xfail_strict=True)
def test_skl(estimator, check): check(estimator)
def laws():
    for m in M:
        e=expected_failures(m)
        for name,c in estimator_checks(m):
            yield pytest.param(c,id=f"{m}-{name}",marks=[pytest.mark.xfail(reason=e[name])] if name in e else [])
@pytest.mark.parametrize("check",laws())
def test_law(check): check()
