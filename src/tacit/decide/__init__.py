"""The decision room: rewards, actions, abstaining, coherence."""

from tacit.decide.book import Bet, DutchBook, dutch_book
from tacit.decide.calibration import brier_score, expected_calibration_error, log_score, reliability_curve
from tacit.decide.choose import Decision, decide, expected_reward
from tacit.decide.information import thresholds, value_of_information
from tacit.decide.mixin import DecideMixin
from tacit.decide.recalibrate import Recalibrated
from tacit.decide.rewards import Reward
from tacit.decide.sequential import BeliefState

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
