"""Faults for real: processes that are killed or interrupted in mid-fit, and disks that are full."""

import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import long_fit
import numpy as np
import pytest
from test_checkpoint import coins, same_bits

from latently.learn import threads
from latently.learn.checkpoint.checkpoint import CheckpointWarning, checkpointing

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits as POSIX has them")
PROGRAM = Path(__file__).with_name("long_fit.py")


@pytest.fixture
def started():
    """Start the program; whatever is left of it in the end is killed."""
    running = []

    def start(folder, out, n_threads=1, n_init=1):
        command = [str(part) for part in (sys.executable, PROGRAM, folder, out, n_threads, n_init)]
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.communicate()


def after(process, lines):
    """Wait until the program has told so many iterations."""
    for _ in range(lines):
        assert process.stdout.readline().startswith("iteration"), process.stderr.read()


def ended(process):
    out, problem = process.communicate(timeout=60)
    assert process.returncode == 0, problem
    return out.splitlines()


def whole_fit():
    with threads(1):
        return long_fit.model(1).fit(long_fit.rows())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_after_ctrl_c_and_kill_minus_nine_the_same_call_ends_with_the_same_bits(tmp_path, started):
    folder, out = tmp_path / "checkpoint", tmp_path / "learnt.npz"
    process = started(folder, out)
    after(process, 8)
    process.send_signal(signal.SIGINT)
    assert ended(process)[-1].startswith("reason interrupted")
    out.unlink()
    process = started(folder, out)
    after(process, 15)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not out.exists()
    told = ended(started(folder, out))
    assert told[0] in ("iteration 20", "iteration 25")
    found, whole = np.load(out), whole_fit()
    assert np.array_equal(found["means"], whole.means_)
    assert np.array_equal(found["covariances"], whole.covariances_)
    assert np.array_equal(found["trace"], whole.lower_bounds_)


@pytest.mark.parametrize("n_init", [1, 4])
def test_ctrl_c_leaves_a_usable_model_and_no_thread_at_work(tmp_path, started, n_init):
    out = tmp_path / "learnt.npz"
    process = started("", out, 2, n_init)
    after(process, 8)
    process.send_signal(signal.SIGINT)
    told = ended(process)
    assert told[-1] == "reason interrupted converged False at work 1"
    found = np.load(out)
    assert 1 <= len(found["trace"]) < 40
    assert np.isfinite(found["means"]).all()
    assert set(found["labels"]) <= {0, 1, 2, 3}


def test_ctrl_c_before_the_first_iteration_is_an_interrupt():
    def interrupted(step):
        raise KeyboardInterrupt

    assert coins(hook=interrupted).n_iter == 1
    with pytest.raises(KeyboardInterrupt):
        coins(X=Interrupting())


class Interrupting:
    """Rows whose reading is interrupted."""

    def chunked(self, weights=None, chunk_rows=None):
        raise KeyboardInterrupt


def test_a_file_that_may_not_grow_is_told_and_the_fit_goes_on(tmp_path):
    """The limit is on this process's files, so writing fails for real, half-way."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with checkpointing(tmp_path, 5), pytest.warns(CheckpointWarning, match="could not be written") as told:
            fit = coins(hook=lambda step: _limit(before, step.iteration))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    same_bits(fit.params, coins().params)
    assert f"{tmp_path / 'run-0.safetensors'} of iteration 20" in str(told[0].message)
    assert "the checkpoint of iteration 15 is whole" in str(told[0].message)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run-0.before", "run-0.safetensors"]
    with checkpointing(tmp_path, 5):
        same_bits(coins().params, fit.params)


def _limit(before, iteration):
    if iteration == 18:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, before[1]))


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("this user may not mount a file system")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_is_told_and_nothing_is_lost(small_disk):
    def fill(step):
        if step.iteration == 18:
            with open(small_disk / "filling", "wb", buffering=0) as file, suppress(OSError):
                while True:
                    file.write(b"0" * 4096)

    with checkpointing(small_disk / "fit", 5), pytest.warns(CheckpointWarning, match="No space left on device"):
        fit = coins(hook=fill)
    same_bits(fit.params, coins().params)
    (small_disk / "filling").unlink()
    seen = []
    with checkpointing(small_disk / "fit", 5):
        again = coins(hook=lambda step: seen.append(step.iteration))
    assert seen[0] == 15
    same_bits(again.params, fit.params)
