"""Laws that every distribution keeps, and that every family keeps that learns from data."""
