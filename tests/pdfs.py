"""Small handwritten PDF files: pages of text, with metadata that differs between exports, or only
pictures.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence


def pdf(pages: Sequence[Sequence[str]], *, made: str = "2026", title: str = "", encrypted: bool = False) -> bytes:
    """Return a PDF with these lines on its pages; `made` is its date and its /ID."""
    objects: list[bytes] = [
        b"",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    kids = []
    for lines in pages:
        text = "".join(f"({line.replace('(', '[').replace(')', ']')}) Tj T*\n" for line in lines)
        content = f"BT /F1 12 Tf 14 TL 72 720 Td\n{text}ET".encode("cp1252")
        objects.append(_stream(content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Contents %d 0 R >>" % len(objects)
        )
        kids.append(len(objects))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(b"%d 0 R" % kid for kid in kids), len(kids))
    objects.append(f"<< /Title ({title}) /ModDate (D:{made}) >>".encode())
    return _file(objects, made, encrypted=encrypted)


def scan(pixels: bytes, *, made: str = "2026") -> bytes:
    """Return a PDF of one page that is a picture of 8 by 8 grey pixels."""
    picture = _stream(
        pixels, b"/Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 8"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        picture,
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /XObject << /I 3 0 R >> >> /Contents 5 0 R >>",
        _stream(b"q 500 0 0 500 50 50 cm /I Do Q"),
        f"<< /ModDate (D:{made}) >>".encode(),
    ]
    return _file(objects, made)


def bomb(size: int) -> bytes:
    """Return a PDF of one page whose content is `size` bytes of text operators, packed small."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>",
        _stream(b"BT /F1 12 Tf 72 720 Td\n" + b"(bomb bomb) Tj\n" * (size // 15) + b"ET"),
        b"<< >>",
    ]
    return _file(objects, "2026")


def _stream(content: bytes, more: bytes = b"") -> bytes:
    packed = zlib.compress(content, 9)
    return b"<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (more, len(packed), packed)


def _file(objects: Sequence[bytes], made: str, *, encrypted: bool = False) -> bytes:
    data = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    lock = b""
    if encrypted:
        lock = b"/Encrypt << /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -44 >> " % (b"41" * 32, b"42" * 32)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    identity = made.encode().hex().encode()
    return data + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R /Info %d 0 R %s/ID [<%s> <%s>] >>\nstartxref\n%d\n%%%%EOF\n"
        % (len(objects) + 1, table, len(objects) + 1, len(objects), lock, identity, identity, len(data))
    )
