"""Uploaded text made fit to look at: hostile until proven otherwise, and never changed unseen."""
