"""`python -m latently` is `latently`."""

import sys

from latently.cli import main

if __name__ == "__main__":
    sys.exit(main())
