import pytest

from tidings.detection.doubt.walls import RuleInput, fold, redirects, rules, size_of, wall

LANGUAGES = frozenset("en de fr es pt it nl pl ru uk tr ar he hi zh ja ko".split())


def look(title="", text="", *, head="", usual=None, usual_title="", is_error=False, words=None):
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
    found = wall(seen)
    return found[0] if found else ""


def test_every_rule_is_complete():
    """A rule has a kind that is told, a name that fits behind "this looks like", a bound, and something that it looks for."""
    for rule in rules():
        assert rule.kind in {"blocked", "soft_error", "login"}, rule
        assert rule.name.startswith(("a ", "an ")), rule
        assert 0 <= rule.first_words <= rule.most_words <= 400, rule
        assert rule.markup or rule.title or rule.text, rule


def test_nothing_is_called_a_login_at_a_first_look():
    """A log-in page may be what somebody wants to watch; facts.login warns."""
    assert {0} == {rule.first_words for rule in rules() if rule.kind == "login"}


def test_rules_made_of_words_speak_every_language():
    """A rule that is not one maker's own has phrases in each of the languages, or is said to be English only."""
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


def test_phrases_are_long_enough_to_be_found_and_written_as_they_are_compared():
    """Text phrases have three letters at least; markup is written in lower case, since a head is compared so."""
    for rule in rules():
        assert all(len(phrase) >= 3 for phrase in rule.text), rule
        assert all(phrase == phrase.lower() and len(phrase) >= 6 for phrase in rule.markup), rule
        assert all(phrase.strip("=") for phrase in rule.title), rule


def test_each_phrase_is_found_by_itself():
    """Each phrase of each rule leads to a rule of the same kind where it stands alone on a small page."""
    for rule in rules():
        title = min(rule.title, default="").removeprefix("=")
        head = min(rule.markup, default="")
        for phrase in rule.text or {""}:
            seen = look(title, f"(( {phrase}", head=head, usual=1_000, usual_title="Shop", words=5)

            assert rule.kind == kind(seen), (rule.name, phrase)
        text = min(rule.text, default="")
        for phrase in rule.title:
            seen = look(phrase.removeprefix("="), text, head=head, usual=1_000, usual_title="Shop", words=5)

            assert rule.kind == kind(seen), (rule.name, phrase)
        for phrase in rule.markup:
            seen = look(title, text, head=f"<p {phrase} x", usual=1_000, usual_title="Shop", words=3)

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
def test_a_title_says_it_as_a_whole_or_as_a_whole_part(title):
    """Case, quotes and marks do not matter; site names stand before or behind."""
    assert "soft_error" == kind(look(title, "Home News Contact"))


@pytest.mark.parametrize(
    "title", ["How to mend a page not found error", "Page not found in your shop? Read on", "Not found in space", ""]
)
def test_a_title_that_speaks_of_it_does_not_say_it(title):
    """Words inside another sentence are no evidence."""
    assert "" == kind(look(title, "Home News Contact"))


def test_a_whole_title_is_asked_for_where_a_part_would_say_too_little():
    """`404` alone is an error, `Peugeot | 404` is a car."""
    assert "soft_error" == kind(look("404", "Home"))
    assert "" == kind(look("Peugeot | 404", "Home"))


def test_words_count_only_on_a_small_page():
    """A rule's bound is in words of the page; far below the usual it is three times as wide."""
    text = "Page not found"

    assert "soft_error" == kind(look("", text, words=60))
    assert "" == kind(look("", text, words=61))
    assert "soft_error" == kind(look("", text, words=180, usual=1_000))
    assert "" == kind(look("", text, words=181, usual=1_000))
    assert "" == kind(look("", text, words=61, usual=150))


def test_words_prove_nothing_against_a_page_as_it_always_was():
    """A status page of 40 words may say "temporarily unavailable" one day: its title and length are its own."""
    text = "The printer service is temporarily unavailable"

    assert "" == kind(look("Status", text, words=40, usual=42, usual_title="Status"))
    assert "" == kind(look("1 problem – Status", text, words=40, usual=42, usual_title="Well – Status"))
    assert "" == kind(look("", text, words=40, usual=42, usual_title=""))
    assert "soft_error" == kind(look("Error", text, words=40, usual=42, usual_title="Status"))
    assert "soft_error" == kind(look("Status", text, words=20, usual=42, usual_title="Status"))


def test_a_title_that_the_page_always_had_proves_nothing():
    """Who watches "Maintenance – Works" is not told that the page is under maintenance."""
    assert "" == kind(look("Maintenance – Works", "Trains run", words=20, usual=100, usual_title="Maintenance – Works"))
    assert "soft_error" == kind(look("Maintenance – Works", "Trains run", words=20, usual=100, usual_title="Works"))


def test_markup_of_a_maker_counts_whatever_the_title():
    """A challenge under the page's own title is one; also behind a status of error, however long the page is."""
    head = "<script>window._cf_chl_opt={}"

    assert "blocked" == kind(look("Shop", "", head=head, usual=500, usual_title="Shop"))
    assert "" == kind(look("Shop", "", head=head, words=2_000, usual=500, usual_title="Shop"))
    assert "blocked" == kind(look("Shop", "", head=head, words=2_000, is_error=True))


def test_a_reason_names_the_rule_and_the_evidence():
    """People read what was seen and where."""
    found = wall(look("Just a moment...", "Checking your browser"))

    assert (
        "blocked",
        "this looks like a Cloudflare challenge: its title says “just a moment” and its text says “checking your browser”",
    ) == found


def test_folding_is_the_same_for_phrases_and_pages():
    """Case, typographic quotes, ё and invisible characters make no difference."""
    assert "you're here..." == fold("You’re\u200b HERE…")
    assert fold("доступ запрещен") == fold("Доступ запрещён")


def test_a_size_is_in_words_whatever_the_script():
    """English counts its words; Chinese has a word in each character; Thai writes without spaces."""
    assert 100 == size_of(100, 600)
    assert 67 == size_of(100, 400)
    assert 50 == size_of(5, 600)


def test_redirect_words_are_single_segments():
    """Each word is compared with a whole segment of a path, or the first label of a host."""
    words = redirects()
    every = words.login | words.consent | words.error | words.blocked | words.login_hosts | words.consent_hosts

    assert all(word == word.lower() and not set(word) & set("/. ") for word in every)
    assert all("." in host for host in words.blocked_hosts)
