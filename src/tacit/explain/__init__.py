"""Why: what is typical of a cluster, and what is surprising about a row; all as plain dicts."""

from tacit.explain.cards import cluster_cards
from tacit.explain.surprise import surprise_shares, surprises

__all__ = ["cluster_cards", "surprise_shares", "surprises"]
