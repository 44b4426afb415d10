"""Blobs: the rows of a new body, compared with a model of many pages that share bodies; and frames,
which round-trip or are refused.
"""

import hashlib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.archive import blobs
from tidings.archive.blobs import FrameError, WritePlan, lean, plan


def name(body):
    """Return the name of a body."""
    return hashlib.sha256(body).hexdigest()


def bodies():
    """Return similar bodies of two families, and tiny ones."""
    chance = random.Random(7)
    family = [bytearray(chance.randbytes(150).hex().encode()) for _ in range(2)]
    made = [b"", b"x", b"tiny bod"]
    for stem in family:
        for number in range(5):
            stem[number * 20 : number * 20 + 4] = b"news"
            made.append(bytes(stem))
    return made


BODIES = bodies()


class World:
    """The rows, files and pages of a store, in memory."""

    def __init__(self, *, chain_length, file_bytes):
        self.chain_length = chain_length
        self.file_bytes = file_bytes
        self.rows = {}
        self.files = {}
        self.newest = {}
        self.written = 0

    def plan(self, page, body):
        """Plan a write from the current rows."""
        self.written += 1
        sha256 = name(body)
        newest = self.newest.get(page)
        return plan(
            body,
            sha256,
            None if newest is None else (self.rows[name(newest)], newest),
            self.rows.get(sha256),
            chain_length=self.chain_length,
            file_bytes=self.file_bytes,
            mark=f"{self.written:x}",
        )

    def commit(self, page, body, made):
        """Write files, then rows, then delete the garbage."""
        for file, frame in made.files:
            assert file not in self.files
            self.files[file] = frame
        for blob in made.blobs:
            self.rows[blob.sha256] = blob
        for file in made.garbage:
            del self.files[file]
        self.newest[page] = body

    def remove(self, sha256):
        """Delete a body; the deltas on it are based on its own base instead."""
        gone = self.rows[sha256]
        base = (self.rows[gone.base], self.restore(gone.base)[0]) if gone.base else None
        for leaning in [blob for blob in self.rows.values() if blob.base == sha256]:
            self.written += 1
            body = self.restore(leaning.sha256)[0]
            made = lean(leaning, body, base, file_bytes=self.file_bytes, mark=f"{self.written:x}")
            self.files |= dict(made.files)
            self.rows |= {blob.sha256: blob for blob in made.blobs}
            for file in made.garbage:
                del self.files[file]
        del self.rows[sha256]
        if gone.file:
            del self.files[gone.file]

    def restore(self, sha256):
        """Return the body of a name, and how many deltas were decoded."""
        path = []
        blob = self.rows[sha256]
        while blob.base:
            path.append(blob)
            assert len(path) <= len(self.rows), "the deltas lean on each other in a circle"
            blob = self.rows[blob.base]
        body = self.decode(blob, None)
        for leaning in reversed(path):
            body = self.decode(leaning, body)
        return body, len(path)

    def decode(self, blob, base):
        """Decode the frame of one row."""
        frame = self.files[blob.file] if blob.file else blob.frame
        return blobs.decode(frame, blob.size, base=base)

    def true_heights(self):
        """Count the longest chain of deltas on each blob."""
        heights = dict.fromkeys(self.rows, 0)
        for start in self.rows:
            sha256, steps = start, 0
            while self.rows[sha256].base:
                sha256, steps = self.rows[sha256].base, steps + 1
                heights[sha256] = max(heights[sha256], steps)
        return heights


STEPS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(range(len(BODIES)))), min_size=10, max_size=50)
LENGTHS = st.sampled_from([1, 2, 3, 32])
FILE_BYTES = st.sampled_from([None, 0, 60, 1_000])


@settings(max_examples=100, deadline=None)
@given(STEPS, LENGTHS, FILE_BYTES)
def test_every_body_is_restored_within_the_chain_length(steps, chain_length, file_bytes):
    """This holds for every order in which pages change between bodies, and no file is left over."""
    world = World(chain_length=chain_length, file_bytes=file_bytes)
    for page, chosen in steps:
        body = BODIES[chosen]
        world.commit(page, body, world.plan(page, body))

        seen = {name(BODIES[chosen]) for chosen in {chosen for _, chosen in steps}} & set(world.rows)
        restored = {sha256: world.restore(sha256) for sha256 in seen}
        assert all(name(back) == sha256 for sha256, (back, _) in restored.items())
        assert max(deltas for _, deltas in restored.values()) <= chain_length
        assert all(height <= world.rows[sha256].height for sha256, height in world.true_heights().items())
        assert {blob.file for blob in world.rows.values()} - {None} == set(world.files)
        assert all((blob.frame is None) == (blob.file is not None) for blob in world.rows.values())


@settings(max_examples=100, deadline=None)
@given(STEPS, LENGTHS, FILE_BYTES, st.lists(st.integers(0, 100), max_size=12))
def test_every_other_body_is_restored_after_a_removal(steps, chain_length, file_bytes, removed):
    """Any body may be removed, whether it is old or new and whether or not deltas are based on it.
    Chains get no longer, and no file is left over.
    """
    world = World(chain_length=chain_length, file_bytes=file_bytes)
    for page, chosen in steps:
        world.commit(page, BODIES[chosen], world.plan(page, BODIES[chosen]))
    for place in removed:
        if world.rows:
            world.remove(sorted(world.rows)[place % len(world.rows)])

        restored = {sha256: world.restore(sha256) for sha256 in world.rows}
        assert all(name(back) == sha256 and deltas <= chain_length for sha256, (back, deltas) in restored.items())
        assert all(height <= world.rows[sha256].height for sha256, height in world.true_heights().items())
        assert {blob.file for blob in world.rows.values()} - {None} == set(world.files)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(range(len(BODIES)))), max_size=4), max_size=10))
def test_stale_plans_make_no_cycle(rounds):
    """Plans of the same round do not know of each other; after all are committed, each body can be
    restored.
    """
    world = World(chain_length=3, file_bytes=None)
    for steps in rounds:
        distinct = {page: BODIES[chosen] for page, chosen in steps}
        plans = [(page, body, world.plan(page, body)) for page, body in distinct.items()]
        for page, body, made in plans:
            world.commit(page, body, made)

        assert all(name(world.restore(sha256)[0]) == sha256 for sha256 in world.rows)


def store_versions(sequence, *, chain_length=32, file_bytes=None):
    """Store the bodies as versions of one page; return the world and the last plan."""
    world = World(chain_length=chain_length, file_bytes=file_bytes)
    made = WritePlan()
    for body in sequence:
        made = world.plan("page", body)
        world.commit("page", body, made)
    return world, made


A, B, C, *_ = BODIES[3:]


@pytest.mark.parametrize("sequence", ["A", "AB", "ABA", "ABACB", "ABABABAB", "ABCABC"])
def test_newest_body_is_whole_and_others_are_deltas(sequence):
    """This also holds when an earlier body returns."""
    spelled = {"A": A, "B": B, "C": C}
    world, _ = store_versions([spelled[letter] for letter in sequence])
    whole = {sha256 for sha256, blob in world.rows.items() if not blob.base}

    assert {name(spelled[sequence[-1]])} == whole


def test_unchanged_body_writes_nothing():
    """The newest body already has its row."""
    _, made = store_versions([A, A])

    assert WritePlan() == made


def test_base_is_written_before_its_delta():
    """Otherwise a crash between the two would leave a delta that cannot be decoded."""
    _, made = store_versions([A, B])

    assert [(name(B), ""), (name(A), name(B))] == [(blob.sha256, blob.base) for blob in made.blobs]


def test_unrelated_body_stays_whole():
    """A delta against a body that shares nothing with it would be no smaller."""
    chance = random.Random(3)
    stranger = chance.randbytes(400)
    world, made = store_versions([A, stranger])

    assert [name(stranger)] == [blob.sha256 for blob in made.blobs]
    assert "" == world.rows[name(A)].base


def test_chain_ends_at_the_maximum_length():
    """The body at the end of the longest allowed chain stays whole, and a new chain begins."""
    world, _ = store_versions(BODIES[3:8], chain_length=2)

    assert [2, 1, 0, 1, 0] == [world.restore(name(body))[1] for body in BODIES[3:8]]


def test_chain_of_large_bodies_is_shorter(monkeypatch):
    """The bodies of a chain together stay below `CHAIN_BYTES`, which limits the work of a restore.
    `SHORTEST_CHAIN` is allowed in any case.
    """
    monkeypatch.setattr(blobs, "CHAIN_BYTES", 3 * len(A))
    monkeypatch.setattr(blobs, "SHORTEST_CHAIN", 1)
    by_bytes, _ = store_versions(BODIES[3:8])
    monkeypatch.setattr(blobs, "SHORTEST_CHAIN", 4)
    by_count, _ = store_versions(BODIES[3:8])

    assert [3, 2, 1, 0, 0] == [by_bytes.restore(name(body))[1] for body in BODIES[3:8]]
    assert [4, 3, 2, 1, 0] == [by_count.restore(name(body))[1] for body in BODIES[3:8]]


def test_returning_body_keeps_its_height():
    """Another page gets a body on which deltas are based. If its height were reset, chains would
    become too long.
    """
    world, _ = store_versions(BODIES[3:6], chain_length=2)
    for page, body in (("other", BODIES[8]), ("other", BODIES[5]), ("page", BODIES[9])):
        world.commit(page, body, world.plan(page, body))

    assert [2, 1, 0] == [world.restore(name(body))[1] for body in BODIES[3:6]]


def test_existing_delta_is_not_rewritten():
    """Another page has already made the body a delta; when this page leaves the body too, its row
    stays.
    """
    world, _ = store_versions([A])
    for page, body in (("other", A), ("other", BODIES[7])):
        world.commit(page, body, world.plan(page, body))
    made = world.plan("page", B)  # nearer to A, so that a delta against it would be smaller

    assert [name(B)] == [blob.sha256 for blob in made.blobs]


def test_alternating_bodies_keep_their_height_bounded():
    """A page that alternates between two bodies forever stays within the chain length."""
    world, _ = store_versions([A, B] * 20, chain_length=3)

    assert max(blob.height for blob in world.rows.values()) <= 3
    assert [A, B] == [world.restore(name(body))[0] for body in (A, B)]


def test_large_body_is_a_file_until_it_becomes_a_delta():
    """A whole frame above the limit is a file. The small delta is in its row, and the file is
    garbage.
    """
    world = World(chain_length=32, file_bytes=100)
    first = world.plan("page", A)
    world.commit("page", A, first)
    second = world.plan("page", B)
    (file, frame), *_ = first.files

    assert file == first.blobs[0].file == f"{name(A)[:2]}/{name(A)[2:4]}/{name(A)}.1"
    assert blobs.encode(A) == frame
    assert (file,) == second.garbage
    assert [(True, False), (False, True)] == [(bool(blob.file), bool(blob.frame)) for blob in second.blobs]


def test_delta_of_another_page_becomes_whole_for_a_new_page():
    """A page's first body is a delta of another page: it becomes whole, and the chain of the other
    page stays.
    """
    world, _ = store_versions([A, B])
    made = world.plan("other", A)
    world.commit("other", A, made)

    assert [(name(A), "")] == [(blob.sha256, blob.base) for blob in made.blobs]
    assert [A, B] == [world.restore(name(body))[0] for body in (A, B)]


BODY = b"The price is 12.50 EUR today. " * 40
OTHER = BODY.replace(b"12.50", b"13.10", 3)


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_frames_and_deltas_round_trip(body, base):
    """The empty body included. A base below 8 bytes gives no delta."""
    delta = blobs.encode_delta(body, base)

    assert body == blobs.decode(blobs.encode(body), len(body))
    assert (len(base) < 8) == (delta is None)
    assert delta is None or body == blobs.decode(delta, len(body), base=base)


@given(st.lists(st.binary(max_size=300).map(lambda part: part * 300), min_size=2, max_size=6))
def test_frames_do_not_depend_on_those_before(bodies):
    """A compressor is used again: each frame is that of a new one, also after a large body."""
    frames = [blobs.encode(body) for body in bodies]
    alone = []
    for body in bodies:
        blobs._kept.compressor = None
        alone.append(blobs.encode(body))

    assert alone == frames


def test_base_that_begins_like_a_zstd_dictionary_is_plain_bytes():
    """Otherwise zstd would read the base as a trained dictionary."""
    base = bytes.fromhex("37a430ec") + BODY
    delta = blobs.encode_delta(OTHER, base)

    assert delta is not None
    assert OTHER == blobs.decode(delta, len(OTHER), base=base)


@pytest.mark.parametrize("size", [2_500_000, 10_000_000])
def test_delta_of_a_large_edited_page_is_small(size):
    """A page of megabytes with ten edits costs less than a thousandth of its size; level and window
    are chosen for this.
    """
    chance = random.Random(1)
    base = chance.randbytes(size // 2).hex().encode()
    edited = bytearray(base)
    for _ in range(10):
        place = chance.randrange(size)
        edited[place : place + 5] = b"EDITS"
    body = bytes(edited)
    delta = blobs.encode_delta(body, base)

    assert delta is not None
    assert len(delta) < size / 1_000
    assert body == blobs.decode(delta, len(body), base=base)


@pytest.mark.parametrize("base", [None, OTHER], ids=["whole", "delta"])
def test_truncated_frame_is_refused(base):
    """At every length."""
    frame = blobs.encode(BODY) if base is None else blobs.encode_delta(BODY, base)
    assert frame is not None

    for length in range(len(frame)):
        with pytest.raises(FrameError):
            blobs.decode(frame[:length], len(BODY), base=base)


@pytest.mark.parametrize(
    ("frame", "size", "reason"),
    [
        (blobs.encode(BODY) + b"x", len(BODY), "1 bytes follow its end"),
        (blobs.encode(BODY), len(BODY) - 1, "or more, not 1199"),
        (blobs.encode(BODY), len(BODY) + 1, "ends after 1200 of 1201 bytes"),
        (b"no frame at all", 15, "Unable to decompress"),
        (b"", 0, "cut short"),
    ],
)
def test_invalid_frame_is_refused_with_the_reason(frame, size, reason):
    """Data follows the frame, the size is wrong, or the bytes are no frame at all."""
    with pytest.raises(FrameError, match=reason):
        blobs.decode(frame, size)


def test_decompression_bomb_stops_at_the_expected_size():
    """A small frame that would fill the memory is refused after one byte too many."""
    bomb = blobs.encode(bytes(50_000_000))

    with pytest.raises(FrameError, match="holds 11 bytes or more, not 10"):
        blobs.decode(bomb, 10)
