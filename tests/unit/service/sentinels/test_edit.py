"""The text of one sentinel is replaced: its owner stays, and nothing else is touched."""

import pytest

from tidings.clock import SECOND
from tidings.errors import SentinelError, UsageError
from tidings.service.sentinels import edit, register
from tidings.service.sentinels.author import INSTALLATION, Author
from tidings.storage.people import accounts
from tidings.storage.watches import sentinels

NOW = 1_700_000_000 * SECOND
LATER = NOW + SECOND
ONE = "Create Sentinel {} Using https://{}.example/ Monitor any change"


@pytest.fixture
def annas(world):
    """Anna's sentinel, and her as author."""
    anna = Author(world.write(accounts.add, "anna", "editor", "x", at=NOW).id, sees_all=False)
    world.write(register.carry_out, ONE.format("annas", "a"), world.settings, NOW, "", anna)
    return world.read(sentinels.find, "annas"), anna


def replace_text(world, row, text, author=INSTALLATION):
    return world.write(edit.replace_text, row, text, settings=world.settings, now=LATER, author=author)


def test_same_pages_are_altered_and_others_are_a_new_sentinel(world, annas):
    """Of the same name and owner, whoever writes it."""
    row, anna = annas
    altered = replace_text(world, row, ONE.format("annas", "a") + " Fetch every 2 hour")
    moved = replace_text(world, altered, ONE.format("annas", "b"))

    assert (row.id, 2, anna.owner_id) == (altered.id, altered.revision, altered.owner_id)
    assert row.id != moved.id
    assert ("annas", anna.owner_id, "created") == (moved.name, moved.owner_id, moved.state)
    assert "ended" == world.read(sentinels.get, row.id).state
    assert altered.revision == replace_text(world, moved, altered.text).revision + 1, "it is another one"


def test_request_of_a_page_does_not_make_another_sentinel(world, annas):
    """The page is the same with another header."""
    row, anna = annas

    assert row.id == replace_text(world, row, ONE.format("annas", "a") + ' Header "X" "y"', anna).id


def test_ended_sentinel_begins_anew(world, annas):
    """With the same pages, too; the reason is given."""
    row, anna = annas
    from tidings.model.observed.unit import SentinelMove

    world.write(sentinels.move, SentinelMove(sentinel_id=row.id, state="ended", at=NOW, reason="x"))
    row = world.read(sentinels.get, row.id)
    (sentinel,) = register.read_statements("", ONE.format("annas", "a"), world.settings)

    after, why = world.write(edit.bring_to, row, sentinel, settings=world.settings, now=LATER, author=anna)
    assert ("the sentinel of that name had ended", "created", anna.owner_id) == (why, after.state, after.owner_id)
    _, why = world.write(edit.bring_to, after, sentinel, settings=world.settings, now=LATER, author=anna)
    assert "" == why


@pytest.mark.parametrize(
    "text",
    [
        ONE.format("other", "a"),
        f"{ONE.format('annas', 'a')}; {ONE.format('b', 'b')}",
        "Drop annas",
        f"{ONE.format('annas', 'a')}; Drop annas",
        "Alter annas Monitor links",
        "Defaults For Tags t Fetch every 2 hour",
        "",
        "-- nothing but a comment",
    ],
)
def test_text_is_one_statement_under_its_name(world, annas, text):
    """All else is refused, and changes nothing."""
    row, _ = annas
    with pytest.raises(UsageError, match="one statement under that name"):
        replace_text(world, row, text)

    assert [row] == world.read(sentinels.listing)


@pytest.mark.parametrize(
    "text",
    ["Create Sentinel annas Using", ONE.format("annas", "a") + " Fetch every 1 hour Fetch every 2 hour", "nonsense"],
)
def test_problems_of_a_text_are_reported(world, annas, text):
    """They change nothing."""
    row, anna = annas
    with pytest.raises((SentinelError, UsageError)):
        replace_text(world, row, text, anna)

    assert [row] == world.read(sentinels.listing)


def test_earlier_text_is_restored_under_the_present_name(world, annas):
    """Its number is that of a new revision; without such a revision nothing changes."""
    row, anna = annas
    row = replace_text(world, row, ONE.format("annas", "a") + " Fetch every 2 hour", anna)
    row = world.write(register.rename, "annas", "hers", now=LATER)

    def restore(number):
        return world.write(edit.restore_text, row, number, settings=world.settings, now=LATER, author=anna)

    assert row == restore(9)
    after = restore(1)
    assert (row.id, "hers", row.revision + 1) == (after.id, after.name, after.revision)
    assert "Create Sentinel hers " in after.text
    assert "2 hour" not in after.text
