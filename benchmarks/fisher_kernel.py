"""Fisher kernel and a linear SVM beside the generative classifier that they are built on.

python -m benchmarks.fisher_kernel

The training half alone chooses the SVM's C and which information matrix scales the gradients, by cross-validation in
three parts; the hidden Markov models have the same settings in both classifiers.
"""

import inspect
import sys
import warnings

import networkx
import numpy as np
import pandas
import scipy.stats
from matplotlib import pyplot
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from latently.kernel import FisherKernel
from latently.sequence import CategoricalHMM, GaussianHMM

INFORMATION = ("diagonal", "empirical")
COSTS = (0.001, 0.01, 0.1)
LETTERS = {letter: code for code, letter in enumerate("abcdefghijklmnopqrstuvwxyz ")}


def digits():
    """Images as sequences of their eight rows."""
    data, rng = load_digits(), np.random.default_rng(0)
    rows = np.arange(0, len(data.target), 2)
    return [data.images[i] + rng.normal(0, 0.1, (8, 8)) for i in rows], data.target[rows]


def docstrings():
    """First 150 letters of the documentation of functions of four libraries."""
    texts, labels = [], []
    for label, module in enumerate((scipy.stats, networkx, pyplot, pandas)):
        found = [inspect.getdoc(getattr(module, name)) for name in sorted(dir(module)) if not name.startswith("_")]
        some = [" ".join(text.split())[:150].lower() for text in found if text and len(text) > 150][:150]
        texts += some
        labels += [label] * len(some)
    order = np.random.default_rng(0).permutation(len(texts))
    codes = [np.array([[LETTERS.get(letter, 27)] for letter in texts[i]]) for i in order]
    return codes, np.array(labels)[order]


def features(models, information: str, seen, sequences):
    """Gradients of the log-likelihoods of all models, scaled by the information of the training sequences."""
    kernels = [FisherKernel(model, information=information) for model in models]
    return np.hstack([kernel.features(sequences, seen) for kernel in kernels])


def chosen(models, seen, y):
    """The information and the C with the best accuracy in three parts of the training sequences."""

    def tried(information: str):
        search = GridSearchCV(LinearSVC(max_iter=2000), {"C": COSTS}, cv=3)
        return search.fit(features(models, information, seen, seen), y)

    searches = {information: tried(information) for information in INFORMATION}
    best = max(searches, key=lambda information: searches[information].best_score_)
    return best, searches[best].best_estimator_


def accuracies(sequences, y, make) -> tuple[float, float]:
    """Of the most likely class under one hidden Markov model per class, and of an SVM on the gradients of all."""
    train, test = np.arange(0, len(y), 2), np.arange(1, len(y), 2)

    def joined(rows):
        return np.concatenate([sequences[i] for i in rows]), [len(sequences[i]) for i in rows]

    classes = np.unique(y)
    models = [make().fit(*joined(train[y[train] == c])) for c in classes]
    likelihoods = np.array([model.score_sequences(*joined(test)) for model in models])
    generative = (classes[likelihoods.argmax(axis=0)] == y[test]).mean()
    seen, new = [sequences[i] for i in train], [sequences[i] for i in test]
    information, machine = chosen(models, seen, y[train])
    print(f"chosen: information {information!r}, C = {machine.C}", flush=True)
    return float(generative), float(machine.score(features(models, information, seen, new), y[test]))


def main() -> int:
    warnings.simplefilter("ignore")
    contests = {
        "digits by rows": (*digits(), lambda: GaussianHMM(3, random_state=0, n_iter=20)),
        "docstrings": (*docstrings(), lambda: CategoricalHMM(4, n_features=28, random_state=0, n_iter=30)),
    }
    fine = True
    for name, (sequences, y, make) in contests.items():
        generative, fisher = accuracies(sequences, y, make)
        fine &= fisher > generative
        print(f"{name:16s} {len(y)} sequences: generative {generative:.3f}, Fisher kernel and linear SVM {fisher:.3f}")
    return int(not fine)


if __name__ == "__main__":
    sys.exit(main())
