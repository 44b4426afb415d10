"""Guards that work on hostile input is bounded; only unbounded work reaches them.

`bench/` measures speed.

```
with bound_time(10):  # takes 0.2 s
    compare(page, page)
```
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator


@contextlib.contextmanager
def bound_time(seconds: float) -> Iterator[None]:
    """Fail if the work inside takes so many seconds of this process's CPU time, and end it there if it is in Python.

    To be at least ten times what the work takes, so that no slow or busy machine reaches it, on input so large that work which grows
    faster than the input would take many times more.
    """
    is_over = False

    def give_up(*_: object) -> None:
        nonlocal is_over
        is_over = True
        raise AssertionError(f"the work is out of bounds: more than {seconds:g} s of CPU time")

    before = signal.signal(signal.SIGPROF, give_up)
    begun = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    if is_over or time.process_time() - begun > seconds:  # where errors are caught, or in C
        give_up()
