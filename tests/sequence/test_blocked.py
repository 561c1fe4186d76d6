"""A long sequence in blocks: wherever the two walks meet, whoever does what, the result is the same."""

import numpy as np
import pytest

from latently.data.sources.chunks import Chunk
from latently.distributions.components.gaussian.block import GaussianBlock
from latently.distributions.components.gaussian.params import GaussianParams
from latently.learn.engine.reduce import threads
from latently.sequence import GaussianHMM
from latently.sequence.emissions.base import Emission
from latently.sequence.inference import blocked, forward_backward
from latently.sequence.inference.block_scheduler import BACKWARD, FORWARD, BlockScheduler, Todo, work_through
from latently.sequence.inference.blocked import BufferPool
from latently.sequence.inference.chain import Chain
from latently.sequence.inference.diagonal import DiagonalPlan, DiagonalSequence


class Record:
    """Checks that what is done with each block may be done then, and was not done before."""

    def __init__(self, n):
        self.n, self.seen = n, [set() for _ in range(n)]

    def step(self, block, todo):
        seen = self.seen[block]
        wanted = {name for name, there in todo._asdict().items() if there}
        assert not seen & wanted
        seen |= wanted
        assert "fill" in seen
        if todo.forward and block > 0:
            assert "forward" in self.seen[block - 1]
        if todo.backward and block + 1 < self.n:
            assert "backward" in self.seen[block + 1]
        if todo.finish:
            assert {"forward", "backward"} <= seen

    def is_complete(self):
        return all(seen == set(Todo._fields) for seen in self.seen)


@pytest.mark.parametrize("n", [1, 2, 3, 10])
@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("seed", range(4))
def test_an_agenda_does_everything_once_and_in_order(n, workers, seed):
    rng, scheduler, record = np.random.default_rng(seed), BlockScheduler(n), Record(n)
    under_way = []
    while not record.is_complete():
        way = int(rng.choice([FORWARD, BACKWARD]))
        found = None
        if len(under_way) < workers and scheduler._unfinished:
            found = scheduler.look(way)
        if found is not None:
            under_way.append(found)
        if under_way and (found is None or rng.random() < 0.5):
            block, todo = under_way.pop(rng.integers(len(under_way)))
            record.step(block, todo)
            scheduler.done(block, todo)
    assert scheduler.take(FORWARD) is None


def test_who_waits_takes_the_posteriors_of_who_walks():
    scheduler = BlockScheduler(2)
    for block, todo in [scheduler.take(FORWARD), scheduler.take(FORWARD)]:
        scheduler.done(block, todo)
        assert (block, todo) in [(0, Todo(fill=True, forward=True)), (1, Todo(fill=True, backward=True))]
    scheduler._idle = 1
    block, todo = scheduler.take(FORWARD)
    assert (block, todo) == (1, Todo(forward=True))
    scheduler.done(block, todo)
    scheduler._idle = 0
    assert scheduler.take(BACKWARD) == (0, Todo(backward=True, finish=True))
    assert scheduler.take(FORWARD) == (1, Todo(finish=True))


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_a_failure_ends_the_work_of_all(n_threads):
    def step(block, todo):
        if block == 5:
            raise ValueError("block 5")

    with threads(n_threads), pytest.raises(ValueError, match="block 5"):
        work_through(9, step)


def case(K, d, n, seed=0):
    rng = np.random.default_rng(seed)
    chain = Chain(rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), size=K))
    theta = GaussianParams.in_own_units("diag", rng.normal(size=(K, d)), rng.uniform(0.5, 2.0, size=(K, d)))
    return chain, theta, rng.normal(size=(n, d))


def general_job(chain, theta, X, weights=None):
    columns = tuple(range(X.shape[1]))
    emission = Emission(GaussianBlock(columns, tuple(map(str, columns)), theta.kind), np.arange(len(theta.means)))

    def fill(i, j, b, top):
        L = emission.log_density(theta, X[i:j])
        top[:] = L.max(axis=1)
        b[:] = np.exp(L - top[:, None])

    each = lambda i, j, g: emission.expect(theta, X[i:j], g)  # noqa: E731
    return blocked.Job(chain, fill, lambda i, j: emission.log_density(theta, X[i:j]), each, weights)


@pytest.mark.parametrize(("K", "d"), [(1, 1), (2, 3), (5, 3), (8, 2), (12, 1)])
@pytest.mark.parametrize("n", [1, 63, 64, 128, 129, 1000])
def test_diagonal_gaussians_in_one_go_are_those_in_general(K, d, n):
    chain, theta, X = case(K, d, n)
    wanted = forward_backward.forward_backward(general_job(chain, theta, X, np.full(n, 1.5)), np.array([n]))
    found = blocked.diagonal_forward_backward(DiagonalPlan(chain, theta, X), 0, n, 128, BufferPool(), 1.5)
    assert found.log_likelihood[0] == pytest.approx(wanted.log_likelihood[0], rel=1e-12)
    for name in ("first", "transitions", "visits"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-9, atol=1e-12)
    (mine,), (other,) = found.results, wanted.results
    for name in ("weight", "first", "second"):
        np.testing.assert_allclose(getattr(mine, name), getattr(other, name), rtol=1e-9, atol=1e-10)


def test_a_sequence_may_begin_anywhere():
    chain, theta, X = case(3, 2, 700)
    inside = blocked.diagonal_forward_backward(DiagonalPlan(chain, theta, X), 150, 400, 128, BufferPool(), 1.0)
    alone = blocked.diagonal_forward_backward(DiagonalPlan(chain, theta, X[150:550]), 0, 400, 128, BufferPool(), 1.0)
    np.testing.assert_array_equal(inside.transitions, alone.transitions)
    assert inside.log_likelihood == alone.log_likelihood


def meeting_at(meeting, n_blocks, fused):
    """Steps of two walks that meet at a block; posteriors are taken on the way or afterwards."""
    steps = [(i, Todo(fill=True, forward=True)) for i in range(meeting)]
    steps += [(i, Todo(fill=True, backward=True)) for i in range(n_blocks - 1, meeting - 1, -1)]
    steps += [(i, Todo(forward=True, finish=fused)) for i in range(meeting, n_blocks)]
    steps += [(i, Todo(backward=True, finish=fused)) for i in range(meeting - 1, -1, -1)]
    return steps if fused else steps + [(i, Todo(finish=True)) for i in range(n_blocks)]


def assert_same_bits(one, other):
    for name in ("log_likelihood", "first", "transitions", "visits"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for mine, its in zip(one.results, other.results, strict=True):
        np.testing.assert_array_equal(mine.second, its.second)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("general", [True, False])
def test_the_walks_may_meet_anywhere(general, fused):
    chain, theta, X = case(5, 3, 600)
    size, found = 128, []
    for meeting in range(6):
        if general:
            blocks = blocked.BlockedSequence(general_job(chain, theta, X), 0, 600, size, BufferPool().borrow(600, 5))
        else:
            memory = BufferPool().borrow(640, 6)[:3]
            blocks = DiagonalSequence(DiagonalPlan(chain, theta, X), 0, 600, size, memory)
        for block, todo in meeting_at(meeting, 5, fused):
            blocks.step(block, todo)
        found.append(blocks.expected_counts() if general else blocks.expected_counts(1.0))
    for other in found[1:]:
        assert_same_bits(found[0], other)


@pytest.mark.parametrize("n_threads", [2, 3, 7])
def test_any_number_of_threads_gives_the_same_bits(n_threads):
    chain, theta, X = case(4, 2, 5000)
    plan = DiagonalPlan(chain, theta, X)

    def expected_counts(n):
        with threads(n):
            return blocked.diagonal_forward_backward(plan, 0, 5000, 128, BufferPool(), 1.0)

    one = expected_counts(1)
    for _ in range(5):
        assert_same_bits(one, expected_counts(n_threads))


def test_an_underflow_is_told_and_done_in_logs():
    chain, theta, X = case(3, 2, 300)
    chain = Chain(np.array([1.0, 0.0, 0.0]), chain.transition)
    means = theta.means.copy()
    means[0] = 1e3
    theta = GaussianParams.in_own_units("diag", means, theta.covariances)
    plan = DiagonalPlan(chain, theta, X)
    assert blocked.diagonal_forward_backward(plan, 0, 300, 128, BufferPool(), 1.0) is None
    model = GaussianHMM(3)
    model.startprob_, model.transmat_, model.means_, model.covars_ = (
        chain.start,
        chain.transition,
        means,
        theta.covariances,
    )
    long = np.tile(X, (70, 1))
    assert np.isfinite(model._model(long).expect(model._params(), Chunk(long, lengths=np.array([21_000]))).bound)


def test_one_outlier_after_another_stays_in_linear_space():
    chain, theta, X = case(3, 1, 400)
    X[::2] += 40.0
    wanted = forward_backward.forward_backward(general_job(chain, theta, X), np.array([400]))
    found = blocked.diagonal_forward_backward(DiagonalPlan(chain, theta, X), 0, 400, 128, BufferPool(), 1.0)
    assert found.log_likelihood[0] == pytest.approx(wanted.log_likelihood[0], rel=1e-12)
    np.testing.assert_allclose(found.transitions, wanted.transitions, rtol=1e-9)


def test_what_the_short_way_cannot_do_goes_the_long_way():
    chain, theta, X = case(3, 2, 50)
    emission = GaussianHMM(3)._emission(X)
    assert emission.diagonal(theta, chain, X) is not None
    absent = X.copy()
    absent[3, 0] = np.nan
    full = GaussianParams.in_own_units("full", theta.means, np.array([np.eye(2)] * 3))
    absorbing = Chain(chain.start, np.eye(3))
    assert GaussianHMM(3)._emission(absent).diagonal(theta, chain, absent) is None
    assert emission.diagonal(full, chain, X) is None
    assert emission.diagonal(theta, absorbing, X) is None
    many = case(13, 2, 50)
    assert emission.diagonal(many[1], many[0], X) is None


@pytest.mark.parametrize("labelled", [True, False])
def test_weights_and_labels_of_a_long_sequence(labelled):
    rng = np.random.RandomState(0)
    X = 3.0 * rng.randint(2, size=(18_000, 1)) + rng.standard_normal((18_000, 2))
    labels = np.where(np.arange(18_000) % 50 == 0, (X[:, 0] > 1.5).astype(int), -1) if labelled else None

    def fit(lengths, X, labels, **more):
        model = GaussianHMM(2, n_iter=3, tol=0, init_params="", covars_prior=0)
        model.startprob_, model.transmat_ = np.full(2, 0.5), np.array([[0.6, 0.4], [0.3, 0.7]])
        model.means_, model.covars_ = np.array([[0.5, 0.0], [2.0, 0.1]]), np.ones((2, 2))
        return model.fit(X, lengths, labels=labels, **more)

    weighted = fit([18_000], X, labels, sample_weight=[2.0])
    twice = fit([18_000] * 2, np.r_[X, X], None if labels is None else np.r_[labels, labels])
    np.testing.assert_allclose(weighted.transmat_, twice.transmat_, rtol=1e-6)
    np.testing.assert_allclose(weighted.means_, twice.means_, rtol=1e-6)
