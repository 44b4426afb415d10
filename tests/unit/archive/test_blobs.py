"""Which rows a new body writes, against a model of many pages that share bodies.

Frames: what goes in comes out, and nothing else ever does.
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
    """Return bodies of one family (neighbours), of strangers, and tiny ones."""
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
    """Rows, files and pages as a store would hold them."""

    def __init__(self, *, chain_length, file_bytes):
        self.chain_length = chain_length
        self.file_bytes = file_bytes
        self.rows = {}
        self.files = {}
        self.newest = {}
        self.written = 0

    def plan(self, page, body):
        """Plan from the rows as they are."""
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
        """Write files, then rows, then take the garbage away."""
        for file, frame in made.files:
            assert file not in self.files
            self.files[file] = frame
        for blob in made.blobs:
            self.rows[blob.sha256] = blob
        for file in made.garbage:
            del self.files[file]
        self.newest[page] = body

    def remove(self, sha256):
        """Let a body go; those that lean on it lean on what it leaned on."""
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
        """Return the body of a name, naively, and how many deltas it took."""
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
        """Return what one row holds."""
        frame = self.files[blob.file] if blob.file else blob.frame
        return blobs.decode(frame, blob.size, base=base)

    def true_heights(self):
        """Return the longest chain that leans on each blob, counted."""
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
def test_every_body_comes_back(steps, chain_length, file_bytes):
    """Whatever pages change to whatever bodies, each body ever seen restores from at most `chain_length` deltas."""
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
def test_a_body_may_go_from_anywhere(steps, chain_length, file_bytes, removed):
    """Whatever bodies go, old or new, leant on or not, every other one comes back, from chains as short as before; no file is left over."""
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
def test_stale_plans_make_no_circle(rounds):
    """Plans that did not know of each other, committed one after the other, leave every body restorable."""
    world = World(chain_length=3, file_bytes=None)
    for steps in rounds:
        distinct = {page: BODIES[chosen] for page, chosen in steps}
        plans = [(page, body, world.plan(page, body)) for page, body in distinct.items()]
        for page, body, made in plans:
            world.commit(page, body, made)

        assert all(name(world.restore(sha256)[0]) == sha256 for sha256 in world.rows)


def follow(sequence, *, chain_length=32, file_bytes=None):
    """Give one page the bodies in turn; return the world and the last plan."""
    world = World(chain_length=chain_length, file_bytes=file_bytes)
    made = WritePlan()
    for body in sequence:
        made = world.plan("page", body)
        world.commit("page", body, made)
    return world, made


A, B, C, *_ = BODIES[3:]


@pytest.mark.parametrize("sequence", ["A", "AB", "ABA", "ABACB", "ABABABAB", "ABCABC"])
def test_newest_is_whole(sequence):
    """The newest body is one read away and every other one is a delta, also when bodies return."""
    spelled = {"A": A, "B": B, "C": C}
    world, _ = follow([spelled[letter] for letter in sequence])
    whole = {sha256 for sha256, blob in world.rows.items() if not blob.base}

    assert {name(spelled[sequence[-1]])} == whole


def test_unchanged_body_writes_nothing():
    """A body that is the newest already needs no row."""
    _, made = follow([A, A])

    assert WritePlan() == made


def test_new_body_comes_first():
    """The row that a delta leans on is written before the delta."""
    _, made = follow([A, B])

    assert [(name(B), ""), (name(A), name(B))] == [(blob.sha256, blob.base) for blob in made.blobs]


def test_stranger_stays_whole():
    """A body that shares nothing with the next one is not rewritten, since its delta would be no smaller."""
    chance = random.Random(3)
    stranger = chance.randbytes(400)
    world, made = follow([A, stranger])

    assert [name(stranger)] == [blob.sha256 for blob in made.blobs]
    assert "" == world.rows[name(A)].base


def test_chain_is_cut():
    """The body at the end of the longest allowed chain stays whole, and a new chain begins."""
    world, _ = follow(BODIES[3:8], chain_length=2)

    assert [2, 1, 0, 1, 0] == [world.restore(name(body))[1] for body in BODIES[3:8]]


def test_chain_of_large_bodies_is_cut_sooner(monkeypatch):
    """A chain's bodies together stay under the bytes that a restore may decode, but no chain is cut below the shortest."""
    monkeypatch.setattr(blobs, "CHAIN_BYTES", 3 * len(A))
    monkeypatch.setattr(blobs, "SHORTEST_CHAIN", 1)
    by_bytes, _ = follow(BODIES[3:8])
    monkeypatch.setattr(blobs, "SHORTEST_CHAIN", 4)
    by_count, _ = follow(BODIES[3:8])

    assert [3, 2, 1, 0, 0] == [by_bytes.restore(name(body))[1] for body in BODIES[3:8]]
    assert [4, 3, 2, 1, 0] == [by_count.restore(name(body))[1] for body in BODIES[3:8]]


def test_height_of_a_returning_body_is_kept():
    """A body that other bodies lean on keeps its height when another page comes to it, so that no chain grows too long."""
    world, _ = follow(BODIES[3:6], chain_length=2)
    for page, body in (("other", BODIES[8]), ("other", BODIES[5]), ("page", BODIES[9])):
        world.commit(page, body, world.plan(page, body))

    assert [2, 1, 0] == [world.restore(name(body))[1] for body in BODIES[3:6]]


def test_delta_is_left_as_it_is():
    """When a page leaves a body that another page has made a delta of, that row is not written again."""
    world, _ = follow([A])
    for page, body in (("other", A), ("other", BODIES[7])):
        world.commit(page, body, world.plan(page, body))
    made = world.plan("page", B)  # nearer to A, so that a delta against it would be smaller

    assert [name(B)] == [blob.sha256 for blob in made.blobs]


def test_flip_flop_stays_bounded():
    """A page that goes back and forth for ever has at most two whole bodies and never a height over the bound."""
    world, _ = follow([A, B] * 20, chain_length=3)

    assert max(blob.height for blob in world.rows.values()) <= 3
    assert [A, B] == [world.restore(name(body))[0] for body in (A, B)]


def test_large_body_becomes_a_file():
    """A whole frame over the limit lies in a file; as a small delta it moves into its row and the file is garbage."""
    world = World(chain_length=32, file_bytes=100)
    first = world.plan("page", A)
    world.commit("page", A, first)
    second = world.plan("page", B)
    (file, frame), *_ = first.files

    assert file == first.blobs[0].file == f"{name(A)[:2]}/{name(A)[2:4]}/{name(A)}.1"
    assert blobs.encode(A) == frame
    assert (file,) == second.garbage
    assert [(True, False), (False, True)] == [(bool(blob.file), bool(blob.frame)) for blob in second.blobs]


def test_body_of_another_page_is_taken_over():
    """A page's first body that another page has made a delta of is made whole; the other page's chain stays."""
    world, _ = follow([A, B])
    made = world.plan("other", A)
    world.commit("other", A, made)

    assert [(name(A), "")] == [(blob.sha256, blob.base) for blob in made.blobs]
    assert [A, B] == [world.restore(name(body))[0] for body in (A, B)]


BODY = b"The price is 12.50 EUR today. " * 40
OTHER = BODY.replace(b"12.50", b"13.10", 3)


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_round_trip(body, base):
    """Every body comes back from its frame and from its delta, the empty one too."""
    delta = blobs.encode_delta(body, base)

    assert body == blobs.decode(blobs.encode(body), len(body))
    assert (len(base) < 8) == (delta is None)
    assert delta is None or body == blobs.decode(delta, len(body), base=base)


def test_prefix_that_looks_like_a_dictionary():
    """A base that begins like a trained dictionary of zstd is taken as the plain bytes it is."""
    base = bytes.fromhex("37a430ec") + BODY
    delta = blobs.encode_delta(OTHER, base)

    assert delta is not None
    assert OTHER == blobs.decode(delta, len(OTHER), base=base)


@pytest.mark.parametrize("size", [2_500_000, 10_000_000])
def test_large_neighbours_share(size):
    """A page of megabytes with ten edits costs less than a thousandth of itself (level and window are chosen for that)."""
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
def test_cut_anywhere(base):
    """A frame that is cut anywhere is refused."""
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
def test_refused(frame, size, reason):
    """A frame with more after it, of another size, or none at all is refused with the reason."""
    with pytest.raises(FrameError, match=reason):
        blobs.decode(frame, size)


def test_never_decodes_more_than_asked():
    """A small frame that would fill the memory is given up after one byte too many."""
    bomb = blobs.encode(bytes(50_000_000))

    with pytest.raises(FrameError, match="holds 11 bytes or more, not 10"):
        blobs.decode(bomb, 10)
