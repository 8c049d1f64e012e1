"""Readers of what test runners, agents, scanners and sandboxes write. No Django in here."""
