"""The training loop of all neural models.

An epoch takes every row once, in random order, in batches; each player takes a step of Adam with clipped gradients.
The held-out loss (or, without held-out rows, the training loss) judges it. When that has not fallen for some epochs,
the best weights come back and the learning rate is cut; after the last cut the fit has converged. The best are kept,
those of the start included. Where weights are averaged over steps, the average is what is judged and kept.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from latently.learn.checkpoint.checkpoint import Slot, open_slot
from latently.learn.engine.interrupt import interrupt, is_interrupted
from latently.learn.engine.progress import Draw, drawn
from latently.neural.training.average import Average
from latently.neural.training.state import State, load_moments, load_weights, moments_of, weights_of
from latently.neural.training.task import Rows, Task

CUTS = 2
"""How often the learning rate is cut before a plateau means convergence."""
CUT = 0.2
JUDGED_TOGETHER = 1024


@dataclass(frozen=True)
class Settings:
    """How a task is trained; `clip` is the largest norm of a gradient, `averaging` the decay of averaged weights."""

    max_iter: int = 200
    batch_size: int = 32
    learning_rate: float = 3e-3
    n_iter_no_change: int = 10
    tol: float = 1e-4
    clip: float = 5.0
    averaging: float = 0.0
    fingerprint: str = ""


@dataclass(frozen=True)
class Trained:
    """How training went: mean loss of each epoch, held-out losses, and why it ended.

    The reason is "converged", "max_iter", "interrupted" or "diverged"; `best_iter` is the epoch of the kept weights.
    """

    losses: list[float]
    judged: list[float]
    reason: str
    best_iter: int


class Diverged(ArithmeticError):
    """The loss is not a number any more."""


def train(task: Task, rows: Rows, fitted: Tensor, held_out: Tensor, settings: Settings, verbose: Any = 0) -> Trained:
    """Train a task in place; afterwards its network has the best weights that were seen.

    Parameters
    ----------
    task
        The network and what is to be lowered.
    rows
        All data.
    fitted, held_out
        Which rows are learnt from, and which judge; the training loss judges if none are held out.
    settings
        How to train.
    verbose
        Whether to draw a progress bar.

    Examples
    --------
    >>> from latently.neural.training.session import session
    >>> from latently.neural.training.task import TensorRows
    >>> x = torch.linspace(-1, 1, 64)[:, None]
    >>> with session(seed=0):
    ...     line = torch.nn.Linear(1, 1)
    ...     task = Task.single(line, lambda batch: (line(batch[0]) - 3 * batch[0]).square().mean())
    ...     found = train(task, TensorRows((x,)), torch.arange(64), torch.arange(0), Settings(learning_rate=0.05))
    >>> found.reason, round(line.weight.item(), 2)
    ('converged', 3.0)
    """
    with drawn(type(task.module).__name__, settings.max_iter, verbose) as draw:
        return _Loop(task, rows, fitted, held_out, settings, draw).run()


class _Loop:
    """A fit under way."""

    def __init__(
        self, task: Task, rows: Rows, fitted: Tensor, held_out: Tensor, settings: Settings, draw: Draw | None
    ) -> None:
        self.task, self.rows, self.fitted, self.held_out = task, rows, fitted, held_out
        self.settings, self.draw = settings, draw
        self.optimizers = [
            torch.optim.Adam(player.parameters, settings.learning_rate, fused=True) for player in task.players
        ]
        self.average = Average(task.module, settings.averaging)
        self.cuts, self.stale = 0, 0
        self.mark, self.best = math.inf, math.inf
        self.best_weights = weights_of(task.module)
        self.losses: list[float] = []
        self.judged: list[float] = []
        self.slot: Slot | None = open_slot(settings, self._state(), None, rows=len(fitted), held_out=len(held_out))
        self.before: State | None = None

    def run(self) -> Trained:
        """Epochs until something ends them; Ctrl-C does so after the first one, and before it is an error."""
        if self.slot is not None and (saved := self.slot.resume()) is not None:
            self._load(saved.params, saved.trace[:-1])
        elif len(self.held_out) and math.isfinite(start := self._held_out_loss()):
            self.best = start
        reason = None if self.settings.max_iter else "max_iter"
        try:
            while reason is None:
                if is_interrupted():
                    raise KeyboardInterrupt
                reason = self._epoch()
        except KeyboardInterrupt:
            interrupt()
            reason = "interrupted"
            if not self.judged:
                raise
            self._save(reason)
        except Diverged:
            reason = "diverged"
        load_weights(self.task.module, self.best_weights)
        best = self.judged.index(self.best) + 1 if self.best in self.judged else 0
        return Trained(self.losses, self.judged, reason, best)

    def _epoch(self) -> str | None:
        """One epoch, and why it is the last; None if it is not."""
        before = self._state() if self.slot is not None else None
        loss = self._steps()
        judged = self._held_out_loss() if len(self.held_out) else loss
        if not math.isfinite(judged):
            raise Diverged
        if self.slot is not None:
            self.slot.check(judged)
        self.losses.append(loss)
        self.judged.append(judged)
        self.before = before
        reason = self._judge(judged)
        self._save(reason)
        if self.draw is not None:
            self.draw(len(self.judged), f"loss {judged:.4g}")
        return reason

    def _held_out_loss(self) -> float:
        with self.average.in_use():
            return self.task.judged(self.rows, self.held_out, max(self.settings.batch_size, JUDGED_TOGETHER))

    def _steps(self) -> float:
        """Mean loss of the last player over all batches."""
        total, n = 0.0, len(self.fitted)
        order = self.fitted[torch.randperm(n)]
        for part in order.split(self.settings.batch_size):
            batch = self.rows.batch(part)
            for player, optimizer in zip(self.task.players, self.optimizers, strict=True):
                for _ in range(player.steps):
                    optimizer.zero_grad()
                    loss = player.loss(batch)
                    if not math.isfinite(value := float(loss.detach())):
                        raise Diverged
                    loss.backward()
                    norm = torch.nn.utils.clip_grad_norm_(player.parameters, self.settings.clip)
                    if not math.isfinite(float(norm)):
                        raise Diverged
                    optimizer.step()
            self.average.step()
            total += value * len(part)
        return total / n

    def _judge(self, judged: float) -> str | None:
        """Keep the best weights; cut the learning rate on a plateau; say whether that was the last epoch."""
        if judged < self.best:
            with self.average.in_use():
                self.best, self.best_weights = judged, weights_of(self.task.module)
        if judged < self.mark - self.settings.tol:
            self.mark, self.stale = judged, 0
        else:
            self.stale += 1
        if self.stale >= self.settings.n_iter_no_change:
            if self.cuts == CUTS:
                return "converged"
            self.cuts, self.stale = self.cuts + 1, 0
            load_weights(self.task.module, self.best_weights)
            self.average.restart()
            self._set_rates()
        return "max_iter" if len(self.judged) >= self.settings.max_iter else None

    def _set_rates(self) -> None:
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.settings.learning_rate * CUT**self.cuts

    # checkpoints

    def _state(self) -> State:
        weights, stream = weights_of(self.task.module), torch.get_rng_state().numpy().copy()
        schedule = (self.cuts, self.stale, self.mark, self.best, self.best_weights)
        average = [value.cpu().numpy().copy() for value in self.average.values]
        return State(
            weights, moments_of(self.optimizers), stream, *schedule, list(self.losses), average, self.average.n_steps
        )

    def _load(self, state: State, judged: tuple[float, ...]) -> None:
        load_weights(self.task.module, state.weights)
        load_moments(self.optimizers, state.moments)
        torch.set_rng_state(torch.from_numpy(state.stream.copy()))
        self.cuts, self.stale, self.mark, self.best = state.cuts, state.stale, state.mark, state.best
        self.best_weights, self.losses, self.judged = state.best_weights, list(state.losses), list(judged)
        self.average.n_steps = state.n_averaged
        for value, saved in zip(self.average.values, state.average, strict=True):
            value.copy_(torch.from_numpy(saved.copy()))
        self._set_rates()

    def _save(self, reason: str | None) -> None:
        if self.slot is not None and self.before is not None:
            self.slot.take(self.before, tuple(self.judged), reason)
