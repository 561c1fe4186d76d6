"""The decision room: rewards, actions, abstaining, coherence."""

from latently.decide.book import Bet, DutchBook, dutch_book
from latently.decide.calibration import brier_score, expected_calibration_error, log_score, reliability_curve
from latently.decide.choose import Decision, decide, expected_reward
from latently.decide.information import thresholds, value_of_information
from latently.decide.mixin import DecideMixin
from latently.decide.recalibrate import Recalibrated
from latently.decide.rewards import Reward
from latently.decide.sequential import BeliefState

__all__ = [
    "BeliefState",
    "Bet",
    "DecideMixin",
    "Decision",
    "DutchBook",
    "Recalibrated",
    "Reward",
    "brier_score",
    "decide",
    "dutch_book",
    "expected_calibration_error",
    "expected_reward",
    "log_score",
    "reliability_curve",
    "thresholds",
    "value_of_information",
]
