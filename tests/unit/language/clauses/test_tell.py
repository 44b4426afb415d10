"""Whom to notify, when, and in which words."""

import pytest

from tidings.language.build import console, sentinel, tell, words
from tidings.language.parser import parse
from tidings.language.write.printer import to_text
from tidings.language.yaml.form import load, to_yaml
from tidings.model.watch.sentinel import Sentinel
from tidings.model.watch.telling import Wording

HEAD = "Create Sentinel s Using https://a.example/ Monitor words Notify by "


def wording(text):
    """Return what a Notify clause says of the words of its messages."""
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
def test_a_clause_says_the_words_of_its_messages(text, expected):
    """A title, a text, or both; each text is a line."""
    assert expected == wording(text)


@pytest.mark.parametrize(
    ("text", "place", "said"),
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
def test_what_is_no_template_is_refused(text, place, said):
    """With what, where and how to mend it."""
    (problem,) = parse(f"{HEAD}console {text}").problems

    assert "E49" == problem.code
    assert len(f"{HEAD}console ") + text.index('"') + place + 1 == problem.column
    assert said in problem.message
    assert problem.hint


def test_json_that_is_none_is_refused():
    """A placeholder outside a string would break it with the first change."""
    (problem,) = parse(HEAD + r'https://h.example/ with text "{\"text\": {{diff}}}"').problems

    assert problem.message.startswith("the text begins like JSON, but is not valid JSON: Expecting value")


def test_records_have_no_words():
    """Programs read the stream."""
    (problem,) = parse(HEAD + 'stream with title "a"').problems

    assert ("E49", "messages to the stream cannot have a title or text of their own") == (problem.code, problem.message)


def test_every_form_says_the_words():
    """The printer, YAML and Python."""
    built = sentinel(
        "s", "https://a.example/", monitor=words, notify=[tell(console, title="{{host}}", text="a\n\n{{diff}}\n")]
    )
    printed, yaml = to_text(built), to_yaml([built])

    assert 'Notify by console immediate with title "{{host}}" text "a" "" "{{diff}}"' in printed
    assert parse(printed).statements == load(yaml).statements == (built,)


@pytest.mark.parametrize("text", ["email mailto:ann@x.example", "Mailto:ann@x.example", "ann@x.example"])
def test_a_mail_address_may_be_written_as_a_link(text):
    """`mailto:` is not part of the address."""
    (statement,) = parse(HEAD + text).statements
    assert isinstance(statement, Sentinel)

    assert "ann@x.example" == statement.notify[0].channels[0].address
