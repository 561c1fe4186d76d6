"""From a table to a report: what it leaves unsaid, as a dict, and the dict as HTML, JSON and Markdown."""

from latently.report.drift import compare
from latently.report.example import example_table
from latently.report.exploring import explore
from latently.report.report import Report

__all__ = ["Report", "compare", "example_table", "explore"]
