"""How a match is scored: the rule book (SCORING.md) as plain Python.

Values in, values out: no Django, no database, no network. Every number is an exact
`Fraction` until it is shown; every number of the rule book is data of a `Policy`.
"""
