"""The console: the message's text on a stream, one line per change."""

from __future__ import annotations

from typing import TextIO

from tidings.notification.channel import Message, Refused, Sent
from tidings.record import dataclass


@dataclass(frozen=True, slots=True)
class Console:
    """Writes to a text stream; a closed or full one is a refusal."""

    stream: TextIO

    async def send(self, message: Message) -> Sent | Refused:
        """Write the message and flush it."""
        text = message.body.decode("utf-8", errors="replace")
        try:
            self.stream.write(self._printable(text if text.endswith("\n") else f"{text}\n"))
            self.stream.flush()
        except (OSError, ValueError) as error:  # a closed stream is a ValueError
            return Refused(reason=f"the console took nothing: {getattr(error, 'strerror', None) or error}")
        return Sent()

    def _printable(self, text: str) -> str:
        encoding = self.stream.encoding or "utf-8"
        return text.encode(encoding, errors="backslashreplace").decode(encoding)
