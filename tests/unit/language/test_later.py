from tidings.language.later import LATER


def test_each_later_thing_says_what_to_do_instead():
    """No row is without a name and advice."""
    assert all(row.word and row.hint for row in LATER.values())
