import subprocess
import sys

KILLED = """
import os, signal
from multiprocessing import popen_forkserver
from tidings.isolation.killable import Killable
from tidings.isolation.runner import JobLimits

ask = popen_forkserver.forkserver.connect_to_new_process

def ask_and_die(fds):
    ask(fds)
    os.kill(os.getpid(), signal.SIGKILL)

popen_forkserver.forkserver.connect_to_new_process = ask_and_die
Killable(JobLimits())._fork()
"""


def test_worker_without_a_service_ends_quietly():
    """A service that is killed between the fork and its orders leaves no traceback of the worker."""
    ran = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, check=False)

    assert (-9, "") == (ran.returncode, ran.stderr)


def test_other_errors_of_a_worker_are_printed():
    """A worker may end for another reason."""
    code = "import tidings.isolation.forked; raise OSError('no such thing')"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert "OSError: no such thing" == ran.stderr.splitlines()[-1]


def test_fork_server_ends_without_deleting_its_objects():
    """The process from which workers are forked then ends at once."""
    code = "import tidings.isolation.forked\nclass Held:\n    def __del__(self):\n        print('deleted', flush=True)\nheld = Held()"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "" == ran.stdout
