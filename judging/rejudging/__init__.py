"""Rejudging: what today's judges and rules would make of matches, shown before it counts.

`choice` says which matches, `candidates` what one would come to, `work` does that step by
step in the background, `ranks` what it means for the boards, `actions` applies or drops it.
"""
