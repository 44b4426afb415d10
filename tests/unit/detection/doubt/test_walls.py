"""The rules that recognize walls, log-ins and errors."""

import pytest

from tidings.detection.doubt.walls import RuleInput, find_wall, fold, redirects, rules, size_of

LANGUAGES = frozenset("en de fr es pt it nl pl ru uk tr ar he hi zh ja ko".split())


def find_kind(title="", text="", *, head="", usual=None, usual_title="", is_error=False, words=None):
    chunks = text.split()
    count = len(chunks) if words is None else words
    return RuleInput(
        head=head.encode(),
        title=title,
        chunks=chunks,
        words=count,
        size=count,
        usual_words=usual,
        usual_title=usual_title,
        is_error=is_error,
    )


def kind(seen):
    found = find_wall(seen)
    return found[0] if found else ""


def test_every_rule_has_all_its_parts():
    """They are a kind, a name that fits after "this looks like", a limit, and something to find."""
    for rule in rules():
        assert rule.kind in {"blocked", "soft_error", "login"}, rule
        assert rule.name.startswith(("a ", "an ")), rule
        assert 0 <= rule.first_words <= rule.most_words <= 400, rule
        assert rule.markup or rule.title or rule.text, rule


def test_no_page_is_a_login_at_a_first_check():
    """Somebody may want to watch a log-in page; facts.login warns."""
    assert {0} == {rule.first_words for rule in rules() if rule.kind == "login"}


def test_rules_with_words_have_every_language():
    """A rule that is not of one maker has phrases in each language, or is marked as English only."""
    spoken = 0
    for row in _rows():
        for group in ("title", "text"):
            languages = frozenset(row.get(group, {})) - {"any"}
            if len(languages) > 1 and row["name"] != "a consent page of Google or Yahoo":
                spoken += 1

                assert languages >= LANGUAGES, (row["name"], LANGUAGES - languages)
    assert spoken >= 10


def _rows():
    from tidings.detection.doubt import walls

    return walls._file()["rule"]


def test_phrases_are_long_enough_and_in_their_compared_form():
    """Text phrases have at least three letters; markup is in lower case, as heads are compared."""
    for rule in rules():
        assert all(len(phrase) >= 3 for phrase in rule.text), rule
        assert all(phrase == phrase.lower() and len(phrase) >= 6 for phrase in rule.markup), rule
        assert all(phrase.strip("=") for phrase in rule.title), rule


def test_each_phrase_is_found_alone():
    """On a small page it leads to a rule of the same kind."""
    for rule in rules():
        title = min(rule.title, default="").removeprefix("=")
        head = min(rule.markup, default="")
        for phrase in rule.text or {""}:
            seen = find_kind(title, f"(( {phrase}", head=head, usual=1_000, usual_title="Shop", words=5)

            assert rule.kind == kind(seen), (rule.name, phrase)
        text = min(rule.text, default="")
        for phrase in rule.title:
            seen = find_kind(phrase.removeprefix("="), text, head=head, usual=1_000, usual_title="Shop", words=5)

            assert rule.kind == kind(seen), (rule.name, phrase)
        for phrase in rule.markup:
            seen = find_kind(title, text, head=f"<p {phrase} x", usual=1_000, usual_title="Shop", words=3)

            assert rule.kind == kind(seen), (rule.name, phrase)


@pytest.mark.parametrize(
    "title",
    [
        "Page not found",
        "PAGE NOT FOUND!",
        "Page not found – Example",
        "Example | Page  not found",
        "404: Page Not Found",
        "“Page not found”",
    ],
)
def test_title_matches_as_a_whole_or_as_a_part(title):
    """Case, quotes and marks do not matter; site names come before or after."""
    assert "soft_error" == kind(find_kind(title, "Home News Contact"))


@pytest.mark.parametrize(
    "title", ["How to mend a page not found error", "Page not found in your shop? Read on", "Not found in space", ""]
)
def test_phrase_inside_a_title_is_no_evidence(title):
    """It is part of another sentence."""
    assert "" == kind(find_kind(title, "Home News Contact"))


def test_short_phrase_must_be_the_whole_title():
    """`404` alone is an error, `Peugeot | 404` is a car."""
    assert "soft_error" == kind(find_kind("404", "Home"))
    assert "" == kind(find_kind("Peugeot | 404", "Home"))


def test_words_count_only_on_small_pages():
    """The limit of a rule is in words of the page; far below the usual number it is three times as
    high.
    """
    text = "Page not found"

    assert "soft_error" == kind(find_kind("", text, words=60))
    assert "" == kind(find_kind("", text, words=61))
    assert "soft_error" == kind(find_kind("", text, words=180, usual=1_000))
    assert "" == kind(find_kind("", text, words=181, usual=1_000))
    assert "" == kind(find_kind("", text, words=61, usual=150))


def test_words_of_the_usual_page_are_no_evidence():
    """A status page of 40 words may say "temporarily unavailable": its title and length are as
    before.
    """
    text = "The printer service is temporarily unavailable"

    assert "" == kind(find_kind("Status", text, words=40, usual=42, usual_title="Status"))
    assert "" == kind(find_kind("1 problem – Status", text, words=40, usual=42, usual_title="Well – Status"))
    assert "" == kind(find_kind("", text, words=40, usual=42, usual_title=""))
    assert "soft_error" == kind(find_kind("Error", text, words=40, usual=42, usual_title="Status"))
    assert "soft_error" == kind(find_kind("Status", text, words=20, usual=42, usual_title="Status"))


def test_usual_title_is_no_evidence():
    """A page "Maintenance – Works" is not under maintenance."""
    assert "" == kind(
        find_kind("Maintenance – Works", "Trains run", words=20, usual=100, usual_title="Maintenance – Works")
    )
    assert "soft_error" == kind(
        find_kind("Maintenance – Works", "Trains run", words=20, usual=100, usual_title="Works")
    )


def test_markup_of_a_maker_counts_with_every_title():
    """A challenge under the page's own title is one, also with an error status, on a page of any
    length.
    """
    head = "<script>window._cf_chl_opt={}"

    assert "blocked" == kind(find_kind("Shop", "", head=head, usual=500, usual_title="Shop"))
    assert "" == kind(find_kind("Shop", "", head=head, words=2_000, usual=500, usual_title="Shop"))
    assert "blocked" == kind(find_kind("Shop", "", head=head, words=2_000, is_error=True))


def test_reason_has_the_rule_and_the_evidence():
    """People read what was found and where."""
    found = find_wall(find_kind("Just a moment...", "Checking your browser"))

    assert (
        "blocked",
        "this looks like a Cloudflare challenge: its title says “just a moment” and its text says “checking your browser”",
    ) == found


def test_phrases_and_pages_are_folded_alike():
    """Case, typographic quotes, ё and invisible characters make no difference."""
    assert "you're here..." == fold("You’re\u200b HERE…")
    assert fold("доступ запрещен") == fold("Доступ запрещён")


def test_size_is_in_words_for_every_script():
    """English has words; Chinese has a word in each character; Thai has no spaces."""
    assert 100 == size_of(100, 600)
    assert 67 == size_of(100, 400)
    assert 50 == size_of(5, 600)


def test_redirect_words_are_compared_with_whole_segments():
    """They are segments of a path, or the first label of a host."""
    words = redirects()
    every = words.login | words.consent | words.error | words.blocked | words.login_hosts | words.consent_hosts

    assert all(word == word.lower() and not set(word) & set("/. ") for word in every)
    assert all("." in host for host in words.blocked_hosts)
