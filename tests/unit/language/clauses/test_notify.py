"""The clause Notify: receivers, rates and texts."""

import pytest

from tidings.language.build import console, notify, sentinel, words
from tidings.language.parser import parse
from tidings.language.write.printer import to_text
from tidings.language.yaml.form import load, to_yaml
from tidings.model.watch.notifying import Wording
from tidings.model.watch.sentinel import Sentinel

HEAD = "Create Sentinel s Using https://a.example/ Monitor words Notify by "


def wording(text):
    """Return the texts of messages in a Notify clause."""
    parsed = parse(HEAD + text)
    assert () == parsed.problems
    (statement,) = parsed.statements
    assert isinstance(statement, Sentinel)
    return statement.notify[0].wording


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("console", None),
        ('console with title "{{watch_title}}"', Wording("{{watch_title}}", "")),
        ('console daily quiet 20:00 to 07:00 max 3 per 1 hour with text "{{ diff }}"', Wording("", "{{ diff }}")),
        ('console with title "a" text "b" "" "\\"c\\""', Wording("a", 'b\n\n"c"')),
        (r'https://h.example/ with text "{\"n\": {{changes}}, \"t\": \"{{diff}}\"}"', Wording("", '{"n": {{changes}}, "t": "{{diff}}"}')),
        ('console with text "{not JSON, and no webhook}"', Wording("", "{not JSON, and no webhook}")),
    ],
)  # fmt: skip
def test_clause_has_the_texts_of_its_messages(text, expected):
    """They are a title, a text, or both; each is one line."""
    assert expected == wording(text)


@pytest.mark.parametrize(
    ("text", "place", "output"),
    [
        ('with title "{{watch_titel}}"', 1, 'no placeholder "watch_titel"'),
        ("with text \"{{ ''.__class__.__mro__ }}\"", 1, "no placeholder \"''.__class__.__mro__\""),  # H-075
        ("with text \"{{ 'a'*1000000000 }}\"", 1, "no placeholder \"'a'*1000000000\""),  # H-076
        ('with text "a {% if b %}"', 3, '"{% if b %}"" is not a placeholder'),
        ('with text "{{diff"', 1, '"{{diff"" is not a placeholder'),
        ('with text ""', 0, "no title and no text"),
        (f'with text "{"a" * 17_000}"', 0, "more than 16,384 characters"),
    ],
)
def test_invalid_template_is_refused(text, place, output):
    """The error has place and hint."""
    (problem,) = parse(f"{HEAD}console {text}").problems

    assert "E49" == problem.code
    assert len(f"{HEAD}console ") + text.index('"') + place + 1 == problem.column
    assert output in problem.message
    assert problem.hint


def test_invalid_json_template_is_refused():
    """A placeholder outside a string would break it at the first change."""
    (problem,) = parse(HEAD + r'https://h.example/ with text "{\"text\": {{diff}}}"').problems

    assert problem.message.startswith("the text begins like JSON, but is not valid JSON: Expecting value")


def test_stream_has_no_texts():
    """Programs read it."""
    (problem,) = parse(HEAD + 'stream with title "a"').problems

    assert ("E49", "messages to the stream cannot have a title or text of their own") == (problem.code, problem.message)


def test_every_form_has_the_texts():
    """The forms are sentence, YAML and Python."""
    built = sentinel(
        "s", "https://a.example/", monitor=words, notify=[notify(console, title="{{host}}", text="a\n\n{{diff}}\n")]
    )
    printed, yaml = to_text(built), to_yaml([built])

    assert 'Notify by console immediate with title "{{host}}" text "a" "" "{{diff}}"' in printed
    assert parse(printed).statements == load(yaml).statements == (built,)


@pytest.mark.parametrize("text", ["email mailto:ann@x.example", "Mailto:ann@x.example", "ann@x.example"])
def test_mail_address_may_be_a_link(text):
    """`mailto:` is not part of it."""
    (statement,) = parse(HEAD + text).statements
    assert isinstance(statement, Sentinel)

    assert "ann@x.example" == statement.notify[0].channels[0].address
