"""`decide` for everything that has probabilities: classifiers, mixtures, hidden Markov models."""

from typing import Any

import numpy as np

from latently.decide.choose import Decision, decide


class DecideMixin:
    """Gives an estimator with `predict_proba` the method `decide(X, reward)`.

    States are the classes of a classifier (`classes_`), else the components or hidden states 0, 1, ...

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from latently.decide import DecideMixin
    >>> class Doctor(DecideMixin, GaussianNB): ...
    >>> doctor = Doctor().fit([[36.5], [37.0], [39.0], [39.5]], ["well", "well", "ill", "ill"])
    >>> rewards = {"well": {"wait": 10, "treat": 7}, "ill": {"wait": 3, "treat": 5}}
    >>> doctor.decide([[36.8], [39.2]], rewards).action
    array(['wait', 'treat'], dtype='<U5')
    """

    def decide(
        self,
        X: Any,
        reward: Any,
        abstain: Any = None,
        *,
        lengths: Any = None,
        filtered: bool = False,
        ahead: int = 0,
    ) -> Decision:
        """Choose the action of highest expected reward for each row.

        Parameters
        ----------
        X
            Data as for `predict_proba`.
        reward
            Rewards (states, actions), or (rows, states, actions); see `latently.decide.Reward`.
        abstain
            The price of abstaining; None if that is no option.
        lengths
            Lengths of sequences, for models of sequences.
        filtered
            For models of sequences: decide at each step on what was seen up to then (`filter`), as one must
            when acting as the data come in. Otherwise the whole sequence is used.
        ahead
            For models of sequences, with `filtered`: the reward depends on the state this many steps later.

        Returns
        -------
        Decision
            The action for each row, with expected rewards and margins.
        """
        more = {} if lengths is None else {"lengths": lengths}
        if filtered:
            if not hasattr(self, "filter"):
                raise TypeError(f"{type(self).__name__} has no filter: filtered=True is for sequences")
            belief = np.asarray(self.filter(X, **more))
        else:
            belief = np.asarray(self.predict_proba(X, **more))  # type: ignore[attr-defined]
        if ahead:
            belief = _look_ahead(self, belief, ahead, filtered)
        states = getattr(self, "classes_", None)
        return decide(belief, reward, abstain, states=states)


def _look_ahead(model: Any, belief: Any, ahead: int, filtered: bool) -> Any:
    if ahead < 0 or not filtered:
        raise ValueError(f"ahead={ahead} needs filtered=True and must not be negative")
    return belief @ np.linalg.matrix_power(model.transmat_, ahead)
