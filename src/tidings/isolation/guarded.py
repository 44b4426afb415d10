"""Jobs that open connections of their own, such as mail and chat libraries: they dial only checked
addresses.

Python announces every connection before a packet leaves (audit events of `socket`); a hook refuses
forbidden ones. Names are refused too: a library resolves a name first and dials the address, which
is checked (contracts §6). The hook cannot be removed, so a guarded job belongs in a separate kind
of worker process, never beside other work.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from typing import Any, Final, Generic

from tidings.isolation.runner import A, R
from tidings.record import dataclass

Fault = Callable[[str], str]
"""Returns why an address may not be dialled; an empty text if it may."""

DIALS: Final = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
STARTS: Final = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty"})


@dataclass(frozen=True, slots=True)
class Guarded(Generic[A, R]):
    """`function`, in a process that from then on dials only what `fault` allows; all can be
    pickled.
    """

    function: Callable[[A], R]
    fault: Fault

    def __call__(self, argument: A) -> R:
        """Lock the process down, then run the function."""
        shut(self.fault)
        return self.function(argument)


class _Gate:
    """The state of this process; `fault` is None until it is locked down."""

    def __init__(self) -> None:
        self.fault: Fault | None = None

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Refuse a forbidden audit event."""
        if event in DIALS:
            self._judge(arguments[1])
        elif event in STARTS:
            raise PermissionError(errno.EPERM, "a guarded job starts no process, which nobody would guard")

    def _judge(self, address: Any) -> None:
        if address is None or self.fault is None:  # sendmsg on a checked connection
            return
        host = address[0] if isinstance(address, tuple) and address else address
        reason = self.fault(host) if isinstance(host, str) else "it is not an IP address"
        if reason:
            raise PermissionError(errno.EACCES, f"the address is refused: {reason}")


_GATE: Final = _Gate()


def shut(fault: Fault) -> None:
    """Restrict this process to dial only what `fault` allows, start no process, and use no proxy or
    password of the environment.

    It cannot be undone; a second call replaces the check.
    """
    if _GATE.fault is None:
        _forget_environment()
        sys.addaudithook(_GATE.audit)
    _GATE.fault = fault


def _forget_environment() -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]
    os.environ["no_proxy"] = "*"  # some systems keep proxies elsewhere too
    os.environ["NETRC"] = os.devnull
