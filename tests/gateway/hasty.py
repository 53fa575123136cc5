"""`runvil` with a vendors' deadline that a test can wait for."""

from __future__ import annotations

import sys

from runvil.doors.cli import run
from runvil.gateway import vendors

if __name__ == "__main__":
    vendors.DEADLINE = 1.0
    sys.exit(run())
