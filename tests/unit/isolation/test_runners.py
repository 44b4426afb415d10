"""The runner in the calling thread."""

import asyncio
import threading

from tidings.isolation.runner import Done, JobLimits
from tidings.isolation.runners import InProcess


def test_in_process_job_runs_in_the_calling_thread():
    """A debugger can stop in it."""

    async def body():
        return await InProcess(JobLimits()).run(lambda _: threading.get_ident(), None)

    assert Done(threading.get_ident()) == asyncio.run(body())
