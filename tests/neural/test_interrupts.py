"""Fits that real signals end, in processes of their own: Ctrl-C, and a kill that nothing can catch."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import latently
from latently.neural import Autoencoder

X = np.random.default_rng(0).normal(size=(80, 3))
FIT = """
import os, sys, warnings
import numpy as np
import torch
import latently
from latently.neural import Autoencoder

warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(80, 3))
folder, signal_number = sys.argv[1], int(sys.argv[2])
seen, real = [], torch.randperm


def randperm(n):  # the order of an epoch
    seen.append(n)
    if signal_number and len(seen) == 8:
        os.kill(os.getpid(), signal_number)
    return real(n)


torch.randperm = randperm
model = Autoencoder(hidden=(8,), n_iter_no_change=2, random_state=0).fit(X, checkpoint=folder, every=3)
latently.save(model, folder + ".model")
print(model.reason_, len(seen))
"""


def fit(folder, number):
    command = [sys.executable, "-c", FIT, str(folder), str(int(number))]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_a_fit_that_a_signal_ended_is_resumed_to_the_same_result(tmp_path, number):
    folder = tmp_path / "fit"
    whole = Autoencoder(hidden=(8,), n_iter_no_change=2, random_state=0).fit(X)
    first = fit(folder, number)
    if number == signal.SIGKILL:
        assert first.returncode == -signal.SIGKILL
        assert not Path(f"{folder}.model").exists()
    else:
        assert first.returncode == 0, first.stderr
        assert first.stdout.split()[0] == "interrupted"
        assert np.isfinite(latently.load(f"{folder}.model").transform(X)).all()
    second = fit(folder, 0)
    assert second.returncode == 0, second.stderr
    reason, epochs = second.stdout.split()
    resumed = latently.load(f"{folder}.model")
    assert (reason, resumed.loss_curve_) == (whole.reason_, whole.loss_curve_)
    assert all(np.array_equal(resumed.weights_[name], array) for name, array in whole.weights_.items())
    assert 0 < int(epochs) <= whole.n_iter_ - 5  # epochs before the checkpoint were not repeated
