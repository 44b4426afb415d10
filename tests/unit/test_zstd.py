"""One interface to Zstandard on every Python: prefixes, frames that end, faults that are reported."""

import pytest

from tidings import zstd
from tidings.zstd import ZstdCompressor, ZstdDecompressor, ZstdDict, ZstdError


def test_every_name_is_there():
    """The names that the archive and the decoders use exist on this Python."""
    assert [] == [name for name in zstd.__all__ if not hasattr(zstd, name)]


def test_a_frame_gives_its_body_back():
    """What was compressed comes back, byte for byte."""
    body = b"words " * 1_000

    assert body == zstd.decompress(zstd.compress(body))
    assert len(zstd.compress(body)) < 100


def test_a_prefix_makes_neighbours_small():
    """With the neighbouring version as prefix, a changed page costs next to nothing; without it, it cannot be read."""
    old = bytes(range(256)) * 64
    new = old[:5_000] + b"changed" + old[5_000:]
    prefix = ZstdDict(old, is_raw=True).as_prefix
    delta = ZstdCompressor(zstd_dict=prefix).compress(new, ZstdCompressor.FLUSH_FRAME)
    decompressor = ZstdDecompressor(zstd_dict=prefix)

    assert new == decompressor.decompress(delta)
    assert len(delta) < 100
    with pytest.raises(ZstdError):
        ZstdDecompressor().decompress(delta)


def test_the_end_of_a_frame_is_known():
    """A decompressor says that its frame has ended, and what came after it."""
    decompressor = ZstdDecompressor()
    body = decompressor.decompress(zstd.compress(b"body") + b"rest")

    assert (b"body", True, b"rest") == (body, decompressor.eof, decompressor.unused_data)


def test_output_is_given_in_steps():
    """A bomb can be stopped: no more comes out at once than was asked for."""
    decompressor = ZstdDecompressor()
    first = decompressor.decompress(zstd.compress(bytes(10_000_000)), max_length=65_536)

    assert len(first) <= 65_536
    assert not decompressor.eof


def test_a_cut_frame_has_no_end():
    """A frame that was cut gives what is there and does not claim to have ended."""
    decompressor = ZstdDecompressor()
    decompressor.decompress(zstd.compress(bytes(range(256)) * 1_000)[:-5])

    assert not decompressor.eof
    assert decompressor.needs_input


def test_other_bytes_are_refused():
    """What is no frame is an error."""
    with pytest.raises(ZstdError):
        zstd.decompress(b"no frame at all")
