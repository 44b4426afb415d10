"""The login form of a page, with all that a browser would send."""

from __future__ import annotations

import pytest

from tidings.document.structures.login_form import LoginPage, LoginQuestion, read

URL = "https://shop.example/in/login?next=1"


def page(html: str, success: str = "") -> LoginPage:
    """Return a page with this content."""
    return read(LoginQuestion(html.encode(), "text/html; charset=utf-8", URL, success))


def test_form_is_sent_as_browsers_do():
    """It has hidden fields, checked and selected values, and the first button, but no disabled or
    unnamed ones.
    """
    form = page(
        """<form action="../session" method="Post">
        <input type=hidden name=token value="a&amp;b"><input name=mail><input type=password name=pw>
        <input type=checkbox name=stay checked><input type=checkbox name=news value=1>
        <select name=lang><option value=de>D<option value=en selected>E</select><input name=off disabled value=x>
        <input type=submit name=go value=Enter><button name=other value=2>O</button></form>"""
    ).form

    assert form is not None
    assert ("https://shop.example/session", "POST", "mail", "pw") == (
        form.action,
        form.method,
        form.user,
        form.password,
    )
    assert (("token", "a&b"), ("stay", "on"), ("lang", "en"), ("go", "Enter")) == form.fields


def test_form_for_new_accounts_is_no_login():
    """It asks for the password twice."""
    new = "<form action=/new><input name=user><input type=password name=a><input type=password name=b></form>"
    form = page(
        f"<form action=/find><input name=q></form>{new}<form action=/in><input name=u><input type=password name=p></form>"
    ).form

    assert form is not None
    assert "https://shop.example/in" == form.action


@pytest.mark.parametrize(
    "html",
    [
        "<p>hello</p>",
        "<input type=password name=p>",
        "<form><input type=password name=p></form>",
        "<form><input name=u></form>",
        "<form action='http://[::1/x'><input name=u><input type=password name=p></form>",
    ],
)
def test_page_without_a_user_field_has_no_login(html: str):
    """A password alone is none."""
    assert page(html).form is None


@pytest.mark.parametrize(
    "html",
    [
        "<div class=g-recaptcha>",
        '<iframe src="https://x.example/Captcha">',
        "<div class=cf-turnstile>",
        "<input name=captcha_code>",
    ],
)
def test_captcha_is_recognized(html: str):
    """It is from a known maker, or has the name."""
    assert page(html).has_captcha
    assert not page("<form><input name=u><input type=password name=p></form>").has_captcha


def test_logged_in_page_is_recognized():
    """A hidden password field asks nobody."""
    shown = page("<a class=logout>out</a><input type=password style='display: none'>", "a.logout")

    assert (True, False) == (shown.is_found, shown.asks_password)
    assert not page("<p>", "a.logout").is_found


def test_unreadable_base_is_ignored():
    """The form is sent to the site of its page."""
    form = page("<base href='http://[::1/'><form action=/in><input name=u><input type=password name=p></form>").form

    assert form is not None
    assert form.action.endswith("/in")
