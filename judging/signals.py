"""What judging announces to the app above it."""

from django.dispatch import Signal

# Sent inside the transaction that records a scorecard, with ``scorecard``.
scorecard_recorded = Signal()
