"""What holds for all tests, before anything else is imported."""

import os

# scikit-learn leaves out its array-API checks unless scipy was imported with this.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
