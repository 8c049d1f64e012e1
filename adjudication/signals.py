"""What adjudication announces to the app above it."""

from django.dispatch import Signal

# Sent inside the transaction of a ruling or of its correction, with ``ruling``.
case_ruled = Signal()
