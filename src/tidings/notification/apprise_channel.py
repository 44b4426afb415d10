"""Chats, phones and the rest: one sender for every service that Apprise knows, by its address (`tgram://…`, `discord://…`)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tidings.errors import AddressError
from tidings.notification.addresses import limit_of
from tidings.notification.apprise_child import Push, push
from tidings.notification.channel import Errands, Message, Refused, Sent
from tidings.notification.mail import MARGIN_SECONDS
from tidings.notification.secrecy import redact
from tidings.presentation.writing import cut, subject_line


@dataclass(frozen=True, slots=True)
class AppriseService:
    """Tells services through Apprise in a guarded process. `timeout_seconds` bounds the attempt once the process has begun."""

    errands: Errands
    timeout_seconds: float = 20.0

    async def send(self, message: Message) -> Sent | Refused:
        """Make one attempt; what Apprise cannot read is final, all else is tried again."""
        try:
            limit = limit_of(message.address)
        except AddressError as error:
            return Refused(reason=str(error), retry=False)
        title = cut(subject_line(message.subject), limit.title) if limit.title else ""
        errand = Push(message.address, title, message.body.decode(errors="replace"))
        answer = await self.errands.run(push, errand, seconds=self.timeout_seconds + MARGIN_SECONDS)
        if isinstance(answer, Refused):
            return replace(answer, reason=redact(answer.reason, message.address))
        return answer
