"""Tests. Whatever they start, and each part of the suite, loads modules that were compiled once.

Where nothing may be compiled beside the sources, as in many a container, Python else compiles
Django and us anew in every process: twice as long as it takes to load the two.
"""

import os
from pathlib import Path

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault(
    "PYTHONPYCACHEPREFIX", str(Path(__file__).resolve().parent.parent / ".data" / "pycache")
)
