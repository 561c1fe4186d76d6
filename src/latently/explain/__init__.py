"""Why: what is typical of a cluster, and what is surprising about a row; all as plain dicts."""

from latently.explain.cards import cluster_cards
from latently.explain.surprise import surprise_shares, surprises

__all__ = ["cluster_cards", "surprise_shares", "surprises"]
