"""A fit that takes long enough to be killed, as a program: python long_fit.py FOLDER OUT THREADS N_INIT.

It says when each iteration is done, then sleeps a little, and stores what it learnt.
"""

import os
import sys
import time
import warnings

import numpy as np

from latently.cluster import GaussianMixture
from latently.learn import threads
from latently.learn.checkpoint.checkpoint import checkpointing


def rows():
    return np.random.default_rng(0).normal(size=(30_000, 4)) + np.arange(4)


def model(n_init):
    return GaussianMixture(4, tol=0.0, max_iter=60, n_init=n_init, random_state=0)


def at_work():
    """How many threads do something else than wait for something to do."""
    return sum(frame.f_code.co_name != "_worker" for frame in sys._current_frames().values())


def main(folder, out, n_threads, n_init):
    def tell(step):
        os.write(1, f"iteration {step.iteration}\n".encode())  # whole, whoever else writes
        time.sleep(0.02)

    warnings.simplefilter("ignore")
    with threads(int(n_threads)), checkpointing(folder or None, 5):
        fitted = model(int(n_init)).fit(rows(), on_iteration=tell)
    print(f"reason {fitted.reason_} converged {fitted.converged_} at work {at_work()}", flush=True)
    labels = fitted.predict(rows()[:100])
    np.savez(out, means=fitted.means_, covariances=fitted.covariances_, trace=fitted.lower_bounds_, labels=labels)


if __name__ == "__main__":
    main(*sys.argv[1:])
