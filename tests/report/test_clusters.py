"""Clusters: labels are no reason for them, small ones are found or offered, all blocks of columns count."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from latently.report import explore
from latently.report.reading.table import read_columns
from latently.report.study.columns import judge
from latently.report.study.pairs.communality import most_shared


def birds(n=330):
    """Three kinds, two of them near each other, each with a larger and a smaller sex."""
    rng = np.random.default_rng(0)
    kind = rng.choice(3, n, p=[0.45, 0.35, 0.2])
    male = rng.random(n) < 0.5
    bill = np.array([38.8, 47.5, 48.8])[kind] + 2 * male + rng.normal(0, 2, n)
    depth = np.array([17.6, 14.2, 17.6])[kind] + 0.8 * male + rng.normal(0, 0.8, n)
    mass = np.array([3370, 4680, 3530])[kind] + 300 * male + rng.normal(0, 280, n)
    table = {"bill": bill, "depth": depth, "mass": mass, "sex": np.where(male, "m", "f").tolist()}
    return table, np.array(["Adelie", "Gentoo", "Chinstrap"])[kind]


def clusters_of(found):
    return np.array(found["map"]["points"]["cluster"])


def test_a_label_is_set_aside_and_named():
    table, kind = birds()
    table["species"] = kind.tolist()
    found = explore(table).to_dict()
    clusters = found["clusters"]
    assert "species" not in clusters["columns"]
    (label,) = clusters["labels"]
    assert label["column"] == "species"
    assert label["agreement"] == pytest.approx(adjusted_rand_score(kind, clusters_of(found)), abs=1e-9)
    assert "species, which was not used to find them" in clusters["text"]
    assert "species" in found["map"]["columns"]
    tested = {name for pair in found["dependencies"]["pairs"] for name in (pair["a"], pair["b"])}
    assert "species" in tested


def test_a_label_alone_makes_no_clusters():
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=300)
    table = {"kind": [f"k{k}" for k in kind], "copy": [f"c{k}" for k in kind]}
    table |= {f"x{j}": rng.normal(size=300) for j in range(3)}
    assert explore(table).to_dict()["clusters"]["n"] == 1


def test_kinds_that_sexes_cut_in_two_are_found_or_offered():
    table, kind = birds()
    found = explore(table).to_dict()
    clusters = found["clusters"]
    finer = clusters["finer"]
    assert clusters["n"] == 3 or (finer["n"] == 3 and finer["probability"] > 0.6 and "possible too" in clusters["text"])
    assert clusters["n"] > 1
    if clusters["n"] == 3:
        assert adjusted_rand_score(kind, clusters_of(found)) > 0.85


def test_the_picture_shows_the_clusters_apart():
    rng = np.random.default_rng(0)
    side = rng.integers(2, size=300)
    X = rng.normal(size=(300, 5)) * [10, 8, 6, 1, 1]
    X[:, 3:] += 6 * side[:, None]
    found = explore(X).to_dict()
    apart = found["map"]["discriminant"]
    assert found["clusters"]["n"] == 2
    assert apart["apart"] > 0.98
    assert "x3" in apart["x_title"]
    assert "x4" in apart["x_title"]
    x, own = np.array(apart["x"]), clusters_of(found)
    assert max(x[own == own[x.argmin()]]) < min(x[own == own[x.argmax()]])
    assert explore({"a": X[:, 0], "b": X[:, 1]}).to_dict()["map"]["discriminant"] is None


def test_every_block_of_many_columns_is_seen_whatever_is_missing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 200))
    side = rng.integers(2, size=400)
    X[:, 150:160] += 3 * side[:, None]
    X[:, 190:] += rng.normal(size=(400, 1))
    X[:, 150:][rng.random((400, 50)) < 0.1] = np.nan  # those that tell have more missing values
    columns = [judge(raw) for raw in read_columns(X)]
    names = {column.name for column in most_shared(columns, np.arange(400), 60)}
    assert len(names) == 60
    assert {f"x{j}" for j in (*range(150, 160), *range(190, 200))} <= names
    assert explore(X).to_dict()["clusters"]["n"] == 2


def test_cards_compare_medians_and_are_silent_where_nothing_differs():
    rng = np.random.default_rng(0)
    side = rng.integers(2, size=400)
    table = {"a": rng.lognormal(size=400) + 12 * side, "b": rng.normal(size=400) + 7 * side}
    table |= {"same": rng.lognormal(size=400), "word": rng.choice(["u", "v"], 400).tolist()}
    cards = explore(table).to_dict()["clusters"]["cards"]
    assert len(cards) == 2
    for card in cards:
        assert {entry["column"] for entry in card["typical"]} == {"a", "b"}
        assert all(entry["overall"].startswith("median ") for entry in card["typical"])
    medians = [
        float(entry["overall"].split()[1]) for card in cards for entry in card["typical"] if entry["column"] == "a"
    ]
    own = clusters_of(explore(table).to_dict())
    shown = sorted(np.median(table["a"][own == k]) for k in (1, 2))
    np.testing.assert_allclose(sorted(medians), shown, rtol=0.02)


def test_a_file_in_the_order_of_its_clusters_tells_what_a_shuffled_one_does():
    rng = np.random.default_rng(0)
    centres = np.repeat([[0.0, 0.0], [8.0, 6.0], [0.0, 12.0]], 200, axis=0)
    X = centres + rng.normal(size=(600, 2))
    found = explore({"a": X[:, 0], "b": X[:, 1]}).to_dict()["insights"][0]
    assert found["finding"] == "clusters"
    assert "3 clusters" in found["text"]
    assert "no other column" not in found["text"]
