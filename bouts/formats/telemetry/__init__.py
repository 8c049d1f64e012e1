"""What the readers of agents' trajectories share: clock, tools, shell, contents, test output.

A reader turns its file into calls and messages in the order in which they were made; a
`Recorder` makes events of them. So every format means the same by an edit or a test run.
"""

# Part of every such reader's version: raised where what they share reads the same file differently.
SHARED_VERSION = 2
