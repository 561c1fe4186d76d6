"""From a table to a report: what it leaves unsaid, as a dict, and the dict as HTML, JSON and Markdown."""

from tacit.report.drift import compare
from tacit.report.example import example_table
from tacit.report.exploring import explore
from tacit.report.report import Report

__all__ = ["Report", "compare", "example_table", "explore"]
