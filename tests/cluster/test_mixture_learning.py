"""Mixture: constraints, labelled rows, learning on and forgetting, whole-row components; bad input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import latently
from latently.cluster.mixture.mixture import Mixture
from latently.data import infer_schema
from latently.distributions import Categorical, Dirichlet, Gamma, Gaussian, NormalInverseWishart, Poisson, Product
from latently.distributions.families.mixture import MixtureDistribution

FAMILIES = {"job": Categorical(), "visits": Poisson()}


def table(n=600, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    group = (rng.random(n) < 0.35).astype(int)
    job = np.where(rng.random(n) < [0.9, 0.2][0] - 0.7 * group, "smith", "judge").astype(object)
    frame = pd.DataFrame(
        {
            "age": rng.normal(30 + 25 * group, 4),
            "income": rng.normal(10 + 5 * group, 2),
            "job": job,
            "visits": rng.poisson(2 + 6 * group).astype(float),
        }
    )
    for name in frame:
        frame.loc[rng.random(n) < missing, name] = None
    return frame, group


def both(component):
    return {name: component.marginal(i) for i, name in enumerate(["age", "income", "job", "visits"])}


# constraints


def test_fixed_weights_stay_and_survive_clone():
    frame, _ = table()
    mixture = clone(Mixture(2, families=FAMILIES, fixed_weights=[0.5, 0.5], random_state=0)).fit(frame)
    assert np.array_equal(mixture.weights_, [0.5, 0.5])
    assert mixture._n_parameters() == 2 * (4 + 1 + 1)


@pytest.mark.parametrize("families", [FAMILIES, {**FAMILIES, ("age", "income"): Gaussian()}])
def test_fixed_parameters_stay_and_survive_clone(families):
    frame, group = table(missing=0.1)
    constrained = {"job": Categorical([0.5, 0.5]), "visits": Poisson(3.0)}
    if ("age", "income") in families:
        constrained[("age", "income")] = Gaussian([31.0, 9.0], [[20.0, 1.0], [1.0, 5.0]])
    else:
        constrained["age"] = Gaussian(31.0, 20.0)
    mixture = clone(Mixture(2, families=families, fixed={0: constrained}, random_state=0)).fit(frame)
    found = both(mixture.components_[0])
    assert np.array_equal(found["job"].probabilities, [0.5, 0.5])
    assert found["visits"].rate == 3.0
    assert found["age"].mean == pytest.approx(31.0)
    assert found["age"].variance == pytest.approx(20.0)
    assert both(mixture.components_[1])["age"].mean == pytest.approx(55, abs=1)
    assert (mixture.predict(frame) == group).mean() > 0.9
    free = Mixture(2, families=families, random_state=0).fit(frame)
    fewer = 1 + 1 + (5 if ("age", "income") in families else 2)
    assert mixture._n_parameters() == free._n_parameters() - fewer
    assert (np.diff(mixture.lower_bounds_) >= -1e-9).all()


def test_fixed_parameters_hold_for_gradients_too():
    frame, _ = table()
    fixed = {1: {"age": Gaussian(50.0, 9.0), "visits": Poisson(7.0)}}
    found = [
        Mixture(2, families=FAMILIES, fixed=fixed, method=m, random_state=0, tol=1e-12, max_iter=3000).fit(frame)
        for m in ("em", "gradient")
    ]
    assert both(found[1].components_[1])["age"].mean == 50.0
    assert abs(found[0].lower_bound_ - found[1].lower_bound_) * len(frame) < 1e-6


def test_labelled_rows_decide_which_component_is_which():
    frame, group = table()
    labels = np.full(len(frame), np.nan)
    labels[:60] = 1 - group[:60]
    mixture = Mixture(2, families=FAMILIES, random_state=0).fit(frame, labels=labels)
    assert (mixture.predict(frame) == 1 - group).mean() > 0.95
    assert mixture.weights_[0] < mixture.weights_[1]


def test_with_every_row_labelled_the_fit_is_that_of_each_group():
    frame, group = table()
    mixture = Mixture(2, families=FAMILIES, prior="ml").fit(frame, labels=group)
    for k in (0, 1):
        own = frame[group == k]
        found = both(mixture.components_[k])
        assert found["age"].mean == pytest.approx(own["age"].mean())
        assert found["age"].variance == pytest.approx(own["age"].var(ddof=0))
        assert found["visits"].rate == pytest.approx(own["visits"].mean())
        assert found["job"].probabilities[1] == pytest.approx((own["job"] == "smith").mean())


def test_a_constraint_that_contradicts_the_data_is_an_error():
    frame, _ = table(50)
    labels = np.zeros(50)
    with pytest.raises(ValueError, match="probability zero under the fixed"):
        Mixture(2, families=FAMILIES, fixed_weights=[0.0, 1.0], random_state=0).fit(frame, labels=labels)
    with pytest.raises(ValueError, match="probability zero under the fixed"):
        Mixture(1, families=FAMILIES, fixed={0: {"visits": Poisson(0.0)}}).fit(frame)


# learning on


@pytest.mark.parametrize("families", [FAMILIES, {**FAMILIES, ("age", "income"): Gaussian()}])
def test_with_one_component_partial_fit_merge_and_forget_are_exact(families):
    frame, _ = table()
    halves = frame[:250], frame[250:]
    whole = Mixture(1, families=families).fit(frame)
    schema = whole.schema_
    one, other = (Mixture(1, families=families, schema=schema).fit(half) for half in halves)
    grown = clone(one).fit(halves[0]).partial_fit(halves[1])
    for found in (grown, one.merge(other)):
        assert np.allclose(found.score_samples(frame), whole.score_samples(frame), atol=1e-9)
    before = other.score_samples(frame)
    assert np.allclose(grown.forget(halves[0]).score_samples(frame), before, atol=1e-9)


def test_partial_fit_comes_near_the_fit_on_everything():
    frame, group = table(2000, 0.1)
    mixture = Mixture(2, families=FAMILIES, random_state=0)
    for start in range(0, 2000, 500):
        mixture.partial_fit(frame[start : start + 500])
    assert mixture.statistics_.rows == 2000
    assert (mixture.predict(frame) == group).mean() > 0.97
    assert np.allclose(mixture.weights_, [0.65, 0.35], atol=0.04)


def test_merge_matches_components_whatever_their_order():
    frame, group = table(800)
    heavy = frame[group == 1]
    one = Mixture(2, families=FAMILIES, random_state=0).fit(frame[:400])
    rest = pd.concat([heavy[:150], frame[400:][group[400:] == 0][:50]])
    other = Mixture(2, families=FAMILIES, random_state=0).fit(rest)
    assert one.predict(frame)[0] != other.predict(frame)[0]
    merged = one.merge(other)
    assert merged.statistics_.rows == 600
    assert (merged.predict(frame) == group).mean() > 0.97
    fewer = Mixture(2, families=FAMILIES).fit(frame[frame["job"] == "smith"])
    with pytest.raises(ValueError, match="column 'job' is not the same in both mixtures"):
        merged.merge(fewer)
    with pytest.raises(ValueError, match="cannot be merged"):
        merged.merge(Mixture(3, families=FAMILIES).fit(frame))


def test_more_rows_than_were_learnt_cannot_be_forgotten():
    frame, _ = table(100)
    mixture = Mixture(2, families=FAMILIES, random_state=0).fit(frame)
    with pytest.raises(ValueError, match="forgetting a weight of 200 leaves nothing of the 100"):
        mixture.forget(pd.concat([frame, frame]))
    strangers = pd.concat([frame[frame["age"] > 45]] * 2)
    with pytest.raises(ValueError, match="would leave component 1 with a weight of -26.9"):
        mixture.forget(strangers)
    assert mixture.forget(frame[:30]).statistics_.rows == 70


# whole-row components


def test_any_distributions_can_be_components():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.exponential(1.0, 300), rng.normal(20, 2, 200)])[:, None]
    from latently.distributions import Exponential

    mixture = Mixture(components=[Exponential(0.5), Gaussian(15.0, 9.0)], tol=1e-8, max_iter=1000).fit(X)
    assert mixture.weights_ == pytest.approx([0.6, 0.4], abs=0.01)
    assert mixture.components_[0].rate == pytest.approx(1.0, rel=0.15)
    assert mixture.components_[1].mean == pytest.approx(20, abs=0.5)
    assert mixture._n_parameters() == 1 + 1 + 2
    more = mixture.partial_fit(X[:10])
    assert more.statistics_.rows == 510


def test_mixtures_nest():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(c, 0.5, 150) for c in (0, 3, 30, 33)])[:, None]
    pair = MixtureDistribution(components=[Gaussian(), Gaussian()])
    mixture = Mixture(components=[pair, pair], random_state=0, tol=1e-7, max_iter=1000).fit(X)
    assert (np.diff(mixture.lower_bounds_) >= -1e-9).all()
    assert len(set(mixture.predict(X)[:300])) == 1
    assert mixture.weights_ == pytest.approx([0.5, 0.5], abs=0.01)
    inner = sorted(float(part.mean[0]) for part in mixture.components_[int(mixture.predict([[0.0]])[0])].components)
    assert inner == pytest.approx([0.0, 3.0], abs=0.2)


# files


def test_a_saved_mixture_of_a_frame_comes_back(tmp_path):
    frame, _ = table(missing=0.1)
    prior = {"age": NormalInverseWishart([40.0], 0.1, [[9.0]], 3.0), "job": Dirichlet(2.0)}
    mixture = Mixture(2, families={**FAMILIES, "visits": Gamma()}, prior=prior, random_state=0)
    frame["visits"] += 0.5
    mixture.fit(frame)
    latently.save(mixture, tmp_path / "mixture.latently")
    back = latently.load(tmp_path / "mixture.latently")
    assert np.array_equal(back.score_samples(frame), mixture.score_samples(frame))
    assert back.partial_fit(frame[:50]).statistics_.rows == 650


# bad input


def fits(**settings):
    frame, _ = table(40)
    return lambda: Mixture(**{"families": FAMILIES, **settings}).fit(frame)


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (fits(prior={"job": Dirichlet([2.0, 2.0, 2.0])}), "column 'job' has 2 categories, but its Dirichlet"),
        (fits(prior={"job": Dirichlet(0.5)}), "column 'job' needs a Dirichlet prior of at least 1"),
        (fits(prior={"age": Gamma(2.0, 1.0)}), "column 'age' needs a NormalInverseWishart"),
        (fits(prior={"age": NormalInverseWishart([0.0, 0.0], 1.0, np.eye(2), 4.0)}), "column 'age' has a prior of 2"),
        (fits(prior={"visits": Gamma(0.5, 1.0)}), "column 'visits' needs a Gamma prior"),
        (fits(prior={"wages": 1.0}), "column 'wages' is not in the table"),
        (fits(prior={("age", "income"): 1.0}), "neither a column described by itself nor a group"),
        (fits(prior="strong"), "prior must be"),
        (fits(weight_prior=0.5), "weight_prior must be a Dirichlet concentration of at least 1"),
        (fits(n_components=41), "n_components = 41, but X has only n_samples = 40 rows"),
        (fits(families={"age": Poisson()}), "column 'age' has .* in row 0: Poisson takes whole numbers"),
        (fits(families={"job": Gaussian()}), "column 'job' is numeric but holds '(smith|judge)'"),
        (fits(families={"visits": "binary"}), "column 'visits' holds .* different values: Bernoulli takes two"),
        (fits(families={"wages": Gaussian()}), "families: column 'wages' is not in the table"),
        (fits(families={("age", "income"): Gaussian(), "age": Gaussian()}), "column 'age' is given more than once"),
        (fits(families={("age", "job"): Gaussian()}), "column 'job'"),
        (fits(fixed={3: {"age": Gaussian(1.0, 1.0)}}), "3 is not a component"),
        (fits(fixed={0: {"age": Gaussian()}}), "'age' needs a distribution with parameters"),
        (fits(fixed={0: {"job": Categorical([0.2, 0.3, 0.5])}}), "column 'job' has 2 categories"),
        (fits(fixed_weights=[0.2, 0.8]), "fixed_weights must be 1 numbers"),
        (fits(components=[Gaussian()]), "families .* or components .* not both"),
        (fits(families=None, components=[Product([(Gaussian(), 0)])]), "has 1 columns, but the table has 4"),
    ],
)  # fmt: skip
def test_settings_that_do_not_fit_are_named(attempt, message):
    with pytest.raises(ValueError, match=message):
        attempt()


@pytest.mark.parametrize("families", [{"job": Categorical()}, {"job": Categorical(), ("age", "income"): Gaussian()}])
@pytest.mark.parametrize("name", ["age", "income", "job"])
def test_a_column_without_values_is_named(name, families):
    frame, _ = table(30)
    frame[name] = np.nan
    with pytest.raises(ValueError, match=f"column '{name}' has no observed values"):
        Mixture(2, families=families).fit(frame)


def test_negative_counts_are_named_at_fit_and_after():
    frame, _ = table(50)
    mixture = Mixture(2, families=FAMILIES, random_state=0).fit(frame)
    frame.loc[7, "visits"] = -2
    for attempt in (mixture.fit, mixture.predict, mixture.partial_fit):
        with pytest.raises(ValueError, match="column 'visits' has -2 in row 7: Poisson takes whole numbers from 0 on"):
            attempt(frame)


def test_strings_in_a_numeric_column_are_named():
    frame, _ = table(50)
    mixture = Mixture(2, families=FAMILIES, random_state=0).fit(frame)
    odd = frame.astype({"age": object})
    odd.loc[3, "age"] = "old"
    with pytest.raises(ValueError, match="column 'age' is numeric but holds 'old'"):
        mixture.predict(odd)


def test_a_given_schema_is_followed():
    frame, _ = table(200)
    schema = infer_schema(frame.assign(visits=frame["visits"].astype(int)), categorical=["visits"])
    mixture = Mixture(2, schema=schema, random_state=0).fit(frame)
    assert isinstance(mixture.components_[0].marginal(3), Categorical)
    with pytest.raises(ValueError, match="column 'visits' is categorical in the schema"):
        Mixture(2, schema=schema, families={"visits": Poisson()}).fit(frame)
