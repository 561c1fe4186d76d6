"""From a table of any make to columns of numbers, dates or strings."""
