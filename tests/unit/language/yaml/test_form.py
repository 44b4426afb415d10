"""The YAML form accepts what the sentence form accepts, and reports faults at their place."""

import random

import pytest
from hypothesis import given, settings

from tests.strategies_language import (
    ACCEPTED,
    EXAMPLES,
    FURTHER,
    KNOWN,
    alterations,
    commands,
    event_statements,
    group_defaults,
    injure,
    sentinels,
)
from tidings.language.parser import parse, read
from tidings.language.verify import KnownSentinel
from tidings.language.yaml.form import load, to_yaml
from tidings.model.watch.sentinel import Interest, Sentinel, Watched

NOW = 1_700_000_000_000_000
ALL = {
    name: KnownSentinel(Sentinel(name=name, pages=(Watched("https://k.example/"),), monitor=Interest("any")))
    for name in ("home0", "s0", "s1", "course", "news", "fx")
}
STUDY = """
- name: oil
  pages: [{url: https://blog.example/feed, as: A}, {url: https://news.example/breaking, as: B}]
  monitor: {type: items, dir: inserted, of: A, where: {contains: oil}}
  then: [{within: 600, check: [B]}]            # seconds; "10 min" is accepted too
  fetch: {every: 180, slack: 120}
  notify: [{by: [dashboard], when: immediate}]
"""


def test_example_of_the_study_is_read():
    """It has the meaning of its sentence (sentinels §1.7)."""
    sentence = (
        "Create Sentinel oil Using https://blog.example/feed As A, https://news.example/breaking As B"
        ' Monitor items inserted of A where contains "oil" Then within 10 min check B Fetch every 3 min slack 2 min'
        " Notify by dashboard immediate"
    )

    assert (read(sentence), ()) == ((loaded := load(STUDY)).statements, loaded.problems)


@pytest.mark.parametrize(
    "text", [*EXAMPLES, *ACCEPTED, *FURTHER], ids=range(len(EXAMPLES) + len(ACCEPTED) + len(FURTHER))
)
def test_each_example_is_the_same_in_yaml(text):
    """The YAML written for a text has its meaning."""
    others = {name: known for name, known in ALL.items() if f"Create Sentinel {name} " not in text}
    parsed = parse(text, known=others.get, now=NOW)
    loaded = load(to_yaml(parsed.statements), known=others.get, now=NOW)

    assert () == parsed.problems
    assert (parsed.statements, ()) == (loaded.statements, loaded.problems)


@settings(max_examples=25, deadline=None)
@given(sentinels() | alterations | group_defaults | commands | event_statements)
def test_written_yaml_is_read_as_the_same(statement):
    """Its YAML is the same again, too."""
    text = to_yaml([statement])
    (again,) = load(text, now=NOW).statements

    assert (statement, text) == (again, to_yaml([again]))


@pytest.mark.parametrize("letter", ["\0", "\t", "\r", "\x1b", "\x85", "\ufeff"])
def test_unusual_characters_are_the_same_in_yaml(letter):
    """It accepts all that the sentence form accepts in a text."""
    (sentinel,) = read(
        f'Create Sentinel s Using https://x.example Monitor phrase "a{letter}b" Exclude regex "x{letter}"'
    )

    assert (sentinel,) == load(to_yaml([sentinel])).statements


def test_each_clause_may_be_a_sentence():
    """It replaces its keys."""
    text = """
    name: a
    pages: https://x.example
    monitor: links inserted AND NOT images
    exclude: 'css "footer"'
    fetch: every 3 min slack 2 min
    notify: by console every 1 week or 10 changes
    during: mon-fri 08:00 to 18:00
    to: now + 7 day
    """
    sentence = (
        'Create Sentinel a Using https://x.example Monitor links inserted AND NOT images Exclude css "footer"'
        " Fetch every 3 min slack 2 min Notify by console every 1 week or 10 changes During mon-fri 08:00 to 18:00 To now + 7 day"
    )

    assert read(sentence, now=NOW) == load(text, now=NOW).statements


def test_first_guesses_of_keys_are_read():
    """`url`, `every`, `css`, `ignore` and similar ones mean their clauses."""
    text = """
    - name: s
      url: https://x.example
      css: .price
      every: 1h
      monitor: price below 5
      ignore: [.ads, posted by, "cookies"]
      tag: shop
      until: 2027-01-01
    - name: t
      urls: [https://x.example, https://y.example]
      monitor: text
      at: ["06:00", "18:00"]
      header: [{name: Accept, value: text/html}]
    """
    sentence = """Create Sentinel s Using https://x.example Monitor price where value < 5 Select css ".price" Exclude css ".ads"
      Exclude regex "posted by" Exclude words <cookies> Fetch every 1 hour To 2027-01-01 Tags shop
    Create Sentinel t Using https://x.example, https://y.example Monitor all words Fetch at 06:00, 18:00 daily
      Header "Accept" "text/html" """
    loaded = load(text, now=NOW)

    assert () == loaded.problems
    assert read(sentence, now=NOW) == loaded.statements == load(to_yaml(loaded.statements), now=NOW).statements


def test_page_without_a_name_has_a_suggestion():
    """No name is chosen silently."""
    (problem,) = load("- url: https://www.shop.example/a\n  monitor: price\n", now=NOW).problems

    assert "write name: shop" in str(problem)


RECEIVERS = {
    "a list": "[{secret: chat}, {webhook: {secret: x}}, console]",
    "words": """['secret "chat"', 'webhook secret "x"', console]""",
    "mixed": """[{secret: chat}, 'webhook secret "x"', console]""",
}


@pytest.mark.parametrize("by", RECEIVERS.values(), ids=RECEIVERS)
def test_secret_receiver_is_a_mapping_or_a_sentence(by):
    """This is so in Notify and in Errors."""
    text = f"name: a\npages: https://x.example\nmonitor: links\nnotify: {{by: {by}}}\nerrors: {by}\n"
    sentence = (
        'Create Sentinel a Using https://x.example Monitor links Notify By secret "chat", webhook secret "x", console'
        ' Errors To secret "chat", webhook secret "x", console'
    )

    assert read(sentence, now=NOW) == load(text, now=NOW).statements


@pytest.mark.parametrize(
    "text",
    ["a\x85b", "a\u2028b", "\ufeffa", "no", "1:30", "null", "~", "- a", "a: b", "#a", "'a'", "é 日本", "a " * 200],
)
def test_texts_stay_texts_in_yaml(text):
    """Line ends of Unicode, truth values, times, nulls and long texts do."""
    sentinel = read(f'Create Sentinel a Using https://x.example Monitor regex "{text}" Body "{text}"')

    assert (sentinel, ()) == ((loaded := load(to_yaml(sentinel))).statements, loaded.problems)


HEAD = "- name: a\n  pages: [https://x.example]\n"
FAULTS = [
    ("- name: a\n  pgae: https://x.example\n", '2:3: E44 unknown key "pgae"; expected name, pages'),
    (f"{HEAD}  monitor: all imges\n", '3:12: E10 found "imges" after "all"; expected words, links or images'),
    (f"{HEAD}  monitor: {{type: links}}\n  fetch: 2\n", '4:10: E05 "2" has no unit'),
    (f"{HEAD}  monitor: {{type: links}}\n  fetch: {{evry: 2}}\n", '4:11: E44 unknown key "evry"'),
    (f"{HEAD}  monitor: {{type: words, where: {{value: < 3}}}}\n", '3:41: E28 "value" needs a number'),
    (f"{HEAD}  fetch: 2 day\n", '1:9: E25 sentinel "a" has no Monitor clause'),
    ("- name: a\n  monitor: links\n", "1:3: E25 a sentinel has pages, or a sentinel that it is made from"),
    ("- name: a\n  name: b\n", '2:3: E23 second key "name"'),
    ("- {monitor: links}\n", "1:3: E25 a statement has one of name, alter"),
    (f"{HEAD}  monitor: links; Drop s0\n", '3:12: E03 found ";"'),
    (f"{HEAD}  monitor: links Fetch 2 day\n", '3:12: E03 found "Fetch"'),
    ("- name: [a\n", "2:1: E43 this is not YAML"),
    ("- &a {name: b}\n- *a\n", "1:3: E43 anchors and aliases are not accepted"),
    (
        f"{HEAD}  monitor: {{type: links}}\n  notify: {{by: [{{secret: a, webhook: https://x.example}}]}}\n",
        "4:17: E45 a channel has one key; expected {secret: NAME} or {webhook: {secret: NAME}}",
    ),
    (
        f"{HEAD}  monitor: {{type: links}}\n  errors: [{{email: a@x.example}}]\n",
        '4:13: E44 unknown key "email"; expected webhook or secret',
    ),
    ("nothing\n", '1:1: E45 found "nothing"'),
    (f"{HEAD}  monitor: {{or: [links], type: images}}\n", '3:12: E45 "or" cannot have other keys beside it'),
    (f"{HEAD}  url: https://x.example\n  monitor: links\n", '3:8: E23 "url" repeats "pages"'),
    ("- disable: nobody\n", '1:12: E20 there is no sentinel "nobody"'),
    ("- {event: e, using: webhook, fetch: 1 h}\n", "1:3: E45 event takes using and nothing else"),
    ("- {event: e, using: webhook, pages: [https://a.example]}\n", '1:37: E45 "pages" cannot be used with "event"'),
    ("- {alter: s0, fresh: true, tags: [x]}\n", '1:22: E45 "fresh" cannot be used with "alter"'),
    ("- {drop: s0, using: s1}\n", '1:21: E45 "using" cannot be used with "drop"'),
    (f"{HEAD}  monitor: links\n  fresh: true\n", '4:10: E45 "fresh" cannot be used with "name"'),
    ("- {enable: s0, fetch: 1 h}\n", "1:3: E45 enable takes a name and nothing else"),
    (f'{HEAD}  monitor: {{type: phrases, list: "a\\nb"}}\n', "3:34: E45 a text of the language must be on one line"),
    (f"{HEAD}  monitor: links\n  headers: {{X: 1}}\n", "4:12: E45 found a mapping"),
]


@pytest.mark.parametrize(("text", "line"), FAULTS, ids=range(len(FAULTS)))
def test_fault_has_its_place_in_the_yaml(text, line):
    """It has line and column of the wrong value, and the words of the sentence form."""
    loaded = load(text, known=KNOWN.get, names=KNOWN, now=NOW)

    assert [line] == [str(problem)[: len(line)] for problem in loaded.problems]
    assert () == loaded.statements


def test_several_faults_are_reported_at_once():
    """There is one for each clause, at most ten."""
    text = "".join(f"- name: a{n}\n  pages: x.example\n  monitor: lnks\n" for n in range(9))

    assert ["E22", "E10"] * 5 == [problem.code for problem in load(text).problems]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "[" * 5_000,
        "{a: " * 500,
        "- " * 3_000,
        "a: b: c",
        "\t- x",
        "- !!python/object:os.system {}",
        "x" * 1_000_001,
        "\x00",
    ],
    ids=range(10),
)
def test_absurd_texts_are_refused(text):
    """Nothing is raised, and what is no list of statements has none."""
    loaded = load(text)

    assert () == loaded.statements
    assert bool(loaded.problems) == bool(text.strip() and not text.startswith("#"))


def test_damaged_yaml_raises_nothing():
    """None of 300 damaged texts does, and accepted ones can be written and read again."""
    rng = random.Random(20_261_128)
    texts = [to_yaml(parse(text, known=ALL.get, now=NOW).statements) for text in (*EXAMPLES, *ACCEPTED, *FURTHER)]
    accepted = 0
    for _ in range(300):
        text = injure(rng.choice(texts), rng)
        loaded = load(text, known=KNOWN.get, now=NOW)
        if loaded.statements and not loaded.problems:
            accepted += 1

            assert loaded.statements == load(to_yaml(loaded.statements), known=KNOWN.get, now=NOW).statements, text

    assert accepted > 5


def test_null_none_and_an_empty_list_remove_a_clause():
    """`exclude: []` is `Exclude none`."""
    (base,) = read(
        'Create Sentinel b Using https://x.example Monitor links Exclude css "a" Errors to console To 2031-01-01'
    )
    assert isinstance(base, Sentinel)
    (child,) = load(
        "{name: c, using: b, exclude: [], errors: none, to: null}", known={"b": KnownSentinel(base)}.get
    ).statements
    assert isinstance(child, Sentinel)

    assert ((), (), None) == (child.exclude, child.errors, child.end)
