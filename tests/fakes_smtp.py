"""A mail server of raw sockets on loopback, with typical faults (F-31)."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self


@dataclass
class Taken:
    """What one connection handed in."""

    sender: str = ""
    recipients: list[str] = field(default_factory=list)
    content: bytes = b""
    user: str = ""
    secured: bool = False


@dataclass
class MailServer:
    """Takes mail in threads. `answers` maps a command (or GREETING, END for the end of DATA) to what is said instead; an empty text
    drops the connection there. `tls` secures from the first byte or, with `starttls`, when asked.
    """

    answers: dict[str, str] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    starttls: bool = False
    login: bool = False
    host: str = "127.0.0.1"
    taken: list[Taken] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    dials: int = 0

    def __enter__(self) -> Self:
        self._socket = socket.create_server((self.host, 0))
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):  # wakes `accept`; not every system does it so
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()

    def _accept(self) -> None:
        while True:
            try:
                wire, _ = self._socket.accept()
            except OSError:
                return
            self.dials += 1
            wire.settimeout(10)
            with contextlib.suppress(OSError, EOFError), contextlib.ExitStack() as stack:
                stack.enter_context(wire)
                self._serve(wire, stack)

    def _serve(self, wire: socket.socket, stack: contextlib.ExitStack) -> None:
        taken = Taken()
        if self.tls is not None and not self.starttls:
            wire = stack.enter_context(self.tls.wrap_socket(wire, server_side=True))
            taken.secured = True
        self._say(wire, "GREETING", "220 fake ESMTP")
        while True:
            line = _line(wire)
            word = line.split()[0].upper() if line.split() else ""
            self.commands.append(line)
            match word:
                case "EHLO":
                    offers = ["fake", *(["STARTTLS"] if self.starttls and not taken.secured else [])]
                    offers += ["AUTH PLAIN LOGIN"] if self.login else []
                    lines = [f"250{'-' if n < len(offers) - 1 else ' '}{offer}" for n, offer in enumerate(offers)]
                    self._say(wire, "EHLO", "\r\n".join(lines))
                case "STARTTLS":
                    self._say(wire, "STARTTLS", "220 go ahead")
                    assert self.tls is not None
                    wire = stack.enter_context(self.tls.wrap_socket(wire, server_side=True))
                    taken.secured = True
                case "AUTH":
                    taken.user = line.split()[-1]
                    self._say(wire, "AUTH", "235 welcome")
                case "MAIL":
                    taken.sender = line.partition(":")[2]
                    self._say(wire, "MAIL", "250 ok")
                case "RCPT":
                    taken.recipients.append(line.partition(":")[2])
                    self._say(wire, "RCPT", "250 ok")
                case "DATA":
                    self._say(wire, "DATA", "354 go on")
                    taken.content = _content(wire)
                    self.taken.append(taken)
                    self._say(wire, "END", "250 queued")
                    taken = Taken(secured=taken.secured)
                case "QUIT":
                    self._say(wire, "QUIT", "221 bye")
                    return
                case _:
                    self._say(wire, word, "250 ok")

    def _say(self, wire: socket.socket, point: str, usual: str) -> None:
        text = self.answers.get(point, usual)
        if not text:
            raise EOFError
        wire.sendall(f"{text}\r\n".encode())


def _line(wire: socket.socket) -> str:
    received = bytearray()
    while not received.endswith(b"\r\n"):
        byte = wire.recv(1)
        if not byte:
            raise EOFError
        received += byte
    return received.decode().removesuffix("\r\n")


def _content(wire: socket.socket) -> bytes:
    received = bytearray()
    while not received.endswith(b"\r\n.\r\n"):
        chunk = wire.recv(65_536)
        if not chunk:
            raise EOFError
        received += chunk
    return bytes(received[:-3]).replace(b"\r\n..", b"\r\n.")
