"""The login form of a page is found, with all that a browser sends along."""

from __future__ import annotations

import pytest

from tidings.document.structures.login_form import LoginPage, LoginQuestion, read

URL = "https://shop.example/in/login?next=1"


def page(html: str, success: str = "") -> LoginPage:
    """Return what a page says."""
    return read(LoginQuestion(html.encode(), "text/html; charset=utf-8", URL, success))


def test_a_form_is_sent_as_a_browser_sends_it():
    """Hidden fields, what is checked and chosen, the first button.

    Not what is off, unnamed or another button.
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


def test_a_form_for_new_accounts_is_not_the_one():
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
def test_a_page_without_such_a_form_has_none(html: str):
    """A password alone is no login: nobody knows whose."""
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
def test_a_captcha_is_seen(html: str):
    """Of the known makers, and what is called so."""
    assert page(html).has_captcha
    assert not page("<form><input name=u><input type=password name=p></form>").has_captcha


def test_what_a_logged_in_page_has_is_found():
    """A password field that is not shown asks nobody."""
    shown = page("<a class=logout>out</a><input type=password style='display: none'>", "a.logout")

    assert (True, False) == (shown.is_found, shown.asks_password)
    assert not page("<p>", "a.logout").is_found


def test_a_base_that_cannot_be_read_is_none():
    """The form is sent to the site of its page."""
    form = page("<base href='http://[::1/'><form action=/in><input name=u><input type=password name=p></form>").form

    assert form is not None
    assert form.action.endswith("/in")
