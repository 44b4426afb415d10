"""What Apprise says of an address before anything is sent: its library is imported with the first such address, not before."""

from __future__ import annotations

import logging
import warnings

from tidings.errors import AddressError
from tidings.notification.addresses import limit_of


def check_service(address: str) -> None:
    """Raise `AddressError` with the forms of its service for an Apprise address that the service does not understand.

    The text repeats nothing of the address but its scheme. Nothing is sent: whether somebody listens only a message can tell.
    """
    limit_of(address)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its modules are imported now, and say what they use of older Pythons
        import apprise  # 0.2 s and 16 MB: only who gives such an address waits for it
        from apprise.manager_plugins import NotificationManager

        _hush()
        asset = apprise.AppriseAsset(async_mode=False, secure_logging=True)
        if apprise.Apprise.instantiate(address, asset=asset) is not None:
            return
    scheme = address.partition("://")[0].lower()
    plugin = NotificationManager()[scheme]  # type: ignore[no-untyped-call] # a library without types
    forms = ", ".join(form.replace("{schema}", scheme) for form in plugin.templates[:MOST_FORMS])
    message = (
        f"{plugin.service_name} does not understand this {scheme}:// address; it has the form {forms}"
        f" (https://appriseit.com/services/ says where to get each part)"
    )
    raise AddressError(message)


def _hush() -> None:
    """Keep what Apprise logs from every log: at its most talkative it writes whole addresses."""
    log = logging.getLogger("apprise")
    log.propagate = False
    if not log.handlers:
        log.addHandler(logging.NullHandler())


MOST_FORMS = 2
