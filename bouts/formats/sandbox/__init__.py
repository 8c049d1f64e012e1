"""What the readers of sandbox logs share: system calls, times, and the making of accesses.

Whatever the log, an access is told in the same words. What goes out to a host is a ``connect`` or
a ``send``, what takes something in from a path a ``read`` or an ``exec``: the integrity judge
knows these. All other words (``write``, ``delete``, ``rename``, ``local``, ``receive``, ``packet``,
``syscall``, ``alert``, and ``access`` where the log does not tell reading from writing) are there to
be seen. ``allowed`` is None wherever the log does not tell
how it ended; nothing is taken for allowed because nothing speaks against it.
"""
