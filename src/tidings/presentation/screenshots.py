"""Compare two screenshots of a page: the share that differs, and a picture of where.

The imaging library comes with the browser (the extra `browser`).
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tidings.errors import spell_install
from tidings.presentation.writing import cut_text, one_line
from tidings.record import dataclass

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS: Final = 12_000_000
"""The most pixels of one screenshot (1,280 wide: 9,375 high); larger ones are not compared."""
MOST_BYTES: Final = 30_000_000
SEEN: Final = 24
"""The least difference of a pixel's channel (0 to 255) that counts: below, it is anti-aliasing."""
BAND: Final = 16
"""The height of the bands that are compared, in pixels."""
MOST_BOXES: Final = 60
_FORMATS: Final = ("PNG", "WEBP")
_RED: Final = (173, 33, 25)


@dataclass(frozen=True, slots=True)
class ScreenshotComparison:
    """The comparison of two screenshots. `problem` says why it failed; then all else is empty.

    `share` is the part of the pixels that differ (0 to 1), of the larger of both; `picture` a PNG
    of the newer one, pale, with differences in red and framed; `boxes` these frames (left, top,
    right, bottom in pixels).
    """

    share: float = 0.0
    picture: bytes = b""
    size: tuple[int, int] = (0, 0)
    boxes: tuple[tuple[int, int, int, int], ...] = ()
    problem: str = ""


def compare_screenshots(before: bytes, now: bytes) -> ScreenshotComparison:
    """Return the differences of two screenshots, PNG or WebP; the part of a larger one beyond the
    other differs.

    Args:
        before: The older screenshot.
        now: The newer one.
    """
    try:
        from PIL import Image, ImageChops, ImageDraw, ImageFilter  # an extra, slow to import
    except ImportError:
        return ScreenshotComparison(
            problem=f"Screenshots are compared once the extra `browser` is installed: {spell_install('browser')}"
        )
    try:
        old, new = (_read(data, Image.open) for data in (before, now))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        return ScreenshotComparison(
            problem=f"The screenshots cannot be compared: {cut_text(one_line(str(error)), 200)}"
        )
    size = max(old.width, new.width), max(old.height, new.height)
    sides = []
    for one in (old, new):
        side = Image.new("RGB", size, (255, 255, 255))
        side.paste(one)
        sides.append(side)
    bands = ImageChops.difference(*sides).split()
    most = ImageChops.lighter(ImageChops.lighter(bands[0], bands[1]), bands[2])
    differs = most.point([0] * (SEEN + 1) + [255] * (255 - SEEN))
    beyond = Image.new("L", size, 255)
    beyond.paste(0, (0, 0, min(old.width, new.width), min(old.height, new.height)))
    differs = ImageChops.lighter(differs, beyond)
    share = differs.histogram()[255] / (size[0] * size[1])
    shown = Image.blend(sides[1].convert("L").convert("RGB"), Image.new("RGB", size, (255, 255, 255)), 0.6)
    shown.paste(_RED, mask=differs.filter(ImageFilter.MaxFilter(3)))
    boxes = tuple(_boxes(differs))
    pen = ImageDraw.Draw(shown)
    for left, top, right, bottom in boxes[:MOST_BOXES]:
        pen.rectangle((max(0, left - 3), max(0, top - 3), right + 2, bottom + 2), outline=_RED, width=2)
    written = io.BytesIO()
    shown.quantize(64).save(written, "PNG")
    return ScreenshotComparison(share, written.getvalue(), size, boxes[:MOST_BOXES])


def _read(data: bytes, open_picture: object) -> Image:
    """Return a picture in RGB. Raise `ValueError` for one that is too large, `OSError` for invalid
    data.
    """
    if len(data) > MOST_BYTES:
        message = f"one has more than {MOST_BYTES:,} bytes"
        raise ValueError(message)
    picture: Image = open_picture(io.BytesIO(data), formats=_FORMATS)  # type: ignore[operator]  # Image.open, imported by the caller
    if picture.width * picture.height > MOST_PIXELS:
        message = f"one has {picture.width:,} × {picture.height:,} pixels, more than {MOST_PIXELS:,}"
        raise ValueError(message)
    return picture.convert("RGB")


def _boxes(differs: Image) -> Iterator[tuple[int, int, int, int]]:
    """Yield frames around differences; adjacent bands are merged."""
    open_box: tuple[int, int, int, int] | None = None
    for top in range(0, differs.height, BAND):
        found = differs.crop((0, top, differs.width, min(top + BAND, differs.height))).getbbox()
        if found is None:
            if open_box is not None:
                yield open_box
            open_box = None
            continue
        left, right = found[0], found[2]
        if open_box is None:
            open_box = (left, top + found[1], right, top + found[3])
        else:
            open_box = (min(left, open_box[0]), open_box[1], max(right, open_box[2]), top + found[3])
    if open_box is not None:
        yield open_box
