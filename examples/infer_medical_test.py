"""A medical test: 95 % right, one person in a hundred ill, and the test is positive. Is she ill?

Draws infer_medical_test.png: the expected reward of each action against the probability of being ill.
"""

import matplotlib.pyplot as plt
import numpy as np

from latently.decide import BeliefState, decide, expected_reward, thresholds, value_of_information
from latently.infer import Conditional, Joint

REWARD = {"well": {"wait": 10, "treat": 7}, "ill": {"wait": 3, "treat": 5}}


def draw(after: dict, treat_from: float) -> None:
    """Lines of expected reward, and where the tests have moved the belief."""
    figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    p = np.linspace(0, 1, 101)
    wait, treat = expected_reward(np.column_stack([1 - p, p]), [[10, 7], [3, 5]]).T
    ax.plot(p, wait, label="wait")
    ax.plot(p, treat, label="treat")
    ax.axvspan(treat_from, 1, color="C1", alpha=0.1, label=f"treat from {treat_from:g} on")
    for (name, belief), style in zip(after.items(), (":", "-.", "--"), strict=True):
        ax.axvline(belief, color="0.4", ls=style, label=f"{name}: {belief:.3f}")
    ax.set(xlabel="probability of being ill", ylabel="expected reward", xlim=(-0.02, 1.02), ylim=(2.5, 12.5))
    ax.legend(loc="upper center", ncols=2)
    figure.savefig("infer_medical_test.png")


def main():
    illness = Joint({"state": ["ill", "well"]}, [0.01, 0.99])
    test = Conditional({"test": ["+", "-"]}, {"state": ["ill", "well"]}, [[0.95, 0.05], [0.05, 0.95]])
    joint = illness * test
    after = joint.condition(test="+")
    print(f"ill, given one positive test: {after.probability(state='ill'):.3f}")

    second = Joint.bayes(after, test, test="+")
    print(f"ill, given two: {second.probability(state='ill'):.3f}")
    print(f"the test tells {joint.mutual_information('state', 'test'):.4f} of {illness.entropy():.4f} nats")

    for name, belief in (("one", after), ("two", second)):
        choice = decide(belief, REWARD)
        print(f"after {name}: {choice.action}, ahead by {choice.margin:.2f}")
    regions = thresholds(REWARD)
    print(f"treat if the probability of being ill is above {regions[1].low}")
    worth = value_of_information(after, REWARD, [[0.95, 0.05], [0.05, 0.95]])
    print(f"a second test is worth {worth:.3f} before it is made")

    # the same as a belief that moves with each result; the state does not
    belief = BeliefState([0.01, 0.99], [[1, 0], [0, 1]], states=["ill", "well"])
    for _ in range(2):
        belief = belief.observe([0.95, 0.05])
    ill = [0.01, after.probability(state="ill"), second.probability(state="ill")]
    draw(dict(zip(["before", "after one positive test", "after two"], ill, strict=True)), regions[1].low)
    return after, second, belief, regions


def test_numbers():
    after, second, belief, regions = main()
    assert abs(after.probability(state="ill") - 0.0095 / 0.059) < 1e-12
    twice = 0.01 * 0.95**2 / (0.01 * 0.95**2 + 0.99 * 0.05**2)
    assert abs(second.probability(state="ill") - twice) < 1e-12
    assert abs(belief.probabilities[0] - twice) < 1e-12
    assert regions[1].low == 0.6
    assert decide(after, REWARD).action == "wait"
    assert decide(second, REWARD).action == "treat"


if __name__ == "__main__":
    main()
