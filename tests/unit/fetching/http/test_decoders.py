from __future__ import annotations

import gzip
import random
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings import zstd
from tidings.fetching.fetcher import FetchError
from tidings.fetching.http.decoders import Decoder, encodings

MAX_BYTES = 10_000_000


def raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data, wbits=-15)


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: brotli.compress(data, quality=5),
    "zstd": lambda data: bytes(zstd.compress(data)),
}
ENCODED = {**ENCODERS, "raw deflate": raw_deflate}
TEXT = b"".join(b"line %d of a page that is long enough for several steps\n" % n for n in range(4_000))


def header(name: str) -> str:
    return name.removeprefix("raw ")


def decode(encoding: str, *pieces: bytes, max_bytes: int = MAX_BYTES) -> bytes:
    decoder = Decoder(encoding, max_bytes=max_bytes)
    for piece in pieces:
        decoder.feed(piece)
    return decoder.finish()


def fault(encoding: str, *pieces: bytes, max_bytes: int = MAX_BYTES) -> str:
    with pytest.raises(FetchError) as error:
        decode(encoding, *pieces, max_bytes=max_bytes)
    return error.value.kind


def in_pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 7, 1_000, 65_536, 10_000_000])
@pytest.mark.parametrize("name", ENCODED)
def test_body_is_independent_of_its_pieces(name, size):
    """Every encoding is decoded completely, however the network splits it."""
    text = TEXT[:5_000] if size == 1 else TEXT

    assert text == decode(header(name), *in_pieces(ENCODED[name](text), size))


@given(st.binary(max_size=2_000), st.lists(st.sampled_from(sorted(ENCODERS)), max_size=5), st.integers(1, 100))
def test_chained_encodings_are_undone_in_order(data, chain, size):
    """Up to five are listed in the order of their application and undone from the last to the
    first.
    """
    body = data
    for name in chain:
        body = ENCODERS[name](body)

    assert data == decode(", ".join(chain), *in_pieces(body, size))


@pytest.mark.parametrize("name", ENCODED)
def test_truncated_body_fails(name):
    """The decoder must reach its own end, wherever the bytes stop (H-143)."""
    whole = ENCODED[name](TEXT[:3_000])
    places = [0, 1, 2, 5, len(whole) // 2, len(whole) - 5, len(whole) - 1]

    assert ["encoding"] * len(places) == [fault(header(name), whole[:place]) for place in places]


@pytest.mark.parametrize("tail", [b"\0", b"x", b"\x1f", b"\x28\xb5", b"tail of the page", b"\0" * 10_000])
@pytest.mark.parametrize("name", sorted(ENCODED.keys() - {"br"}))
def test_bytes_after_the_end_are_ignored(name, tail):
    """The extra bytes may be in the same piece or a later one; browsers ignore them too."""
    whole = ENCODED[name](b"a page")
    cuts = [(whole + tail,), (whole, tail), (*in_pieces(whole + tail, 1),)]

    assert [b"a page"] * 3 == [decode(header(name), *pieces) for pieces in cuts]


def test_bytes_after_the_end_of_brotli_fail():
    """The library does not report where the body ended."""
    whole = ENCODED["br"](b"a page")

    assert ["encoding", "encoding"] == [fault("br", whole + b"x"), fault("br", whole, b"x")]


@pytest.mark.parametrize(("name", "start"), [("gzip", b"\x1f\x8b"), ("zstd", b"\x28\xb5\x2f\xfd")])
def test_damaged_second_member_fails(name, start):
    """Data that begins like another part of the body must be complete."""
    whole = ENCODERS[name](b"a page")

    assert ["encoding"] * 3 == [
        fault(name, whole + start),
        fault(name, whole + start + b"junk" * 9),
        fault(name, whole, whole[:-1]),
    ]


@pytest.mark.parametrize("name", ENCODED)
def test_unencoded_body_under_an_encoding_fails(name):
    """H-043: the body is not what its header says."""
    assert "encoding" == fault(header(name), b"<html>this is plain text, never encoded</html>")


@pytest.mark.parametrize("name", ENCODED)
def test_damage_raises_only_fetch_errors(name):
    """A flipped bit is an error of kind encoding or size, or changes the text."""
    rng = random.Random(7)
    whole = bytearray(ENCODED[name](TEXT[:20_000]))
    kinds = set()
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        try:
            decode(header(name), bytes(damaged))
        except FetchError as error:
            kinds.add(error.kind)

    assert kinds <= {"encoding", "size"}
    assert "encoding" in kinds


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_several_members_and_frames_are_one_body(name):
    """Gzip members and zstd frames may follow each other, in any pieces."""
    whole = ENCODERS[name](b"one ") + ENCODERS[name](b"") + ENCODERS[name](b"two")

    assert [b"one two"] * 3 == [decode(name, *in_pieces(whole, size)) for size in (1, 30, 1_000)]


def test_encoding_names_are_normalized():
    """Case and the alias of gzip do not matter; identity and empty parts are skipped, and the first
    unknown name is returned.
    """
    assert (["gzip", "br"], "") == encodings("X-GZIP, identity,, Br")
    assert ([], "") == encodings("")
    assert (["gzip"], "utf-8") == encodings("UTF-8, gzip, none")


@pytest.mark.parametrize("value", [", ".join(["gzip"] * 6), ", ".join(["gzip"] * 50)])
def test_more_than_five_encodings_fail(value):
    """Nothing is decoded (H-046)."""
    with pytest.raises(FetchError) as error:
        encodings(value)

    assert "encoding" == error.value.kind


PLAIN = [
    b"<p>the page</p>", b"", "caf\u00e9".encode(), "caf\u00e9".encode("latin-1"), "\ufeffa page".encode("utf-16"), b'{"a": 1}', b"%PDF-1.7\n\0",
]  # fmt: skip


@pytest.mark.parametrize("value", ["UTF-8", "none", "aws-chunked", "foo", "compress", "iso-8859-1", "text/html"])
@pytest.mark.parametrize("body", PLAIN)
def test_unknown_encoding_of_plain_text_is_ignored(value, body):
    """Buckets of S3 and Ceph send such names with plain text; browsers read it too (H-047)."""
    assert body == decode(value, body)


@pytest.mark.parametrize("value", ["aws-chunked, gzip", "gzip, utf-8", "none,gzip,none"])
def test_known_encodings_beside_unknown_names_are_undone(value):
    """An unknown name does not hide them."""
    assert TEXT == decode(value, gzip.compress(TEXT))


@pytest.mark.parametrize("value", ["foo", "compress", "brotli", "UTF-8", "br, foo"])
def test_unknown_encoding_of_encoded_data_fails(value):
    """The body is no text, so it must be encoded in an unknown way."""
    body = {"br, foo": brotli.compress(bytes(zlib.compress(TEXT)))}.get(value, brotli.compress(TEXT))

    assert "encoding" == fault(value, body)


def gzip_bomb(mebibytes: int) -> bytes:
    """Return one gzip member of `mebibytes` MiB of zeros, made from one repeated block."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31)
    start = squeeze.compress(b"") + squeeze.flush(zlib.Z_FULL_FLUSH)
    block = squeeze.compress(bytes(2**20)) + squeeze.flush(zlib.Z_FULL_FLUSH)
    return start + block * mebibytes + squeeze.flush()


def brotli_bomb(mebibytes: int):
    squeeze = brotli.Compressor(quality=5)
    return b"".join(squeeze.process(bytes(2**20)) for _ in range(mebibytes)) + squeeze.finish()


def zstd_bomb(mebibytes: int) -> bytes:
    return b"".join(zstd.compress(bytes(2**20)) for _ in range(mebibytes))


@pytest.mark.parametrize(
    ("name", "bomb"),
    [
        ("gzip", lambda: gzip_bomb(1_024)),
        ("br", lambda: brotli_bomb(128)),
        ("zstd", lambda: zstd_bomb(900)),
        ("gzip, gzip", lambda: gzip.compress(gzip_bomb(1_024), 1)),
        ("br, br", lambda: brotli.compress(brotli_bomb(128), quality=5)),
    ],
    ids=["gzip", "br", "zstd", "gzip gzip", "br br"],
)
def test_decompression_bomb_stops_at_the_size_limit(name, bomb):
    """1 GiB in a few bytes is a `size` error with at most 32 MiB of memory (H-044, H-045)."""
    data = bomb()
    tracemalloc.start()
    try:
        kind = fault(name, data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert "size" == kind
    assert peak <= 32 * 2**20


def test_growth_is_limited_only_above_one_megabyte():
    """A small text of one letter may be compressed 1,000 to 1."""
    small, large = bytes(900_000), bytes(1_100_000)

    assert small == decode("gzip", gzip.compress(small))
    assert "size" == fault("gzip", gzip.compress(large))


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_size_limit_is_exact(encoding):
    """Decoded bytes are counted; one byte more fails."""
    body = random.Random(1).randbytes(100_000)
    encode = gzip.compress if encoding else bytes

    assert body == decode(encoding, encode(body), max_bytes=100_100)[: len(body)]
    assert body == decode("", body, max_bytes=100_000)
    assert "size" == fault(encoding, encode(body + b"x"), max_bytes=100_000)


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_empty_members_are_limited(name):
    """A million of them would take seconds; above 1,000 the body fails."""
    empty = ENCODERS[name](b"")

    assert b"" == decode(name, empty * 1_000)
    assert "size" == fault(name, empty * 3_000)


def test_zstd_window_above_8_mib_is_refused():
    """HTTP senders must not need more memory (RFC 9659)."""
    squeeze = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    wide = squeeze.compress(bytes(1_000), zstd.ZstdCompressor.FLUSH_BLOCK) + squeeze.flush()

    assert "encoding" == fault("zstd", wide)


@pytest.mark.parametrize("end", [zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH, zlib.Z_BLOCK])
@pytest.mark.parametrize("more", [b"", b"\x66"])
def test_damage_after_a_full_step_is_a_fault_of_the_body(end, more):
    """Also where the decoder finds it in what it held back, after it took all input."""
    coder = zlib.compressobj(9, zlib.DEFLATED, -15)
    whole = coder.compress(bytes(2 * 65_536 + 74)) + coder.flush(end)
    kinds = set()
    for place in range(len(whole) - 8, len(whole)):
        for bit in range(8):
            body = bytearray(whole + more)
            body[place] ^= 1 << bit
            try:
                decode("deflate", bytes(body))
            except FetchError as error:
                kinds.add(error.kind)

    assert {"encoding"} == kinds
