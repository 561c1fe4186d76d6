"""Pictures: Display classes that keep the numbers they show; matplotlib is loaded when the first is drawn."""

from tacit.plot.selection import SelectionDisplay

__all__ = ["SelectionDisplay"]
