"""The text of PDF, read by PDFium if the extra `pdf` is installed (detection §5; decision 0031).

Words broken over lines or pages are joined. Metadata (dates, /ID, the producing program) is left
out: it differs from export to export. A scanned PDF has no text; its pictures are compared instead,
as a whole.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterator
from typing import Any

from tidings.errors import spell_install
from tidings.record import dataclass

MOST_PAGES = 2_000
"""The most pages of a PDF that is read."""
MOST_CHARACTERS = 20_000_000
"""The most characters of all pages."""
MOST_OF_A_STREAM = 4_000_000
"""The most bytes of one unpacked stream other than pictures and fonts: PDFium needs far more memory
and time for it.
"""
MOST_PICTURES = 2_000

NOT_READ = (
    "it is a PDF, and the extra for PDF is not installed, so each new export is a change. To compare its words:"
    f" {spell_install('pdf')}"
)
NO_TEXT = (
    "the PDF has no text (it may be a scan), so only its pictures are compared, and its words cannot be found or shown"
)

_STREAM = re.compile(rb"stream\r?\n")
_FLATE = re.compile(rb"/(?:FlateDecode|Fl)\b")
_NOT_DRAWN = re.compile(rb"/Subtype\s*/Image\b|/Length1\b|/FontFile|/FunctionType\b|/N\s+[134]\s*/Alternate\b")
_DICTIONARY = 2_048
_STEP = 16_384
_MOST_AT_ONCE = 1 << 20
_BROKEN = re.compile("(?<=\\w)(?:\x02|[-\u2010\u00ad]\r?\n)(?=(\\w?))")


class UnreadableError(ValueError):
    """A PDF cannot be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Pdf:
    """The content of a PDF: its lines, its title, and a digest of its pictures if it has no text
    ("" for none).
    """

    lines: tuple[str, ...] = ()
    title: str = ""
    pictures: str = ""


def is_readable() -> bool:
    """Return whether the PDF reader is installed."""
    try:
        import pypdfium2  # noqa: F401 - tests only whether it is installed
    except ImportError:
        return False
    return True


def read_pdf(data: bytes) -> Pdf:
    """Return the text of a PDF. Raise `UnreadableError` for one that is locked, damaged or too
    large.
    """
    import pypdfium2  # an extra, and slow to import

    if _unpacks_too_much(data):
        raise UnreadableError(f"a page of the PDF draws more than {MOST_OF_A_STREAM:,} bytes")
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise UnreadableError(_why(str(error))) from error
    try:
        if len(document) > MOST_PAGES:
            raise UnreadableError(f"the PDF has more than {MOST_PAGES:,} pages")
        lines = _lines("\n".join(_texts(document)))
        title = " ".join(str(document.get_metadata_value("Title")).split())
        return Pdf(tuple(lines), title, "" if lines else _pictures(document))
    except pypdfium2.PdfiumError as error:
        raise UnreadableError(_why(str(error))) from error
    finally:
        document.close()


def _why(message: str) -> str:
    return "the PDF is locked with a password" if "password" in message.lower() else f"the PDF is damaged: {message}"


def _texts(document: Any) -> Iterator[str]:
    left = MOST_CHARACTERS
    for page in document:
        try:
            text_page = page.get_textpage()
            left -= text_page.count_chars()
            if left < 0:
                raise UnreadableError(f"the PDF has more than {MOST_CHARACTERS:,} characters")
            yield text_page.get_text_bounded()
            text_page.close()
        finally:
            page.close()


def _lines(text: str) -> list[str]:
    """Return the lines of a text, with words that were broken over lines or pages joined."""
    whole = _BROKEN.sub(lambda found: "" if found[1].islower() else "-", text)
    return [line for line in (" ".join(line.split()) for line in whole.splitlines()) if line]


def _pictures(document: Any) -> str:
    """Return a digest of the pictures on all pages; empty if there are none."""
    from pypdfium2 import raw

    found = hashlib.sha256()
    number = 0
    for page in document:
        found.update(repr(page.get_size()).encode())
        for picture in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE]):
            number += 1
            if number > MOST_PICTURES:
                raise UnreadableError(f"the PDF has more than {MOST_PICTURES:,} pictures and no text")
            found.update(bytes(picture.get_data()))
        page.close()
    return found.hexdigest() if number else ""


def _unpacks_too_much(data: bytes) -> bool:
    """Return whether a stream of drawings or objects is too long unpacked; PDFium judges one that
    cannot be unpacked.
    """
    for found in _STREAM.finditer(data):
        before = data[max(0, found.start() - _DICTIONARY) : found.start()]
        dictionary = before[before.rfind(b" obj") + 1 :]
        if not _FLATE.search(dictionary) or _NOT_DRAWN.search(dictionary):
            continue
        try:
            if _measure_unpacked(memoryview(data)[found.end() :]) > MOST_OF_A_STREAM:
                return True
        except zlib.error:
            continue
    return False


def _measure_unpacked(packed: memoryview) -> int:
    """Return the unpacked length of a stream, or something above `MOST_OF_A_STREAM`."""
    unpacker = zlib.decompressobj()
    length = 0
    for start in range(0, len(packed), _STEP):
        left: bytes | memoryview = packed[start : start + _STEP]
        while left and length <= MOST_OF_A_STREAM:
            length += len(unpacker.decompress(left, _MOST_AT_ONCE))
            left = unpacker.unconsumed_tail
        if unpacker.eof or length > MOST_OF_A_STREAM:
            break
    return length
