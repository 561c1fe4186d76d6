"""Labels that are not known: the concave-convex procedure of latent structural support vector machines."""

from collections.abc import Callable

from latently.structure.protocol import Problem
from latently.structure.solve.solution import Solution

_ROUNDS = 30  # completions at most


def with_latent_labels(problem: Problem, solve: Callable[[Problem], Solution], tol: float) -> Solution:
    """Solve with the best labels where they are not known, complete anew with the weights found, and so on.

    The objective (losses are counted over known labels only) never rises; it ends when it falls by less than `tol` of
    itself, or when no label changes. Where all labels are known, the first solution is the answer.

    """
    if problem.is_complete:
        return solve(problem)
    found = solve(problem.completed(None))
    for _ in range(_ROUNDS):
        better = solve(problem.completed(found.w))
        settled = better.primal >= found.primal * (1 - tol)
        if better.primal < found.primal:
            found = better
        if settled:
            break
    return found
