"""The model half of judging: what a model is shown, asked and believed. Plain Python, no Django.

`evidence_for` builds what a judge may see, `render` makes a prompt of it, `ask` puts it to a
seat and returns a `Call` with all that there is to store. `replay` reads a stored call's bytes
again, with the network off, to the same answer.
"""
