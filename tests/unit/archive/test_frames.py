"""Frames: what goes in comes out, and nothing else ever does."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.archive import frames
from tidings.archive.frames import FrameError

BODY = b"The price is 12.50 EUR today. " * 40
OTHER = BODY.replace(b"12.50", b"13.10", 3)


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_round_trip(body, base):
    """Every body comes back from its frame and from its delta, the empty one too."""
    delta = frames.encode_delta(body, base)

    assert body == frames.decode(frames.encode(body), len(body))
    assert (len(base) < 8) == (delta is None)
    assert delta is None or body == frames.decode(delta, len(body), base=base)


def test_prefix_that_looks_like_a_dictionary():
    """A base that begins like a trained dictionary of zstd is taken as the plain bytes it is."""
    base = bytes.fromhex("37a430ec") + BODY
    delta = frames.encode_delta(OTHER, base)

    assert delta is not None
    assert OTHER == frames.decode(delta, len(OTHER), base=base)


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
    delta = frames.encode_delta(body, base)

    assert delta is not None
    assert len(delta) < size / 1_000
    assert body == frames.decode(delta, len(body), base=base)


@pytest.mark.parametrize("base", [None, OTHER], ids=["whole", "delta"])
def test_cut_anywhere(base):
    """A frame that is cut anywhere is refused."""
    frame = frames.encode(BODY) if base is None else frames.encode_delta(BODY, base)
    assert frame is not None

    for length in range(len(frame)):
        with pytest.raises(FrameError):
            frames.decode(frame[:length], len(BODY), base=base)


@pytest.mark.parametrize(
    ("frame", "size", "reason"),
    [
        (frames.encode(BODY) + b"x", len(BODY), "1 bytes follow its end"),
        (frames.encode(BODY), len(BODY) - 1, "or more, not 1199"),
        (frames.encode(BODY), len(BODY) + 1, "ends after 1200 of 1201 bytes"),
        (b"no frame at all", 15, "Unable to decompress"),
        (b"", 0, "cut short"),
    ],
)
def test_refused(frame, size, reason):
    """A frame with more after it, of another size, or none at all is refused with the reason."""
    with pytest.raises(FrameError, match=reason):
        frames.decode(frame, size)


def test_never_decodes_more_than_asked():
    """A small frame that would fill the memory is given up after one byte too many."""
    bomb = frames.encode(bytes(50_000_000))

    with pytest.raises(FrameError, match="holds 11 bytes or more, not 10"):
        frames.decode(bomb, 10)
