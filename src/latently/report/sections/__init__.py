"""The sections of a report: each a function from what was studied to a plain dict."""
