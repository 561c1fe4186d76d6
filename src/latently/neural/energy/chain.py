"""Labels in a chain: sums and maxima over all sequences of labels, by dynamic programming."""

import torch
from torch import Tensor


def log_sums(scores: Tensor, transitions: Tensor, lengths: Tensor) -> Tensor:
    """(n,) log of the sum over sequences y of exp(sum_t scores[t, y_t] + transitions[y_t-1, y_t]).

    Scores are (n, T, K); what is behind the length of a sequence is not looked at.

    Examples
    --------
    >>> log_sums(torch.zeros(1, 3, 2), torch.zeros(2, 2), torch.tensor([3])).exp()  # 2^3 sequences
    tensor([8.])
    """
    forward = scores[:, 0]
    for t in range(1, scores.shape[1]):
        moved = torch.logsumexp(forward[:, :, None] + transitions, dim=1) + scores[:, t]
        forward = torch.where((t < lengths)[:, None], moved, forward)
    return torch.logsumexp(forward, dim=1)


def path_scores(scores: Tensor, transitions: Tensor, lengths: Tensor, labels: Tensor) -> Tensor:
    """(n,) score of one sequence of labels (n, T) each."""
    inside = torch.arange(scores.shape[1], device=scores.device) < lengths[:, None]
    own = torch.gather(scores, 2, labels[..., None])[..., 0]
    steps = transitions[labels[:, :-1], labels[:, 1:]] * inside[:, 1:]
    return (own * inside).sum(dim=1) + steps.sum(dim=1)


def marginals(scores: Tensor, transitions: Tensor) -> Tensor:
    """(T, K) probability of each label at each place of one sequence with scores (T, K).

    Examples
    --------
    >>> marginals(torch.zeros(2, 2), torch.tensor([[0.0, -50.0], [-50.0, 0.0]])).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    forward, backward = [scores[0]], [torch.zeros_like(scores[0])]
    for own in scores[1:]:
        forward.append(torch.logsumexp(forward[-1][:, None] + transitions, dim=0) + own)
    for own in scores[1:].flip(0):
        backward.append(torch.logsumexp(transitions + own + backward[-1], dim=1))
    return torch.softmax(torch.stack(forward) + torch.stack(backward[::-1]), dim=1)


def best_path(scores: Tensor, transitions: Tensor) -> Tensor:
    """(T,) the labels of the best sequence, by back-pointers from the last.

    Examples
    --------
    >>> best_path(torch.tensor([[1.0, 0.0], [0.0, 0.5]]), torch.tensor([[0.0, -9.0], [-9.0, 0.0]])).tolist()
    [0, 0]
    """
    best, back = scores[0], []
    for own in scores[1:]:
        top, at = (best[:, None] + transitions).max(dim=0)
        best = top + own
        back.append(at)
    path = [best.argmax()]
    for at in reversed(back):
        path.append(at[path[-1]])
    return torch.stack(path[::-1])
