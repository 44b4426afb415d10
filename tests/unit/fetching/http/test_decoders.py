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
def test_a_body_is_the_same_however_the_network_cuts_it(name, size):
    """Every encoding gives back the whole body, in whatever pieces its bytes arrive."""
    text = TEXT[:5_000] if size == 1 else TEXT

    assert text == decode(header(name), *in_pieces(ENCODED[name](text), size))


@given(st.binary(max_size=2_000), st.lists(st.sampled_from(sorted(ENCODERS)), max_size=5), st.integers(1, 100))
def test_chains_are_undone_in_the_order_of_the_header(data, chain, size):
    """Up to five encodings, listed in the order in which they were applied, are undone from the last to the first."""
    body = data
    for name in chain:
        body = ENCODERS[name](body)

    assert data == decode(", ".join(chain), *in_pieces(body, size))


@pytest.mark.parametrize("name", ENCODED)
def test_a_body_cut_anywhere_fails(name):
    """A decoder that has not reached its own end makes no body, wherever the bytes stop (H-143)."""
    whole = ENCODED[name](TEXT[:3_000])
    places = [0, 1, 2, 5, len(whole) // 2, len(whole) - 5, len(whole) - 1]

    assert ["encoding"] * len(places) == [fault(header(name), whole[:place]) for place in places]


@pytest.mark.parametrize("tail", [b"\0", b"x", b"\x1f", b"\x28\xb5", b"tail of the page", b"\0" * 10_000])
@pytest.mark.parametrize("name", sorted(ENCODED.keys() - {"br"}))
def test_bytes_after_the_end_are_left_out(name, tail):
    """What follows the end of an encoding is no part of it, in the same piece or in a later one: browsers read the page."""
    whole = ENCODED[name](b"a page")
    cuts = [(whole + tail,), (whole, tail), (*in_pieces(whole + tail, 1),)]

    assert [b"a page"] * 3 == [decode(header(name), *pieces) for pieces in cuts]


def test_bytes_after_the_end_of_brotli_fail():
    """The library does not say where the body ended."""
    whole = ENCODED["br"](b"a page")

    assert ["encoding", "encoding"] == [fault("br", whole + b"x"), fault("br", whole, b"x")]


@pytest.mark.parametrize(("name", "start"), [("gzip", b"\x1f\x8b"), ("zstd", b"\x28\xb5\x2f\xfd")])
def test_a_second_part_that_is_damaged_fails(name, start):
    """What begins as one more part of the body is one, and has to come whole."""
    whole = ENCODERS[name](b"a page")

    assert ["encoding"] * 3 == [
        fault(name, whole + start),
        fault(name, whole + start + b"junk" * 9),
        fault(name, whole, whole[:-1]),
    ]


@pytest.mark.parametrize("name", ENCODED)
def test_plain_text_under_an_encoding_fails(name):
    """A body that is not what its header says is refused (H-043)."""
    assert "encoding" == fault(header(name), b"<html>this is plain text, never encoded</html>")


@pytest.mark.parametrize("name", ENCODED)
def test_damage_never_gives_other_errors(name):
    """Flipped bits either fail as an encoding (or size) fault or decode to something: nothing else escapes."""
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
def test_members_and_frames_one_after_the_other_are_one_body(name):
    """Gzip members and zstd frames may follow each other, in any pieces."""
    whole = ENCODERS[name](b"one ") + ENCODERS[name](b"") + ENCODERS[name](b"two")

    assert [b"one two"] * 3 == [decode(name, *in_pieces(whole, size)) for size in (1, 30, 1_000)]


def test_header_values():
    """Names are read in any case, with the old alias of gzip; identity and empty parts mean nothing; of unknown ones the first is named."""
    assert (["gzip", "br"], "") == encodings("X-GZIP, identity,, Br")
    assert ([], "") == encodings("")
    assert (["gzip"], "utf-8") == encodings("UTF-8, gzip, none")


@pytest.mark.parametrize("value", [", ".join(["gzip"] * 6), ", ".join(["gzip"] * 50)])
def test_too_many_encodings_fail(value):
    """More than five are refused before anything is decoded (H-046)."""
    with pytest.raises(FetchError) as error:
        encodings(value)

    assert "encoding" == error.value.kind


PLAIN = [
    b"<p>the page</p>", b"", "caf\u00e9".encode(), "caf\u00e9".encode("latin-1"), "\ufeffa page".encode("utf-16"), b'{"a": 1}', b"%PDF-1.7\n\0",
]  # fmt: skip


@pytest.mark.parametrize("value", ["UTF-8", "none", "aws-chunked", "foo", "compress", "iso-8859-1", "text/html"])
@pytest.mark.parametrize("body", PLAIN)
def test_a_name_that_names_no_coding_counts_as_none(value, body):
    """Buckets of S3 and Ceph send such names over plain text: the page is read, as browsers do (H-047)."""
    assert body == decode(value, body)


@pytest.mark.parametrize("value", ["aws-chunked, gzip", "gzip, utf-8", "none,gzip,none"])
def test_known_codings_beside_unknown_names_are_undone(value):
    """A name that says nothing hides no coding that is there."""
    assert TEXT == decode(value, gzip.compress(TEXT))


@pytest.mark.parametrize("value", ["foo", "compress", "brotli", "UTF-8", "br, foo"])
def test_an_unknown_coding_that_is_there_fails(value):
    """What is no text as it stands has been encoded in a way that nobody here knows."""
    body = {"br, foo": brotli.compress(bytes(zlib.compress(TEXT)))}.get(value, brotli.compress(TEXT))

    assert "encoding" == fault(value, body)


def gzip_bomb(mebibytes: int) -> bytes:
    """Return one gzip member of so many MiB of zeros, made from one repeated block."""
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
def test_bombs_stop_inside_the_cap(name, bomb):
    """1 GiB in a few bytes is stopped as `size` with at most 32 MiB of memory (H-044, H-045)."""
    data = bomb()
    tracemalloc.start()
    try:
        kind = fault(name, data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert "size" == kind
    assert peak <= 32 * 2**20


def test_growth_is_judged_only_above_one_megabyte():
    """A small text of one letter may shrink 1,000 to 1; above 1 MB no body may grow more than the ratio."""
    small, large = bytes(900_000), bytes(1_100_000)

    assert small == decode("gzip", gzip.compress(small))
    assert "size" == fault("gzip", gzip.compress(large))


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_a_body_of_exactly_the_cap_passes_and_one_byte_more_fails(encoding):
    """The cap holds for plain and for decoded bodies, to the byte."""
    body = random.Random(1).randbytes(100_000)
    encode = gzip.compress if encoding else bytes

    assert body == decode(encoding, encode(body), max_bytes=100_100)[: len(body)]
    assert body == decode("", body, max_bytes=100_000)
    assert "size" == fault(encoding, encode(body + b"x"), max_bytes=100_000)


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_many_empty_members_are_not_followed_for_ever(name):
    """A million members that hold nothing would cost seconds; after 1,000 the body is given up."""
    empty = ENCODERS[name](b"")

    assert b"" == decode(name, empty * 1_000)
    assert "size" == fault(name, empty * 3_000)


def test_a_zstd_window_over_8_mib_is_refused():
    """A frame that asks for more memory than HTTP senders may (RFC 9659) is not decoded."""
    squeeze = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    wide = squeeze.compress(bytes(1_000), zstd.ZstdCompressor.FLUSH_BLOCK) + squeeze.flush()

    assert "encoding" == fault("zstd", wide)
