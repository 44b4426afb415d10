"""The environment of a worker process."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tidings.isolation.killable import Killable
from tidings.isolation.runner import JobLimits
from tidings.isolation.worker import bare

SECRET = "s3cret-value"
PROGRAM = """
import asyncio, json
from tidings.isolation.killable import Killable
from tidings.isolation.runner import JobLimits
from tests.unit.isolation.test_worker import began_with

async def main():
    runner = Killable(JobLimits())
    try:
        print(json.dumps((await runner.run(began_with, None)).value))
    finally:
        await runner.close()

if __name__ == "__main__":
    asyncio.run(main())
"""


def began_with(_: object) -> list[str]:
    """Return the initial environments of this process and its parent from /proc, and the present one."""
    return [
        entry.decode()
        for pid in (os.getpid(), os.getppid())
        for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        if entry
    ] + [f"{name}={value}" for name, value in os.environ.items()]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="environments of processes are read from /proc")
def test_worker_gets_no_variables_of_the_service():
    """No setting, token, password or proxy is in the environment or initial memory of a worker or
    the fork server; PATH is.
    """
    given = {
        "TIDINGS_SERVE_TOKEN": SECRET,
        "TIDINGS_NOTIFY_SMTP_PASSWORD": SECRET,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "GITHUB_TOKEN": SECRET,
        "PGPASSWORD": SECRET,
        "https_proxy": f"http://u:{SECRET}@127.0.0.1:1",
        "ALL_PROXY": f"http://u:{SECRET}@127.0.0.1:1",
        "HOME": f"/{SECRET}",
    }
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **given, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = json.loads(ran.stdout)

    assert [] == [entry for entry in found if SECRET in entry]
    assert f"PATH={os.environ['PATH']}" in found


def test_worker_does_not_import_the_program_of_the_service(tmp_path):
    """Otherwise each worker would import the command line again."""
    program = tmp_path / "program.py"
    program.write_text(f"print('imported as', __name__){PROGRAM}")

    ran = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )

    assert ["imported as __main__"] == [line for line in ran.stdout.splitlines() if line.startswith("imported")]


def test_variables_for_python_and_libraries_are_passed_on():
    """Search paths, language, time zone and certificates are needed. No other variable is passed
    on.
    """
    needed = dict.fromkeys(
        ("PATH", "LANG", "LC_ALL", "TZ", "PYTHONPATH", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "TMPDIR"), "x"
    )
    ours = dict.fromkeys(
        ("TIDINGS_DATA", "tidings_x", "HTTP_PROXY", "no_proxy", "NETRC", "USER", "XPATH", "SSH_AUTH_SOCK"), "y"
    )

    assert needed == bare({**needed, **ours})


def test_job_runs_in_the_reduced_environment():
    """The job returns its value."""

    async def story() -> object:
        runner = Killable(JobLimits())
        try:
            return await runner.run(len, "abc")
        finally:
            await runner.close()

    assert 3 == asyncio.run(story()).value  # type: ignore[attr-defined]
