"""A medical test: 95 % right, one person in a hundred ill, and the test is positive. Is she ill?"""

from tacit.decide import BeliefState, decide, thresholds, value_of_information
from tacit.infer import Conditional, Joint

REWARD = {"well": {"wait": 10, "treat": 7}, "ill": {"wait": 3, "treat": 5}}


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
