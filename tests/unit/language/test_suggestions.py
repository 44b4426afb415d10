from tidings.language.suggestions import closest, did_you_mean, either
from tidings.language.words import is_reserved


def test_words_that_begin_or_join_are_reserved_in_any_case():
    """Other words of the language may be names: `quiet` is one of the examples."""
    assert [True, True, True, False, False] == [
        is_reserved(word) for word in ("monitor", "USING", "Or", "quiet", "links")
    ]


def test_a_typo_finds_its_word():
    """The word is offered as the language spells it; nothing is offered for what is far off or endless."""
    assert ("Sentinel", None, None) == (
        closest("sentinl", ["Create", "Sentinel"]),
        closest("banana", ["Create", "Sentinel"]),
        closest("s" * 100_000, ["s" * 100_000]),
    )
    assert ('did you mean "Notify"?', "") == (did_you_mean("Notfy", ["Notify"]), did_you_mean("x", ["Notify"]))


def test_choices_read_like_a_sentence():
    """Commas, and `or` before the last."""
    assert ["", "a", "a or b", "a, b or c"] == [either(choices) for choices in ([], ["a"], ["a", "b"], ["a", "b", "c"])]
