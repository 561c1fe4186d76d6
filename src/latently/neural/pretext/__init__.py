"""Pretext tasks: what can be learnt from data without labels."""
