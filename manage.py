#!/usr/bin/env python
"""Django's command line for Bouts."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bouts.settings")
    if sys.argv[1:2] == ["inspect"]:
        # It looks at files alone: without an address the embedded database would be started.
        os.environ.setdefault("DATABASE_URL", "postgresql:///none")
        os.environ.setdefault("BOUTS_SECRET_KEY", "none")
    execute_from_command_line(sys.argv)
