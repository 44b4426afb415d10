"""Services that people name as receivers, and the addresses that Apprise has for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_SERVICES: Final[Mapping[str, tuple[str, str]]] = {
    "slack": ("slack://TOKEN_A/TOKEN_B/TOKEN_C", "/"),
    "discord": ("discord://WEBHOOK_ID/WEBHOOK_TOKEN", ""),
    "telegram": ("tgram://BOT_TOKEN/CHAT_ID", "CHAT_ID"),
    "ntfy": ("ntfy://TOPIC", "TOPIC"),
    "teams": ("workflows://HOST/WORKFLOW/SIGNATURE", ""),
    "matrix": ("matrixs://USER:PASSWORD@HOST/ROOM", "ROOM"),
    "gotify": ("gotifys://HOST/TOKEN", "HOST"),
    "pushover": ("pover://USER_KEY@TOKEN", "USER_KEY"),
    "pushbullet": ("pbul://ACCESS_TOKEN", "/"),
    "mattermost": ("mmosts://HOST/TOKEN", ""),
    "rocketchat": ("rockets://USER:PASSWORD@HOST/#CHANNEL", "#CHANNEL"),
    "googlechat": ("gchat://WORKSPACE/WEBHOOK_KEY/WEBHOOK_TOKEN", ""),
    "mastodon": ("mastodons://ACCESS_TOKEN@HOST", "HOST"),
    "zulip": ("zulip://BOT_NAME@ORGANIZATION/TOKEN/STREAM", "STREAM"),
    "webex": ("wxteams://TOKEN", ""),
    "homeassistant": ("hassios://HOST/LONG_LIVED_TOKEN", "HOST"),
    "signal": ("signals://HOST/FROM_PHONE/TO_PHONE", "TO_PHONE"),
    "whatsapp": ("whatsapp://TOKEN@FROM_PHONE_ID/TO_PHONE", "TO_PHONE"),
    "sms": ("twilio://ACCOUNT_SID:AUTH_TOKEN@FROM_PHONE/TO_PHONE", "TO_PHONE"),
}
"""The address of each service in capitals what it needs, and which of these names the receiver; `/`
if the receiver follows the address, "" if the address implies it.
"""
_OTHER_NAMES: Final = {"tgram": "telegram", "phone": "sms", "twilio": "sms", "msteams": "teams", "gchat": "googlechat"}


def address_of(service: str, receiver: str = "") -> str:
    """Return the address of a service with what is still needed in capitals, "" for another word.

    Args:
        service: The name of the service as people write it.
        receiver: The topic, room, channel, host or number; "" for none.
    """
    name = re.sub(r"[ .-]", "", service.lower())
    address, place = _SERVICES.get(_OTHER_NAMES.get(name, name), ("", ""))
    given = re.sub(r"^https?://", "", receiver).strip("/")
    if place == "TO_PHONE":
        given = re.sub(r"[^+\d]", "", given) if given.startswith("+") else ""
    if not given or not place or ("://" in receiver and place != "HOST"):
        return address
    return f"{address}/{given}" if place == "/" else address.replace(place, given)
