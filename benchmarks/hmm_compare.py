"""Hidden Markov models beside hmmlearn and pomegranate: same start, 10 iterations, equal likelihood.

Ratios are of the best of several interleaved runs.

Run with ``python benchmarks/hmm_compare.py [repeats]``; pomegranate's line appears if it is installed.
"""

import json
import sys
import time
import warnings

import numpy as np
from hmmlearn import hmm as peer

from latently import sequence as ours

ITERATIONS = 10


def gaussian_case(n, lengths, K=5, d=3, seed=0):
    rng = np.random.RandomState(seed)
    A = rng.dirichlet(np.full(K, 2.0), size=K)
    means = 2 * rng.standard_normal((K, d))
    X = means[rng.randint(K, size=n)] + rng.standard_normal((n, d))

    def make(module):
        kwargs = {"implementation": "scaling"} if module is peer else {}
        model = module.GaussianHMM(K, n_iter=ITERATIONS, tol=-np.inf, init_params="", **kwargs)
        model.startprob_, model.transmat_ = np.full(K, 1 / K), A
        model.means_, model.covars_ = means + 0.1, np.ones((K, d))
        return model

    return make, X, lengths


def categorical_case(n, K, C=30, seed=0):
    rng = np.random.RandomState(seed)
    A, E = rng.dirichlet(np.ones(K), size=K), rng.dirichlet(np.ones(C), size=K)
    X = rng.randint(C, size=(n, 1))

    def make(module):
        kwargs = {"implementation": "scaling"} if module is peer else {}
        model = module.CategoricalHMM(K, n_iter=ITERATIONS, tol=-np.inf, init_params="", n_features=C, **kwargs)
        model.startprob_, model.transmat_, model.emissionprob_ = np.full(K, 1 / K), A, E
        return model

    return make, X, None


def timed(f):
    start = time.perf_counter()
    result = f()
    return time.perf_counter() - start, result


def compare_fit(make, X, lengths, repeats):
    """Best times of both, interleaved, and their log-likelihoods."""
    make(ours).fit(X, lengths)  # compile
    times = {ours: [], peer: []}
    scores = {}
    for _ in range(repeats):
        for module in (ours, peer):
            seconds, model = timed(lambda module=module: make(module).fit(X, lengths))
            times[module].append(seconds)
            scores[module] = model.score(X, lengths)
    return min(times[ours]), min(times[peer]), scores[ours], scores[peer]


def compare_decode(make, X, lengths, repeats):
    mine, theirs = make(ours), make(peer)
    mine.decode(X, lengths)
    a, b = [], []
    for _ in range(repeats):
        seconds, (mine_log, _) = timed(lambda: mine.decode(X, lengths))
        a.append(seconds)
        seconds, (their_log, _) = timed(lambda: theirs.decode(X, lengths))
        b.append(seconds)
    return min(a), min(b), mine_log, their_log


def pomegranate_seconds(make, X, lengths, repeats):
    """Time of pomegranate's dense model on sequences of equal length, or None if it is not there."""
    try:
        import torch
        from pomegranate.distributions import Normal
        from pomegranate.hmm import DenseHMM
    except ImportError:
        return None
    start = make(ours)
    data = torch.tensor(X.reshape(len(lengths), -1, X.shape[1]), dtype=torch.float32)
    seconds = []
    for _ in range(repeats):
        means = start.means_.astype(np.float32)
        states = [Normal(m, np.ones_like(m), covariance_type="diag") for m in means]
        edges, starts = (p.astype(np.float32) for p in (start.transmat_, start.startprob_))
        model = DenseHMM(states, edges=edges, starts=starts, max_iter=ITERATIONS, tol=0.0)
        seconds.append(timed(lambda model=model: model.fit(data))[0])
    return min(seconds)


CASES = {
    "gaussian diag, one sequence of 100k": (compare_fit, gaussian_case(100_000, None), 10),
    "gaussian diag, 1000 sequences of 100": (compare_fit, gaussian_case(100_000, [100] * 1000), 15),
    "categorical, 20 states, 100k": (compare_fit, categorical_case(100_000, 20), 4),
    "categorical, 100 states, 20k": (compare_fit, categorical_case(20_000, 100), 6),
    "viterbi, 1000 sequences of 100": (compare_decode, gaussian_case(100_000, [100] * 1000), 10),
    "small: 2 states, 50 sequences of 100": (compare_fit, gaussian_case(5_000, [100] * 50, K=2), 5),
}


def main(repeats: int) -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name, (run, case, wanted) in CASES.items():
        mine, theirs, my_score, their_score = run(*case, repeats)
        equal = abs(my_score - their_score) <= 1e-6 * abs(their_score)
        rows.append(
            {"case": name, "ours": mine, "hmmlearn": theirs, "ratio": theirs / mine, "wanted": wanted, "equal": equal}
        )
        print(
            f"{name:42s} {mine * 1e3:9.1f} ms {theirs * 1e3:9.1f} ms  "
            f"{theirs / mine:6.1f}x (wanted {wanted}x) equal: {equal}"
        )
        if "1000 sequences" in name and run is compare_fit:
            seconds = pomegranate_seconds(*case, repeats)
            if seconds is not None:
                print(f"{'  pomegranate':42s} {seconds * 1e3:22.1f} ms  {seconds / mine:6.1f}x (wanted 3x)")
    print(json.dumps(rows))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
