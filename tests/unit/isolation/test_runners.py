"""What is particular to jobs in the calling thread."""

import asyncio
import threading

from tidings.isolation.runner import Done, JobLimits
from tidings.isolation.runners import InProcess


def test_calling_thread():
    """The job runs in the thread that asks, so that a debugger sees it."""

    async def body():
        return await InProcess(JobLimits()).run(lambda _: threading.get_ident(), None)

    assert Done(threading.get_ident()) == asyncio.run(body())
