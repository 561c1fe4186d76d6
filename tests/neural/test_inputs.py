"""What is read: tables, images, tensors, datasets; and what is refused."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch.utils.data import TensorDataset

import latently
from latently.neural import (
    Autoencoder,
    ConditionalRBM,
    ConvAutoencoder,
    ConvNetClassifier,
    GraphConvClassifier,
    MixtureDensityNetwork,
    PretextEncoder,
)
from latently.neural.inputs import Scaling

FAST = {"n_iter_no_change": 1, "tol": 0.1, "random_state": 0}
X = np.random.default_rng(0).normal(size=(60, 3))
IMAGES = np.random.default_rng(1).uniform(size=(40, 2, 6, 5))


def test_arrays_tensors_and_datasets_are_the_same():
    plain = Autoencoder(**FAST).fit(X).transform(X)
    assert np.array_equal(Autoencoder(**FAST).fit(torch.from_numpy(X)).transform(torch.from_numpy(X)), plain)
    data = TensorDataset(torch.from_numpy(X))
    assert np.array_equal(Autoencoder(**FAST).fit(data).transform(data), plain)


def test_a_dataset_of_pairs_brings_its_labels():
    y = np.arange(40) % 2
    pairs = TensorDataset(torch.from_numpy(IMAGES), torch.from_numpy(y))
    model = ConvNetClassifier(hidden=(4,), **FAST)
    expected = model.fit(IMAGES, y).predict_proba(IMAGES)
    assert np.array_equal(model.fit(pairs).predict_proba(IMAGES), expected)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_the_column_at_fault_is_named(value):
    table = pd.DataFrame(X.copy(), columns=["width", "height", "depth"])
    table.loc[4, "height"] = value
    for model, more in (
        (Autoencoder(), ()),
        (MixtureDensityNetwork(), (X[:, 0],)),
        (ConditionalRBM(), (np.arange(60) % 2,)),
        (PretextEncoder(), ()),
        (GraphConvClassifier(), (np.arange(60) % 2,)),
    ):
        with pytest.raises(ValueError, match="'height'"):
            model.fit(table, *more)


def test_the_pixel_at_fault_is_named():
    images = IMAGES.copy()
    images[3, 1, 2, 4] = np.nan
    with pytest.raises(ValueError, match="image 3 of X has nan at channel 1, row 2, column 4"):
        ConvAutoencoder().fit(images)


def test_wrong_image_shapes_are_refused():
    model = ConvAutoencoder(hidden=(4,), **FAST).fit(IMAGES)
    with pytest.raises(ValueError, match=r"\(2, 6, 4\), but ConvAutoencoder was fitted to \(2, 6, 5\)"):
        model.transform(IMAGES[..., :4])
    with pytest.raises(ValueError, match="got shape"):
        ConvAutoencoder().fit(IMAGES[None])
    with pytest.raises(ValueError, match="square"):
        PretextEncoder(task="rotation").fit(IMAGES)


def test_labels_that_were_not_in_the_fit_are_named():
    y = np.array(["a", "b"])[np.arange(60) % 2]
    model = ConditionalRBM(4, **FAST).fit(X, y)
    with pytest.raises(ValueError, match="not in the fit: 'c'"):
        model.score_samples(X[:1], ["c"])


def test_as_many_labels_as_rows():
    for model in (ConvNetClassifier(), GraphConvClassifier(), ConditionalRBM(), MixtureDensityNetwork()):
        with pytest.raises(ValueError, match="for 60"):
            model.fit(X, np.arange(50) % 2)


def test_missing_values_are_masked_if_asked_for():
    rng = np.random.default_rng(2)
    code = rng.normal(size=(300, 1))
    rows = code * [1.0, -2.0, 0.5] + 0.05 * rng.normal(size=(300, 3))
    lost = rows.copy()
    lost[rng.uniform(size=rows.shape) < 0.2] = np.nan
    model = Autoencoder(1, missing="mask", n_iter_no_change=5, random_state=0).fit(lost)
    some = np.isnan(lost) & ~np.isnan(lost).all(axis=1)[:, None]
    errors = ((model.reconstruct(lost) - rows) / rows.std(axis=0))[some]
    assert (errors**2).mean() < 0.3  # the mean alone would leave 1
    assert np.isfinite(model.score_samples(lost)).all()


def test_scaling_survives_offsets_and_tiny_scales():
    rows = np.random.default_rng(3).normal(size=(200, 2))
    for offset, scale in ((1e8, 1.0), (0.0, 1e-12), (-3e8, 1e3)):
        given = offset + scale * rows
        scaling = Scaling.of(given)
        scaled = scaling.apply(given)
        assert np.allclose(scaled.mean(axis=0), 0, atol=1e-6)
        assert np.allclose(scaled.std(axis=0), 1)
        assert np.allclose(scaling.back(scaled), given)


def test_a_saved_model_needs_no_pickle_and_answers_the_same(tmp_path):
    model = ConvAutoencoder(3, hidden=(4, 4), connections="residual", **FAST).fit(IMAGES)
    latently.save(model, tmp_path / "model")
    back = latently.load(tmp_path / "model")
    assert np.array_equal(back.transform(IMAGES), model.transform(IMAGES))
    assert b"pickle" not in (tmp_path / "model").read_bytes()


def test_widths_that_are_none_are_refused():
    with pytest.raises(ValueError, match="hidden must be widths"):
        Autoencoder(hidden=(8, 0)).fit(X)
