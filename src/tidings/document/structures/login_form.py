"""The login form of a page, and whether a page shows that the user is logged in.

`read` is a job: the parent, which parses nothing, names it, and it runs where content is parsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from tidings.model.url import join_url
from tidings.record import dataclass

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MOST_FIELDS: Final = 200
_CAPTCHAS: Final = (
    '[class*="captcha" i], [id*="captcha" i], [name*="captcha" i], iframe[src*="captcha" i],'
    ' script[src*="captcha" i], .cf-turnstile, script[src*="turnstile" i]'
)
_USER_TYPES: Final = frozenset({"", "text", "email", "tel", "number"})
_NOT_SENT: Final = frozenset({"button", "reset", "image", "file", "submit"})
_USER_WORDS: Final = ("user", "login", "email", "mail", "name", "account")


@dataclass(frozen=True, slots=True)
class LoginQuestion:
    """A page: its bytes, its Content-Type, its address, and the selector to search for."""

    body: bytes
    content_type: str | None
    url: str
    success: str = ""


@dataclass(frozen=True, slots=True)
class LoginForm:
    """A form with one password: its address and method, the names of its fields for user and
    password.

    `fields` are all others with their values, including a CSRF token.
    """

    action: str
    method: str
    user: str
    password: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class LoginPage:
    """The result: the form, None for none; whether the selector matches; whether there is a
    captcha; why the page could not be read, empty if it could.
    """

    form: LoginForm | None = None
    asks_password: bool = False
    is_found: bool = False
    has_captcha: bool = False
    problem: str = ""


def read(question: LoginQuestion) -> LoginPage:
    """Return the login form of a page and the related facts."""
    # the parent imports this module for the job's name, and parses nothing
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    from tidings.document.html.prescan import too_hard
    from tidings.document.select.css import for_lexbor
    from tidings.document.text.charset import decode

    source = decode(question.body, question.content_type).text.encode("utf-8", "replace")
    if problem := too_hard(source):
        return LoginPage(problem=problem)
    tree = LexborHTMLParser(source)
    try:
        is_found = bool(question.success) and tree.css_first(for_lexbor(question.success)) is not None
    except SelectolaxError:
        return LoginPage(problem=f"the selector {question.success} cannot be read")
    base = tree.css_first("base[href]")
    form = _form(tree, (join_url(question.url, _attribute(base, "href")) if base else "") or question.url)
    return LoginPage(
        form=form,
        asks_password=any(map(_is_shown, tree.css("input[type=password i]"))),
        is_found=is_found,
        has_captcha=tree.css_first(_CAPTCHAS) is not None,
    )


def _form(tree: LexborHTMLParser, base: str) -> LoginForm | None:
    """Return the first form with exactly one password field; one with two is for registration."""
    forms = [form for form in tree.css("form") if len(form.css("input[type=password i]")) == 1]
    return next(filter(None, (_read_form(form, base) for form in forms)), None)


def _read_form(form: LexborNode, base: str) -> LoginForm | None:
    inputs = list(form.css("input, button, select, textarea"))[:MOST_FIELDS]
    password = next(one for one in form.css("input[type=password i]"))
    name = _attribute(password, "name")
    user = _user_field(inputs)
    if not name or not user:
        return None
    if not (action := join_url(base, _attribute(form, "action").strip())):
        return None
    others = tuple(pair for pair in _list_sent(inputs) if pair[0] not in {name, user})
    return LoginForm(
        action=action,
        method=(_attribute(form, "method") or "get").upper(),
        user=user,
        password=name,
        fields=others,
    )


def _user_field(inputs: Sequence[LexborNode]) -> str:
    """Return the name of the field for the user.

    The last text field before the password, or one with a typical name.
    """
    found = ""
    for one in inputs:
        kind = _attribute(one, "type").lower()
        if kind == "password":
            break
        name = _attribute(one, "name")
        if one.tag == "input" and kind in _USER_TYPES and name and _is_shown(one):
            is_called = any(word in name.lower() for word in _USER_WORDS)
            found = name if is_called or not found else found
    return found


def _list_sent(inputs: Sequence[LexborNode]) -> Iterator[tuple[str, str]]:
    """Yield the other fields that a browser sends, with the first named button."""
    is_pressed = False
    for one in inputs:
        name, kind = _attribute(one, "name"), _attribute(one, "type").lower()
        if not name or "disabled" in one.attributes:
            continue
        if one.tag == "button" or kind == "submit":
            if not is_pressed and kind in {"", "submit"}:
                is_pressed = True
                yield name, _attribute(one, "value")
        elif one.tag == "select":
            chosen = one.css_first("option[selected]") or one.css_first("option")
            if chosen is not None:
                yield name, chosen.attributes.get("value") or chosen.text(strip=True)
        elif one.tag == "textarea":
            yield name, one.text()
        elif kind in {"checkbox", "radio"}:
            if "checked" in one.attributes:
                yield name, _attribute(one, "value") or "on"
        elif kind not in _NOT_SENT:
            yield name, _attribute(one, "value")


def _is_shown(node: LexborNode) -> bool:
    style = _attribute(node, "style").replace(" ", "").lower()
    return "hidden" not in node.attributes and "display:none" not in style


def _attribute(node: Any, name: str) -> str:
    return str(node.attributes.get(name) or "")
