"""One script a match: what that agent does, step by step. `play(agent)` runs it."""
