"""Laws of probability and of the engine, as checks for any estimator: ours and yours."""

from tacit.checks.discover import all_estimators
from tacit.checks.law import LAWS, Law
from tacit.checks.rows import for_rows
from tacit.checks.run import check_estimator, estimator_checks, expected_failures

__all__ = ["LAWS", "Law", "all_estimators", "check_estimator", "estimator_checks", "expected_failures", "for_rows"]
