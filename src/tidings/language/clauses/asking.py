"""The clauses on how a page is requested.

Method, Header, Login, Render and so on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from lark import Token, Tree

from tidings.language.clauses.clause import (
    Clause,
    FaultFoundError,
    first,
    last,
    parts_of,
    read_positive_duration,
    unquote,
)
from tidings.language.clauses.patterns import read_selector
from tidings.language.verify import check_address
from tidings.model.interval import Duration, spell_duration
from tidings.model.url import split_url
from tidings.model.watch.asking import (
    LONGEST_TIMEOUT,
    LONGEST_WAIT,
    MOST_STEPS,
    Asking,
    BrowserStep,
    Header,
    Login,
    Render,
    StepVerb,
    Value,
)
from tidings.record import replace

Node = Tree[Token]

METHODS = ("GET", "POST", "PUT", "PATCH", "OPTIONS", "QUERY")
"""Methods that return a page; HEAD returns none and DELETE removes it."""

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,200}")
_SECRET = re.compile(r"[A-Za-z_][\w.\-]{0,99}")
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_UNTIL_SET = "pages that need it are in error until you set it"
_KEY = re.compile(r"(?:(?:Control|Shift|Alt|Meta)\+){0,3}(?:[A-Z][A-Za-z]{1,15}\d{0,2}|[!-~])")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def read_method(node: Node, clause: Clause) -> str:
    """Return the method in capitals; E41 if it returns no page."""
    token = last(node)
    method = unquote(token).upper()
    if method not in METHODS:
        raise clause.fail(token.start_pos, "E41", f"{token[:40]} fetches no page", expected=", ".join(METHODS))
    return method


def check_header_name(name: Token, clause: Clause) -> str:
    """Return the name of a header. Raise `FaultFoundError` (E41) for an invalid one."""
    text = unquote(name)
    if not _NAME.fullmatch(text):
        message = f"{name[:40]} is not a header name"
        raise clause.fail(name.start_pos, "E41", message, expected="letters, digits and -")
    return text


def read_header(node: Node, clause: Clause) -> Header:
    """Return a header; E41 for a name or value that cannot be sent (H-031)."""
    text = check_header_name(cast("Token", node.children[1]), clause)
    value = _value(node, clause)
    if not value.is_secret and (_CONTROL.search(value.text) or not value.text.isascii()):
        message = f"the value of header {text} has a line end, control or non-ASCII character"
        raise clause.fail(last(node).start_pos, "E41", message, hint="remove it")
    return Header(text, value)


def read_value(node: Node, clause: Clause) -> Value:
    """Return a text or the name of a secret."""
    return _value(node, clause)


def read_login(node: Node, clause: Clause) -> Login:
    """Return a login by a form; E22 for an address to which no password may be sent."""
    parts = parts_of(node)
    url = _of_form(cast("Token", parts["page_of_form"].children[0]), clause)
    user = _value(parts["user"], clause)
    if not user.text or _CONTROL.search(user.text):
        raise clause.fail(last(parts["user"]).start_pos, "E41", "this is not a user's name")
    at = next(i for i, child in enumerate(node.children) if isinstance(child, Token) and child.type == "SECRET")
    password = read_secret_name(cast("Token", node.children[at + 1]), clause, without=_UNTIL_SET)
    success = ""
    if "success" in parts:
        selector = read_selector(cast("Node", parts["success"].children[1]), clause)
        if selector.language != "css":
            place = first(cast("Node", parts["success"].children[1])).start_pos
            raise clause.fail(place, "E41", "a login is recognised by a css selector", expected='success css "…"')
        success = selector.text
    texts = cast("list[Token]", parts["via"].children[1:]) if "via" in parts else []
    return Login(url, user, password, success, tuple(_of_form(text, clause) for text in texts))


def _of_form(text: Token, clause: Clause) -> str:
    """Return an address to which a password may be sent: https, or this machine."""
    url = unquote(text) if text.type == "STRING" else str(text)
    if not check_address(clause.report, text.start_pos or 0, url):
        raise FaultFoundError
    if not url.lower().startswith("https:") and split_url(url).hostname not in _LOOPBACK:
        message = "a password is sent by https only"
        raise clause.fail(text.start_pos, "E22", message, expected="https://")
    return url


def read_proxy(node: Node, clause: Clause) -> Value:
    """Return the address of a proxy, or its secret; W14 warns that the proxy then resolves
    names.
    """
    token = last(node)
    value = _value(node, clause) if token.type == "STRING" else Value(str(token))
    if not value.is_secret:
        scheme, _, rest = value.text.partition("://")
        if scheme.lower() not in {"http", "https"}:
            raise clause.fail(token.start_pos, "E22", f'cannot ask a "{scheme}:" proxy', expected="http:// or https://")
        if "@" in rest.partition("/")[0]:
            message = "a proxy's address cannot contain a password"
            raise clause.fail(
                token.start_pos, "E41", message, hint='store the whole address as a secret: Proxy secret "NAME"'
            )
    message = (
        "the proxy resolves names and must itself refuse private networks: Tidings checks only the proxy's own address"
    )
    clause.report.warn(cast("Token", node.children[0]).start_pos or 0, "W14", message)
    return value


def read_trust(node: Node, clause: Clause) -> str:
    """Return the path of a PEM file."""
    token = last(node)
    path = unquote(token)
    if not path.strip() or _CONTROL.search(path):
        raise clause.fail(token.start_pos, "E41", "there is no file name", hint='Trust "ca.pem"')
    return path


def read_timeout(node: Node, clause: Clause) -> Duration:
    """Return the timeout of the whole request."""
    duration = read_positive_duration(cast("Node", node.children[1]), clause)
    if duration > LONGEST_TIMEOUT:
        place = cast("Token", cast("Node", node.children[1]).children[0])
        expected = f"at most {spell_duration(LONGEST_TIMEOUT)}"
        message = f"a timeout of {spell_duration(duration)} is too long"
        raise clause.fail(place.start_pos, "E14", message, expected=expected)
    return duration


def read_frames(node: Node, clause: Clause) -> int:
    """Return how deep frames are followed: 1 is the page alone, 2 the page and its frames."""
    number = last(node)
    if number not in {"1", "2"}:
        hint = "Frames 2 watches the page with its frames and iframes, Frames 1 the page alone"
        raise clause.fail(number.start_pos, "E41", f"Frames {number[:20]} makes no sense", expected="1 or 2", hint=hint)
    return int(number)


def read_render(node: Node, clause: Clause) -> Render:
    """Return `browser`, whether a picture of each version is stored, and the steps."""
    words = {child.type for child in node.children if isinstance(child, Token)}
    found = parts_of(node).get("browser_steps")
    nodes = [] if found is None else [child for child in found.children if isinstance(child, Tree)]
    if len(nodes) > MOST_STEPS:
        place = first(nodes[MOST_STEPS]).start_pos
        raise clause.fail(place, "E41", f"there are {len(nodes)} steps", expected=f"at most {MOST_STEPS}")
    return "browser", "SCREENSHOT" in words, tuple(_step(step, clause) for step in nodes)


def _step(node: Node, clause: Clause) -> BrowserStep:
    """Return one step; E41 for an impossible one."""
    head = cast("Token", node.children[0])
    verb = cast("StepVerb", head.type.lower())
    parts = parts_of(node)
    language, place = "", ""
    if "spot" in parts:
        text = last(parts["spot"])
        words = [child.type.lower() for child in parts["spot"].children if isinstance(child, Token)]
        language, place = words[0] if len(words) > 1 else "css", unquote(text)
        if not place.strip() or _CONTROL.search(place):
            raise clause.fail(text.start_pos, "E41", "this is not a place on a page", hint=f'{verb} css "#more"')
    if verb in {"fill", "select"}:
        return BrowserStep(verb, language, place, _value(node, clause))
    if verb == "press":
        key = next(child for child in node.children if isinstance(child, Token) and child.type == "STRING")
        if not _KEY.fullmatch(unquote(key)):
            raise clause.fail(key.start_pos, "E41", f"{key[:40]} is not a key", expected='such as "Enter" or "Tab"')
        return BrowserStep(verb, language, place, Value(unquote(key)))
    if verb == "wait" and "duration" in parts:
        duration = read_positive_duration(parts["duration"], clause)
        if duration > LONGEST_WAIT:
            expected = f"at most {spell_duration(LONGEST_WAIT)}"
            raise clause.fail(first(parts["duration"]).start_pos, "E14", "a step waits too long", expected=expected)
        return BrowserStep(verb, wait=duration)
    return BrowserStep(verb, language, place)


def read_robots(node: Node, clause: Clause) -> str:
    """Return why robots.txt is ignored; W15 explains the consequences."""
    token = last(node)
    reason = " ".join(unquote(token).split())
    if len(reason) < 3:
        raise clause.fail(
            token.start_pos, "E41", "there is no reason", hint='Robots ignored because "this site is mine"'
        )
    message = "robots.txt is not obeyed on these pages; the reason is stored with each check"
    clause.report.warn(cast("Token", node.children[0]).start_pos or 0, "W15", message, hint="only on sites of your own")
    return reason


def _value(node: Node, clause: Clause) -> Value:
    token = last(node)
    text = unquote(token)
    is_secret = any(isinstance(child, Token) and child.type == "SECRET" for child in node.children)
    if is_secret:
        text = read_secret_name(token, clause, without=_UNTIL_SET)
    return Value(text, is_secret)


def read_secret_name(token: Token, clause: Clause, *, without: str) -> str:
    """Return the name of a secret; E41 for an invalid one. If it is not set, W9 names what is
    `without` it.
    """
    text = unquote(token)
    if not _SECRET.fullmatch(text):
        message = f"{token[:40]} is not the name of a secret"
        raise clause.fail(
            token.start_pos, "E41", message, expected="a name such as api-token", hint="tidings secret list"
        )
    if clause.secrets is not None and text not in clause.secrets:
        message = f'the secret "{text}" is not set yet: {without}'
        clause.warn(token.start_pos, "W9", message, hint=f"tidings secret set {text}")
    return text


ASKING_READERS: Mapping[str, Callable[[Node, Any], Any]] = {
    "method": read_method,
    "header": read_header,
    "body": read_value,
    "login": read_login,
    "timeout": read_timeout,
    "trust": read_trust,
    "proxy": read_proxy,
    "frames": read_frames,
    "render": read_render,
    "robots": read_robots,
}
"""The clauses that form a sentinel's `asking`."""


_PLAIN = ("method", "body", "login", "timeout", "trust", "proxy", "frames")
"""Those whose value is a field of `Asking` of the same name."""


def asking(base: Asking, values: Mapping[str, Any]) -> Asking:
    """Return `base` with the values of the clauses; a Header clause replaces all headers. A body
    without a method is sent by POST.
    """
    given = {rule: values[rule] for rule in _PLAIN if rule in values}
    if "header" in values:
        given["headers"] = values["header"]
    if "render" in values:
        given["render"], given["screenshot"], given["steps"] = values["render"]
    if "robots" in values:
        given["robots_ignored"] = values["robots"]
    if "body" in values and "method" not in values and base.method == "GET":
        given["method"] = "POST"
    return replace(base, **given)
