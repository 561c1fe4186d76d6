"""The restricted Boltzmann machine of inputs, labels and hidden units.

E(x, h, y) = -x'W h - y'U h - a'x - b'y - c'h, all units 0 or 1. Summed over h, p(x, y) = exp(-F(x, y)) / Z with the
free energy F(x, y) = -a'x - b'y - sum_k softplus(c_k + W_k'x + U_k'y).
"""

import itertools

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot, softplus


class LabelledRBM(nn.Module):
    """A restricted Boltzmann machine; labels are classes (one of L) or L units that are 0 or 1 by themselves."""

    chain_x: Tensor
    chain_y: Tensor

    def __init__(self, n_inputs: int, n_labels: int, n_hidden: int, *, exclusive: bool, n_chains: int = 0) -> None:
        super().__init__()
        self.exclusive = exclusive
        self.W = nn.Parameter(torch.randn(n_inputs, n_hidden) / n_inputs**0.5)
        self.U = nn.Parameter(0.1 * torch.randn(n_labels, n_hidden))
        self.a = nn.Parameter(torch.zeros(n_inputs))
        self.b = nn.Parameter(torch.zeros(n_labels))
        self.c = nn.Parameter(torch.zeros(n_hidden))
        if n_chains:
            self.register_buffer("chain_x", torch.bernoulli(torch.full((n_chains, n_inputs), 0.5)))
            self.register_buffer("chain_y", self.uniform_labels(n_chains))

    def uniform_labels(self, n: int) -> Tensor:
        """(n, L) labels drawn at random."""
        if self.exclusive:
            return one_hot(torch.randint(len(self.b), (n,)), len(self.b)).to(self.b.dtype)
        return torch.bernoulli(torch.full((n, len(self.b)), 0.5, dtype=self.b.dtype))

    # energies

    def free_energy(self, x: Tensor, y: Tensor) -> Tensor:
        """F(x, y) (n,) for inputs (n, d) and labels (n, L)."""
        return -(x @ self.a) - y @ self.b - softplus(self.c + x @ self.W + y @ self.U).sum(dim=-1)

    def labelings(self) -> Tensor:
        """(m, L) all labels that there are: L classes, or 2^L patterns."""
        n = len(self.b)
        if self.exclusive:
            return torch.eye(n, dtype=self.b.dtype, device=self.b.device)
        patterns = list(itertools.product((0.0, 1.0), repeat=n))
        return torch.tensor(patterns, dtype=self.b.dtype, device=self.b.device)

    def label_logits(self, x: Tensor) -> Tensor:
        """(n, m) -F(x, y) for each labelling y, without the part that is the same for all."""
        y = self.labelings()
        inner = (self.c + x @ self.W)[:, None] + y @ self.U  # (n, m, k)
        return y @ self.b + softplus(inner).sum(dim=2)

    def log_conditional(self, x: Tensor) -> Tensor:
        """(n, m) log p(y | x), by enumeration."""
        return torch.log_softmax(self.label_logits(x), dim=1)

    # Gibbs sampling

    def hidden(self, x: Tensor, y: Tensor) -> Tensor:
        """Draw h given x and y."""
        return torch.bernoulli(torch.sigmoid(self.c + x @ self.W + y @ self.U))

    def visible(self, h: Tensor, beta: float = 1.0) -> tuple[Tensor, Tensor]:
        """Draw x and y given h (at an inverse temperature)."""
        x = torch.bernoulli(torch.sigmoid(beta * (self.a + h @ self.W.T)))
        logits = beta * (self.b + h @ self.U.T)
        if not self.exclusive:
            return x, torch.bernoulli(torch.sigmoid(logits))
        drawn = torch.multinomial(torch.softmax(logits, dim=1), 1)[:, 0]
        return x, one_hot(drawn, len(self.b)).to(x.dtype)

    @torch.no_grad()
    def gibbs(self, x: Tensor, y: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """Inputs and labels after steps of block Gibbs sampling."""
        for _ in range(steps):
            x, y = self.visible(self.hidden(x, y))
        return x, y

    @torch.no_grad()
    def persist(self, steps: int) -> tuple[Tensor, Tensor]:
        """Move the persistent chains on, and give them."""
        self.chain_x, self.chain_y = self.gibbs(self.chain_x, self.chain_y, steps)
        return self.chain_x, self.chain_y

    # likelihoods

    def log_partition(self) -> Tensor:
        """Log Z by enumeration of the hidden units and labels, or of the inputs and labels: of few units only."""
        h = torch.tensor(list(itertools.product((0.0, 1.0), repeat=len(self.c))), dtype=self.b.dtype)
        inputs = softplus(self.a + h @ self.W.T).sum(dim=1)
        logits = self.b + h @ self.U.T
        labels = torch.logsumexp(logits, dim=1) if self.exclusive else softplus(logits).sum(dim=1)
        return torch.logsumexp(h @ self.c + inputs + labels, dim=0)

    def tempered(self, h: Tensor, beta: float) -> Tensor:
        """Log of the unnormalised probability (n,) of hidden units at an inverse temperature."""
        inputs = softplus(beta * (self.a + h @ self.W.T)).sum(dim=1)
        logits = beta * (self.b + h @ self.U.T)
        labels = torch.logsumexp(logits, dim=1) if self.exclusive else softplus(logits).sum(dim=1)
        return beta * (h @ self.c) + inputs + labels

    @torch.no_grad()
    def annealed_log_partition(self, n_runs: int, n_temperatures: int) -> tuple[Tensor, Tensor]:
        """Log Z by annealed importance sampling (Salakhutdinov and Murray, 2008), and its standard error.

        Runs go from the uniform distribution (inverse temperature 0, whose sum is known) to the model in equal steps.
        """
        betas = torch.linspace(0, 1, n_temperatures + 1).tolist()
        h = torch.bernoulli(torch.full((n_runs, len(self.c)), 0.5, dtype=self.b.dtype))
        logs = h.new_zeros(n_runs)
        for before, beta in itertools.pairwise(betas):
            logs += self.tempered(h, beta) - self.tempered(h, before)
            x, y = self.visible(h, beta)
            h = torch.bernoulli(torch.sigmoid(beta * (self.c + x @ self.W + y @ self.U)))
        states = len(self.labelings())
        uniform = (len(self.a) + len(self.c)) * torch.log(h.new_tensor(2.0)) + torch.log(h.new_tensor(float(states)))
        top = logs.max()
        weights = (logs - top).exp()
        error = weights.std() / weights.mean() / n_runs**0.5
        return uniform + top + weights.mean().log(), error
