"""Laws of probability and of the engine, as checks for any estimator and any distribution: ours and yours."""

from latently.checks.discover import all_estimators
from latently.checks.distributions.run import check_distribution, distribution_checks
from latently.checks.law import LAWS, Law
from latently.checks.rows import for_rows
from latently.checks.run import check_estimator, estimator_checks, expected_failures

__all__ = [
    "LAWS",
    "Law",
    "all_estimators",
    "check_distribution",
    "check_estimator",
    "distribution_checks",
    "estimator_checks",
    "expected_failures",
    "for_rows",
]
