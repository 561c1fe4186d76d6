"""Accuracy of trees and forests beside scikit-learn's on real tables: `python -m benchmarks.trees --accuracy PATH ...`.

Stratified 10-fold cross-validation, the same folds for all, over several seeds of folds and models. Ours take tables as
they come, scikit-learn's get indicators of categories and medians or modes for missing values. Paths are files of KEEL
(.dat), Weka (.arff) or comma-separated ones with the class first (.csv); `NAME.dat@0.2` takes out a fifth of the values
at random. A table fails if ours are worse by more than a standard error of the difference, that of the folds of one
seed: folds of other seeds hold the same rows.
"""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn.ensemble
import sklearn.tree
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from latently.predict import DecisionTreeClassifier, RandomForestClassifier

FOLDS = 10
MISSING = {"?", "", "NA", "<null>"}


def read_rows(path):
    """Table and classes of a file of rows, the class last; lines that say what the columns are tell nothing new."""
    with path.open() as lines:
        kept = [line for line in lines if line.strip() and not line.lstrip().startswith(("@", "%"))]
    table = pd.DataFrame([[None if v.strip() in MISSING else v.strip() for v in row] for row in csv.reader(kept)])
    table.columns = [f"x{j}" for j in range(table.shape[1])]
    return table.iloc[:, :-1].apply(as_numbers), table.iloc[:, -1]


def as_numbers(column):
    """A column as numbers, if all of it is."""
    numbers = pd.to_numeric(column, errors="coerce")
    return numbers if numbers.notna().equals(column.notna()) else column.astype(object)


def read_table(path):
    """Table and classes of a file; "@share" takes out values."""
    name, _, share = str(path).partition("@")
    if name.endswith(".csv"):
        table = pd.read_csv(name)
        X, y = table.iloc[:, 1:], table.iloc[:, 0]
    else:
        X, y = read_rows(Path(name))
    if share:
        X = X.mask(np.random.default_rng(0).random(X.shape) < float(share))
    return X, y


def prepared(model):
    """A model of scikit-learn's behind indicators and imputed values."""
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    numbers = make_column_selector(dtype_include="number"), make_column_selector(dtype_exclude="number")
    columns = make_column_transformer((SimpleImputer(strategy="median"), numbers[0]), (words, numbers[1]))
    return make_pipeline(columns, model)


def contestants(seed):
    """Ours and the peers', by name."""
    return {
        "tree": DecisionTreeClassifier(random_state=seed),
        "c45": DecisionTreeClassifier.c45(),
        "its tree": prepared(sklearn.tree.DecisionTreeClassifier(random_state=seed)),
        "forest": RandomForestClassifier(100, random_state=seed),
        "its forest": prepared(sklearn.ensemble.RandomForestClassifier(100, random_state=seed)),
    }


def shares_right(X, y, n_seeds):
    """(seeds, folds) percent right of each contestant."""
    scores = {}
    for seed in range(n_seeds):
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        for name, model in contestants(seed).items():
            scores.setdefault(name, []).append(100 * cross_val_score(model, X, y, cv=folds, error_score="raise"))
    return {name: np.array(found) for name, found in scores.items()}


def compare(path, n_seeds):
    """Print a row of the table; give whether ours are not worse by more than a standard error."""
    X, y = read_table(path)
    scores = shares_right(X, y, n_seeds)
    gaps = [scores["tree"] - scores["its tree"], scores["forest"] - scores["its forest"]]
    errors = [gap.std(ddof=1) / np.sqrt(FOLDS) for gap in gaps]
    n_words = len(X.select_dtypes(exclude="number").columns)
    means = " | ".join(f"{found.mean():.1f}" for found in scores.values())
    both = ", ".join(f"{gap.mean():+.1f} ({error:.1f})" for gap, error in zip(gaps, errors, strict=True))
    good = all(gap.mean() >= -error for gap, error in zip(gaps, errors, strict=True))
    name = Path(str(path)).name.replace(".dat", "").replace(".arff", "").replace(".csv", "")
    print(
        f"| {name} | {len(X)} x {X.shape[1]} | {n_words} | {int(X.isna().to_numpy().sum())} | {means} | {both} | "
        f"{'' if good else 'WORSE'}",
        flush=True,
    )
    return good


def accuracy(paths, n_seeds):
    """Print the table for all files; give whether ours are nowhere worse."""
    print("| table | rows x columns | categories | missing | tree | c45 | its tree | forest | its forest | gaps |")
    good = [compare(path, n_seeds) for path in paths]
    return all(good)
