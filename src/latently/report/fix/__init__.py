"""From a report to a script that cleans its table with pandas alone."""
