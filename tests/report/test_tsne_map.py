"""t-SNE beside the linear view: clusters apart, places as trusted as they deserve, the same for the same seed."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from latently.embed import map_quality
from latently.report import explore
from latently.report.sections.map import linear
from latently.report.sections.map.discriminant import discriminant
from latently.report.sections.map.tsne import tsne_map


def rows_in_clusters(n: int, d: int, k: int, gap: float) -> tuple[np.ndarray, np.ndarray]:
    """Standardised rows in k clusters that differ in their first columns only."""
    rng = np.random.default_rng(0)
    labels = rng.integers(k, size=n)
    X = rng.normal(size=(n, d)) + gap * np.eye(k, d)[labels]
    return (X - X.mean(axis=0)) / X.std(axis=0), labels


def placed(X: np.ndarray, labels: np.ndarray, seed: int = 0) -> dict:
    shares = np.eye(labels.max() + 1)[labels]
    return tsne_map(X, X[:, :2], shares, np.arange(len(X)), np.random.default_rng(seed))


def together(places: np.ndarray, labels: np.ndarray) -> float:
    """Share of the 10 nearest points that are of the same cluster."""
    far = ((places[:, None] - places) ** 2).sum(axis=2)
    np.fill_diagonal(far, np.inf)
    return float((labels[np.argsort(far, axis=1)[:, :10]] == labels[:, None]).mean())


def test_clusters_that_noise_hides_in_the_table_are_seen_apart():
    X, labels = rows_in_clusters(300, 40, 3, 6.0)
    found = placed(X, labels)
    assert together(X, labels) < 0.7
    assert together(np.column_stack([found["x"], found["y"]]), labels) > 0.95
    assert "count more here" in found["text"]
    assert found["trustworthiness"] < 0.9  # measured against the table as it is


def test_columns_count_alike_where_clusters_lie_apart_in_the_table():
    X, labels = rows_in_clusters(200, 4, 2, 8.0)
    found = placed(X, labels)
    assert together(np.column_stack([found["x"], found["y"]]), labels) == 1.0
    assert "count more here" not in found["text"]


def test_trust_is_that_of_map_quality_and_the_text_says_how_many_are_faint():
    X, labels = rows_in_clusters(200, 12, 2, 6.0)
    found = placed(X, labels)
    quality = map_quality(X, np.column_stack([found["x"], found["y"]]))
    gaps = np.abs(np.array(found["trust"]) - quality.trust)  # places are rounded, so that neighbours may change rank
    assert gaps.mean() < 0.002
    assert gaps.max() < 0.1
    assert found["kept"] == pytest.approx(quality.neighbour_preservation, abs=0.01)
    share = np.mean(np.array(found["trust"]) < found["faint"])
    assert 0.1 <= share < 0.9
    assert f"points drawn faint, {100 * share:.0f} % of them" in found["text"]


def test_a_point_is_faint_below_half_way_from_chance_to_perfect():
    rng = np.random.default_rng(0)
    X, labels = rows_in_clusters(300, 4, 2, 6.0)
    chance = map_quality(X, rng.normal(size=(300, 2))).trust.mean()
    assert placed(X, labels)["faint"] == pytest.approx((1 + chance) / 2, abs=0.03)


@pytest.mark.parametrize("k", [2, 3])
def test_the_start_has_the_axes_of_discriminant_analysis(k):
    X, labels = rows_in_clusters(150, 5, k, 3.0)
    peer = LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1 / 1.1).fit_transform(X, labels)
    ours = discriminant(X, np.eye(k)[labels])
    assert ours.shape == peer.shape
    for one, other in zip(ours.T, peer.T, strict=True):
        # the peer shrinks the total covariance too, which turns its axes a little
        assert abs(np.corrcoef(one, other)[0, 1]) == pytest.approx(1.0, abs=1e-4)


def test_few_rows_are_left_out_with_the_reason():
    X, labels = rows_in_clusters(30, 3, 2, 5.0)
    assert len(placed(X, labels)["x"]) == 30
    assert placed(X[:29], labels[:29]) == {
        "skipped": "t-SNE is left out: neighbourhoods need at least 30 rows, here are 29."
    }


def test_the_same_seed_gives_the_same_places():
    X, labels = rows_in_clusters(80, 3, 2, 5.0)
    assert placed(X, labels, 3) == placed(X, labels, 3)
    assert placed(X, labels, 3)["x"] != placed(X, labels, 4)["x"]


def test_one_column_and_equal_rows_have_finite_places():
    values = np.repeat([-1.0, 1.0], 20)[:, None]
    for shares in (np.ones((40, 1)), np.eye(2)[(values[:, 0] > 0).astype(int)]):
        view = np.hstack([values, np.zeros_like(values)])
        found = tsne_map(values, view, shares, np.arange(40), np.random.default_rng(0))
        places = np.column_stack([found["x"], found["y"]])
        assert np.isfinite(places).all()
        assert together(places, (values[:, 0] > 0).astype(int)) == 1.0


def test_of_many_rows_a_sample_is_placed_and_the_strangest(monkeypatch):
    monkeypatch.setattr(linear, "TSNE_POINTS", 80)
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=150), "b": rng.normal(size=150)}
    table["a"][17] = 40.0
    drawn = explore(table).to_dict()["map"]
    assert len(drawn["points"]["row"]) == 150
    rows = drawn["tsne"]["rows"]
    assert rows == sorted(set(rows))
    assert len(rows) == 80
    assert 17 in rows
    assert "80 of the 150 points are placed" in drawn["tsne"]["text"]
    assert explore(table).to_dict()["map"]["tsne"] == drawn["tsne"]
