"""Build the request for a page from its identity, with secrets inserted (R-19).

Secrets are decrypted for one request and not stored. A page without secrets needs no database
access.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tidings.errors import SecretError, UsageError
from tidings.fetching import address
from tidings.fetching.http import cookies
from tidings.language.write.printer import step_text
from tidings.model.observed.outcome import Failed, FetchRequest, FormLogin, PlayedStep, Validators
from tidings.model.secret import Secret
from tidings.model.watch.asking import FEWEST_TYPED, Value, secret_names
from tidings.record import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.page import PageIdentity
    from tidings.model.secret import Cookie
    from tidings.model.watch.asking import BrowserStep, Header, Login
    from tidings.storage.db.connection import Connection
    from tidings.storage.secrets import Opened, Vault

LOCAL = 1
"""The owner of shared pages, and of their requests."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """What a request has beyond its page's identity.

    `audited_at` is when the page last fully answered an unconditional request. A secret set later
    makes this request unconditional too, since validators belong to the answer for the old one.
    """

    now: Instant
    timeout: Duration | None = None
    validators: Validators = Validators()
    audited_at: Instant | None = None
    final_url: str = ""
    robots_ignored: bool = False
    screenshot: bool = False


class RequestBuilder:
    """Builds requests. `vault` has the secrets; files named without a folder are in `data`."""

    def __init__(self, vault: Vault, data: Path) -> None:
        self.vault = vault
        self._data = data

    @staticmethod
    def needs_secrets(identity: PageIdentity) -> bool:
        """Return whether requests for the page need a secret."""
        return bool(secret_names(identity))

    def plain(self, identity: PageIdentity, occasion: Occasion) -> FetchRequest:
        """Return the request for a page without secrets."""
        return self._build(identity, occasion, {})

    def with_secrets(self, c: Connection, identity: PageIdentity, occasion: Occasion) -> FetchRequest | Failed:
        """Return the request for a page, or why there is none: a secret that is not set, cannot be
        decrypted or does not fit.
        """
        opened: dict[str, Opened] = {}
        try:
            for name in secret_names(identity):
                found = self.vault.open(c, name, owner_id=identity.owner_id or LOCAL)
                if found is None:
                    if identity.owner_id in {None, LOCAL}:
                        return _make_refusal(f"the secret {name} is not set; `tidings secret set {name}` sets it")
                    return _make_refusal(
                        f"its owner has no secret {name} any more, and stores it on the screen Account"
                    )
                opened[name] = found
        except SecretError as error:
            return _make_refusal(str(error))
        if fault := _explain_misuse(identity, opened):
            return _make_refusal(fault)
        request = self._build(identity, occasion, opened)
        if request.cookies and not cookies.fitting(request.cookies, request.url, now=occasion.now):
            return _make_refusal(_nothing_fits(identity, opened, request.cookies, occasion.now))
        return request

    def _build(self, identity: PageIdentity, occasion: Occasion, opened: Mapping[str, Opened]) -> FetchRequest:
        def is_jar(header: Header) -> bool:
            return header.value.is_secret and opened[header.value.text].kind == "cookies"

        jars = [header.value.text for header in identity.headers if is_jar(header)]
        newest = max((secret.set_at for secret in opened.values()), default=0)
        is_new = bool(opened) and newest > (occasion.audited_at or 0)
        return FetchRequest(
            url=identity.url,
            method=identity.method,
            headers=tuple((h.name, _text(h.value, opened)) for h in identity.headers if not is_jar(h)),
            body=None if identity.body is None else _text(identity.body, opened),
            cookies=tuple(cookie for name in jars for cookie in cookies.read(opened[name].value.reveal())),
            timeout=occasion.timeout,
            trust=str(self._data / identity.trust) if identity.trust else "",
            steps=tuple(_play(step, opened) for step in identity.steps),
            login=None if identity.login is None else _login(identity.login, identity, opened),
            proxy="" if identity.proxy is None else _text(identity.proxy, opened),
            validators=Validators() if is_new or identity.render else occasion.validators,
            final_url=occasion.final_url,
            robots_ignored=occasion.robots_ignored,
            render=identity.render,
            screenshot=bool(identity.render) and occasion.screenshot,
        )


def _play(step: BrowserStep, opened: Mapping[str, Opened]) -> PlayedStep:
    place = f"{step.language}={step.place}" if step.place else ""
    value = "" if step.value is None else _text(step.value, opened)
    return PlayedStep(step_text(step), step.verb, place, value, step.wait)


def _login(login: Login, identity: PageIdentity, opened: Mapping[str, Opened]) -> FormLogin:
    password = opened[login.password]
    return FormLogin(
        url=address.rebuild(login.url),
        user=_text(login.user, opened),
        password=password.value,
        secret=password.name,
        set_at=password.set_at,
        owner_id=identity.owner_id or LOCAL,
        success=login.success,
        via=login.via,
    )


def _text(value: Value, opened: Mapping[str, Opened]) -> str | Secret:
    return opened[value.text].value if value.is_secret else value.text


def _explain_misuse(identity: PageIdentity, opened: Mapping[str, Opened]) -> str:
    """Return why a secret cannot be used where it stands, or an empty text."""
    for secret in opened.values():
        if secret.kind == "signing":
            return f"the secret {secret.name} signs webhooks and is never sent; use another name in the sentinel"
        if secret.kind in {"address", "naming"}:
            return f"the secret {secret.name} is the address of a receiver and is never sent to a page; use another name in the sentinel"
        if secret.kind == "hook":
            return (
                f"the secret {secret.name} is the token of an event and is never sent; use another name in the sentinel"
            )
    others = [header.value for header in identity.headers if header.name != "cookie"]
    if identity.login is not None:
        others += [identity.login.user, Value(identity.login.password, is_secret=True)]
    typed = [step.value for step in identity.steps]
    for value in [*others, *typed, identity.body, identity.proxy]:
        if value is not None and value.is_secret and opened[value.text].kind == "cookies":
            return f'the secret {value.text} contains cookies; use it only as Header "Cookie" secret "{value.text}"'
    for value in typed:
        if value is not None and value.is_secret and len(opened[value.text].value.reveal()) < FEWEST_TYPED:
            return (
                f"the secret {value.text} has fewer than {FEWEST_TYPED} characters: "
                "it could not be masked where the page shows it, and is not typed"
            )
    for secret in opened.values():
        if secret.kind == "cookies":
            try:
                cookies.read(secret.value.reveal())
            except UsageError as error:
                return f"the secret {secret.name} cannot be used: {error}"
    return ""


def _nothing_fits(identity: PageIdentity, opened: Mapping[str, Opened], jar: tuple[Cookie, ...], now: Instant) -> str:
    names = ", ".join(secret.name for secret in opened.values() if secret.kind == "cookies")
    over = sum(1 for cookie in jar if cookie.expires_at is not None and cookie.expires_at <= now)
    return (
        f"none of the {len(jar)} cookies of the secret {names} is for this page of {identity.host} ({over} have expired):"
        f" log in, export them again, then `tidings secret set {names} --cookies FILE`"
    )


def _make_refusal(reason: str) -> Failed:
    return Failed(kind="secret", reason=reason, requests=0)
