"""Multidimensional scaling."""

from latently.embed.mds.classical import ClassicalMDS
from latently.embed.mds.mds import MDS
from latently.embed.mds.sammon import SammonMapping
from latently.embed.mds.smacof import smacof

__all__ = ["MDS", "ClassicalMDS", "SammonMapping", "smacof"]
