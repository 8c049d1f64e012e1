"""What the apps above want to hear of, since imports point only downwards."""

from django.dispatch import Signal

# Sent inside the transaction that stores a bundle, with ``bundle``: judging starts here.
bundle_stored = Signal()

# Sent inside the transaction that gives a challenge another version, with ``version``.
challenge_changed = Signal()
