import asyncio
import os
import pickle
import socket
import subprocess

import pytest

from tidings.isolation.guarded import Guarded
from tidings.isolation.runner import Died, Done, JobLimits
from tidings.isolation.runners import RUNNERS

OPEN = "127.0.0.1"


def only_open(address):
    """Refuse all addresses except one, as a guard."""
    return "" if address == OPEN else f"{address} is not {OPEN}"


def dial(target):
    """Connect by TCP."""
    socket.create_connection(target, timeout=2).close()
    return "dialled"


def dial_by_name(target):
    """Connect by name, without resolving it first."""
    with socket.socket() as wire:
        wire.settimeout(2)
        wire.connect(target)


def send_to(target):
    """Send one datagram."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        return wire.sendto(b"x", target)


def send_message(target):
    """Send one datagram with `sendmsg`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        return wire.sendmsg([b"x"], [], 0, target)


def dial_path(path):
    """Connect to a socket of this machine."""
    with socket.socket(socket.AF_UNIX) as wire:
        wire.connect(path)


def start(command):
    """Start a process."""
    subprocess.run(command, check=True)


def call(command):
    """Start a process with `os.system`."""
    os.system(command)


def environment(name):
    """Return a variable of the environment."""
    return os.environ.get(name)


def run(*jobs, fault=only_open):
    """Run (function, argument) pairs, guarded, in one process of their own."""

    async def body():
        runner = RUNNERS["killable"](JobLimits(seconds=20))
        try:
            return [await runner.run(Guarded(function, fault), argument) for function, argument in jobs]
        finally:
            await runner.close()

    return asyncio.run(body())


@pytest.fixture
def listener():
    with socket.create_server((OPEN, 0)) as server:
        yield server.getsockname()


def test_allowed_address_can_be_reached(listener):
    """A name is checked by the address to which it resolves."""
    assert [Done("dialled"), Done("dialled"), Done(1)] == run(
        (dial, listener), (dial, ("localhost", listener[1])), (send_to, listener)
    )


@pytest.mark.parametrize("job", [dial, send_to, send_message])
def test_refused_address_is_not_contacted(job):
    """No packet is sent by any call; the reason is that of the guard."""
    with (
        socket.create_server(("127.0.0.2", 0)) as server,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        datagrams.bind(server.getsockname())
        (died,) = run((job, server.getsockname()))
        for wire, receive in ((server, server.accept), (datagrams, lambda: datagrams.recv(1))):
            wire.settimeout(0)
            with pytest.raises(BlockingIOError):
                receive()

    assert isinstance(died, Died)
    assert died.reason.endswith("the address is refused: 127.0.0.2 is not 127.0.0.1")


def test_unresolved_names_and_unix_sockets_are_refused(listener, tmp_path):
    """The guard can check only addresses, and sockets of this machine are not allowed."""
    by_name, by_path = run((dial_by_name, ("localhost", listener[1])), (dial_path, str(tmp_path / "socket")))

    assert isinstance(by_name, Died)
    assert "localhost is not 127.0.0.1" in by_name.reason
    assert isinstance(by_path, Died)
    assert "the address is refused" in by_path.reason


def test_process_cannot_be_started(tmp_path):
    """A child process would not be guarded."""
    made = tmp_path / "made"
    outcomes = run((start, ["touch", str(made)]), (call, f"touch {made}"))

    assert all(isinstance(outcome, Died) and "starts no process" in outcome.reason for outcome in outcomes)
    assert not made.exists()


def test_proxies_and_passwords_of_the_environment_are_ignored(monkeypatch):
    """A proxy would connect without the guard."""
    for name in ("HTTPS_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert [Done(None), Done(None), Done("*"), Done(os.devnull)] == run(
        *((environment, name) for name in ("HTTPS_PROXY", "all_proxy", "no_proxy", "NETRC"))
    )


def test_guarded_job_can_be_pickled():
    """The runner sends jobs to a worker."""
    job = Guarded(dial, only_open)

    assert job == pickle.loads(pickle.dumps(job))


def test_calling_process_is_not_guarded(listener):
    """Only the worker is."""
    run((dial, listener))

    assert "dialled" == dial(listener)
    subprocess.run(["true"], check=True)
