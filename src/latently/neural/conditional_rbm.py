"""Restricted Boltzmann machines of inputs and their labels."""

from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import Interval
from torch import Tensor, nn

from latently.decide import DecideMixin
from latently.learn.estimator.parameters import Count, Flag, checked, stores_parameters
from latently.learn.estimator.table import check_fitted
from latently.neural.base import Trainable
from latently.neural.energy import chain
from latently.neural.energy.labels import Labelling, padded, read_lengths
from latently.neural.energy.rbm import LabelledRBM
from latently.neural.inputs import Array, Scaling, read_table, rows_and_target
from latently.neural.training.task import Task

N_CHAINS = 100


class _ChainRBM(LabelledRBM):
    """Labels in a chain: each place has hidden units of its own, and neighbouring labels a score."""

    def __init__(self, n_inputs: int, n_labels: int, n_hidden: int) -> None:
        super().__init__(n_inputs, n_labels, n_hidden, exclusive=True)
        self.transitions = nn.Parameter(torch.zeros(n_labels, n_labels))

    def scores(self, x: Tensor) -> Tensor:
        """(n, T, K) -F of each label at each place of sequences (n, T, d)."""
        return self.label_logits(x.reshape(-1, x.shape[-1])).reshape(*x.shape[:2], -1)

    def log_likelihood(self, x: Tensor, labels: Tensor, lengths: Tensor) -> Tensor:
        """(n,) log p(y | x) of sequences."""
        scores = self.scores(x)
        paths = chain.path_scores(scores, self.transitions, lengths, labels)
        return paths - chain.log_sums(scores, self.transitions, lengths)


class _LabelFitted:
    labelling_: Labelling


@stores_parameters
class ConditionalRBM(_LabelFitted, DecideMixin, ClassifierMixin, Trainable):
    """A restricted Boltzmann machine of inputs x, labels y and hidden units h that ties labels to inputs.

    E(x, h, y) = -x'W h - y'U h - a'x - b'y - c'h. Summed over the hidden units, p(x, y) = exp(-F(x, y)) / Z with
    F(x, y) = -a'x - b'y - sum_k log(1 + exp(c_k + W_k'x + U_k'y)). p(y | x) needs no Z: it is computed exactly, over
    all labels, all 2^L patterns of L binary labels, or all sequences of labels by dynamic programming. Inputs are
    scaled to the interval from 0 to 1 by their range, and stand for probabilities of units that are 0 or 1.

    Parameters
    ----------
    n_hidden
        Hidden units.
    generative
        Weight of the joint likelihood p(x, y), whose gradient contrastive divergence approximates; the rest is the
        weight of p(y | x), whose gradient is exact. 1 is contrastive divergence alone.
        A small weight only steadies p(y | x) (Larochelle and Bengio, 2008). Chains learn p(y | x) alone.
    n_gibbs
        Steps of Gibbs sampling that make a contrastive example (the k of CD-k).
    persistent
        Whether contrastive examples come from chains that go on from batch to batch, instead of from the rows.
    max_iter, batch_size, learning_rate, early_stopping, validation_fraction, n_iter_no_change, tol
        Training, as in `latently.neural.base.Trainable`; held-out rows judge by their log p(y | x).
    random_state, device, verbose
        Seed, device and progress bar.

    Attributes
    ----------
    classes_ : (K,) the labels; of binary labels, 0 and 1
    weights_ : dict with W (d, k), U (K, k), a (d,), b (K,), c (k,), and transitions (K, K) of chains
    n_iter_, best_iter_, converged_, reason_, loss_curve_, validation_curve_ : how training went

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, size=200)
    >>> X = (rng.uniform(size=(200, 6)) < np.where(y[:, None] == 1, 0.8, 0.2)).astype(float)
    >>> model = ConditionalRBM(4, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    n_hidden: Count = 64
    _: KW_ONLY
    generative: Annotated[float, Interval(Real, 0.0, 1.0, closed="both")] = 0.01
    n_gibbs: Count = 1
    persistent: Flag = False
    learning_rate: float = 1e-2

    @checked
    def fit(self, X: Any, y: Any = None, lengths: Any = None, *, checkpoint: Any = None, every: int = 10) -> Self:
        """Learn from rows and their labels.

        Parameters
        ----------
        X
            (n, d) rows: an array, a frame, a tensor or a dataset.
        y
            (n,) labels, or (n, L) zeros and ones: L binary labels.
        lengths
            Lengths of sequences that the rows are cut into; neighbouring labels then depend on each other.
        checkpoint, every
            A folder that the fit is saved to, every so many epochs; the same call again goes on from there.
        """
        X, y = rows_and_target(X, y)
        rows = read_table(self, X, reset=True)
        self.labelling_, codes = Labelling.of(y, len(rows), type(self).__name__, chained=lengths is not None)
        low, high = rows.min(axis=0), rows.max(axis=0)
        self.scaling_ = Scaling(low, np.where(high > low, high - low, 1.0))
        scaled, groups = self.scaling_.apply(rows), None
        data: tuple[Any, ...] = (scaled, codes.astype(np.float64))
        if lengths is not None:
            data = padded(scaled, codes, read_lengths(lengths, len(rows)))
        elif not self.labelling_.binary:
            groups = codes.argmax(axis=1)
        self._learn(self._task, data, groups=groups, checkpoint=checkpoint, every=every)
        return self

    def _build(self) -> nn.Module:
        n_labels = self.labelling_.width
        if self.labelling_.chained:
            return _ChainRBM(self.n_features_in_, n_labels, self.n_hidden)
        n_chains = N_CHAINS if self.persistent else 0
        exclusive = not self.labelling_.binary
        return LabelledRBM(self.n_features_in_, n_labels, self.n_hidden, exclusive=exclusive, n_chains=n_chains)

    def _task(self, module: nn.Module) -> Task:
        if isinstance(module, _ChainRBM):
            return Task.single(module, lambda batch: -(module.log_likelihood(*batch) / batch[2]).mean())
        assert isinstance(module, LabelledRBM)

        def conditional(batch: tuple[Tensor, ...]) -> Tensor:
            x, y = batch
            return (-module.free_energy(x, y) - x @ module.a - torch.logsumexp(module.label_logits(x), dim=1)).mean()

        def loss(batch: tuple[Tensor, ...]) -> Tensor:
            share = self.generative
            total = (share - 1) * conditional(batch)
            return total + share * self._contrast(module, batch) if share > 0 else total

        return Task.single(module, loss, lambda batch: -conditional(batch))

    def _contrast(self, module: LabelledRBM, batch: tuple[Tensor, ...]) -> Tensor:
        """Free energy of the data less that of contrastive examples: its gradient is that of contrastive divergence."""
        x, y = batch
        fantasies = module.persist(self.n_gibbs) if self.persistent else module.gibbs(x, y, self.n_gibbs)
        return module.free_energy(x, y).mean() - module.free_energy(*fantasies).mean()

    # answers

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        return self.labelling_.classes

    def _scaled(self, X: Any) -> Array:
        check_fitted(self)
        return self.scaling_.apply(read_table(self, X, reset=False))

    def _chains(self, X: Any, lengths: Any) -> list[tuple[Tensor, Tensor]]:
        """Scores (T, K) of the labels of each sequence, and transitions."""
        network, scaled = self._network(), self._scaled(X)
        scores = torch.from_numpy(self._answer(network.label_logits, scaled))
        sizes = read_lengths([len(scaled)] if lengths is None else lengths, len(scaled))
        return [(part, network.transitions) for part in scores.split(sizes.tolist())]

    def predict_proba(self, X: Any, lengths: Any = None) -> Array:
        """(n, K) probabilities of the labels, exactly; of L binary labels, (n, L) probabilities of 1."""
        scaled = self._scaled(X)
        if self.labelling_.chained:
            return torch.cat([chain.marginals(*one) for one in self._chains(X, lengths)]).numpy()
        self._refuse_lengths(lengths)
        logs: Array = self._answer(self._network().log_conditional, scaled)
        if not self.labelling_.binary:
            return np.exp(logs)
        return np.asarray(np.exp(logs) @ self._network().labelings().numpy())

    def predict(self, X: Any, lengths: Any = None) -> NDArray[Any]:
        """(n,) the most probable labels: of chains the most probable sequence, of binary labels the pattern (n, L)."""
        scaled = self._scaled(X)
        if self.labelling_.chained:
            codes = torch.cat([chain.best_path(*one) for one in self._chains(X, lengths)]).numpy()
            return np.asarray(self.classes_[codes])
        self._refuse_lengths(lengths)
        best = self._answer(self._network().log_conditional, scaled).argmax(axis=1)
        if self.labelling_.binary:
            return self._network().labelings().numpy()[best].astype(np.int64)
        return np.asarray(self.classes_[best])

    def _refuse_lengths(self, lengths: Any) -> None:
        if lengths is not None:
            raise ValueError(
                "lengths are for models that were fitted to sequences: leave them out, or fit with lengths"
            )

    def score_samples(self, X: Any, y: Any, lengths: Any = None) -> Array:
        """log p(y | x), exactly: (n,) of each row, or one for each sequence of chains."""
        scaled, codes = self._scaled(X), self.labelling_.codes(y)
        if not self.labelling_.chained:
            self._refuse_lengths(lengths)
            network = self._network()
            energies: Array = (
                -self._answer(network.free_energy, scaled, codes.astype(float)) - scaled @ network.a.numpy()
            )
            logits = self._answer(network.label_logits, scaled)
            return energies - np.logaddexp.reduce(logits, axis=1)
        sizes = read_lengths([len(scaled)] if lengths is None else lengths, len(scaled))
        with self._session():
            data = map(torch.from_numpy, padded(scaled, codes, sizes))
            return np.asarray(self._network().log_likelihood(*data).numpy())

    def free_energy(self, X: Any, y: Any) -> Array:
        """F(x, y) (n,); p(x, y) is exp(-F(x, y)) / Z over units that are 0 or 1."""
        self._refuse_chain()
        energies: Array = self._answer(
            self._network().free_energy, self._scaled(X), self.labelling_.codes(y).astype(float)
        )
        return energies

    def log_partition(
        self, *, n_runs: int = 200, n_temperatures: int = 2000, random_state: Any = None
    ) -> tuple[float, float]:
        """Log Z by annealed importance sampling, and its standard error: log p(x, y) is -F(x, y) - log Z.

        Parameters
        ----------
        n_runs
            Independent runs from the uniform distribution to the model.
        n_temperatures
            Steps of a run.
        random_state
            Seed.
        """
        self._refuse_chain()
        with self._drawing(random_state):
            value, error = self._network().annealed_log_partition(n_runs, n_temperatures)
        return float(value), float(error)

    def sample(self, n_samples: int = 1, *, n_steps: int = 500, random_state: Any = None) -> tuple[Array, NDArray[Any]]:
        """Draw rows (n, d) and their labels by Gibbs sampling, each from a chain of its own of so many steps."""
        self._refuse_chain()
        network = self._network()
        with self._drawing(random_state), torch.no_grad():
            start = torch.bernoulli(torch.full((n_samples, self.n_features_in_), 0.5, dtype=torch.float64))
            x, y = network.gibbs(start, network.uniform_labels(n_samples), n_steps)
        codes = y.numpy()
        labels = codes.astype(np.int64) if self.labelling_.binary else self.classes_[codes.argmax(axis=1)]
        return self.scaling_.back(x.numpy()), labels

    def _refuse_chain(self) -> None:
        check_fitted(self)
        if self.labelling_.chained:
            raise ValueError("chains are models of labels given rows alone: they have no joint distribution")

    def _expected_failed_checks(self) -> dict[str, str]:
        of_label = "score_samples is of labels, given rows"
        return {
            "check_array_api_input": of_label,
            "check_methods_subset_invariance": of_label,
            "check_methods_sample_order_invariance": of_label,
            "law_samples_are_possible": of_label,
        }
