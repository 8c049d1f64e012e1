"""What judging announces to the app above it."""

from django.dispatch import Signal

# Sent inside the transaction that records a scorecard, with ``scorecard``.
scorecard_recorded = Signal()

# Sent inside the transaction that takes a match off the boards or puts it back, with ``match``.
exclusion_changed = Signal()
