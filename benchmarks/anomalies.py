"""Areas under the ROC curve on tables with known outliers, beside pyod's detectors and an isolation forest.

python -m benchmarks.anomalies FOLDER [--quick]

FOLDER has MATLAB files with X (rows, columns) and y (1 for outliers), as the ODDS collection has them. All
detectors have their default settings, see columns in standard deviations, and are fitted to all rows, without labels;
those whose time grows with the cube of the rows are fitted to at most 2000. `SemiSupervisedSVDD` then gets the labels
of five outliers and five other rows, drawn several times, and is judged by the rows without a label.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from pyod.models.ecod import ECOD
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from pyod.models.lof import LOF
from pyod.models.ocsvm import OCSVM
from scipy.io import loadmat
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from benchmarks.every_detector import DETECTORS
from latently.detect import SemiSupervisedSVDD

OURS = {name: make for name, make in DETECTORS.items() if make is not SemiSupervisedSVDD}
PEERS = {"ECOD": ECOD, "IForest": lambda: IForest(random_state=0), "KNN": KNN, "LOF": LOF, "OCSVM": OCSVM}
CUBIC = ("KernelPCADetector", "CombinedDetector")
MOST = 2000


def read(path: Path):
    """Rows in standard deviations, and which are outliers."""
    data = loadmat(path)
    return StandardScaler().fit_transform(np.asarray(data["X"], dtype=float)), data["y"].ravel().astype(int)


def auc(name: str, X, y) -> float:
    """Of a detector that sees no labels."""
    if name in PEERS:
        return roc_auc_score(y, PEERS[name]().fit(X).decision_scores_)
    some = np.random.default_rng(0).permutation(len(X))[:MOST] if name in CUBIC else np.arange(len(X))
    return roc_auc_score(y, -OURS[name]().fit(X[some]).score_samples(X))


def labelled(X, y, seed: int) -> tuple[float, float]:
    """Without and with the labels of five outliers and five others, of the rows that have none."""
    rng, labels = np.random.default_rng(seed), np.zeros(len(y))
    labels[rng.permutation(np.flatnonzero(y == 1))[:5]] = -1
    labels[rng.permutation(np.flatnonzero(y == 0))[:5]] = 1
    rest = labels == 0
    models = SemiSupervisedSVDD().fit(X), SemiSupervisedSVDD().fit(X, labels)
    without, with_labels = (roc_auc_score(y[rest], -model.score_samples(X[rest])) for model in models)
    return without, with_labels


def main(folder: str, quick: bool) -> int:
    warnings.simplefilter("ignore")
    worse = 0
    for path in sorted(Path(folder).glob("*.mat")):
        X, y = read(path)
        if quick and len(X) > MOST:
            continue
        found = {name: auc(name, X, y) for name in (*OURS, *PEERS)}
        pairs = np.array([labelled(X, y, seed) for seed in range(2 if len(X) > MOST else 5)])
        worse += pairs[:, 1].mean() <= pairs[:, 0].mean()
        print(f"{path.stem}: {len(X)} rows, {X.shape[1]} columns, {y.mean():.1%} outliers", flush=True)
        print("   " + ", ".join(f"{name} {value:.3f}" for name, value in found.items()), flush=True)
        print(
            f"   10 labels: {pairs[:, 0].mean():.3f} -> {pairs[:, 1].mean():.3f} +- {pairs[:, 1].std():.3f}", flush=True
        )
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--quick" in sys.argv))
