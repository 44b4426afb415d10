"""Two screenshots are compared."""

import io
import zlib

import pytest
from PIL import Image

from tidings.presentation.screenshots import MOST_PIXELS, compare_screenshots


def picture(size: tuple[int, int], *boxes: tuple[int, int, int, int], form: str = "PNG") -> bytes:
    """Return a white picture with black boxes."""
    made = Image.new("RGB", size, "white")
    for box in boxes:
        made.paste("black", box)
    written = io.BytesIO()
    made.save(written, form, **({"lossless": True} if form == "WEBP" else {}))
    return written.getvalue()


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_share_of_different_pixels_is_counted(form):
    """A box of ten by twenty in a picture of a hundred by a hundred is two percent; a frame is
    drawn around it.
    """
    found = compare_screenshots(picture((100, 100), form=form), picture((100, 100), (30, 40, 40, 60), form=form))

    assert ("", 0.02) == (found.problem, found.share)
    assert ((30, 40, 40, 60),) == found.boxes


def test_difference_is_red():
    """The picture is as large as the screenshots, and its rest is pale."""
    shown = Image.open(
        io.BytesIO(compare_screenshots(picture((100, 100)), picture((100, 100), (30, 40, 40, 60))).picture)
    ).convert("RGB")

    red, pale = (shown.crop((x, y, x + 1, y + 1)).tobytes() for x, y in ((35, 50), (5, 5)))
    assert (100, 100) == shown.size
    assert red[0] > 2 * red[1]
    assert min(pale) > 240


def test_equal_screenshots_have_no_difference():
    """There is no pixel and no frame."""
    found = compare_screenshots(picture((50, 50), (1, 1, 9, 9)), picture((50, 50), (1, 1, 9, 9)))

    assert (0.0, ()) == (found.share, found.boxes)


def test_part_beyond_the_other_screenshot_differs():
    """A page that became twice as high differs in half of its pixels, even if they are white."""
    assert 0.5 == compare_screenshots(picture((40, 40)), picture((40, 80))).share


def test_smoothing_of_letters_does_not_count():
    """The eye does not see it."""
    written = io.BytesIO()
    Image.new("RGB", (40, 40), (240, 240, 240)).save(written, "PNG")

    assert 0.0 == compare_screenshots(picture((40, 40)), written.getvalue()).share


def bomb() -> bytes:
    """Return the head of a PNG that claims to be huge."""
    head = b"IHDR" + (60_000).to_bytes(4, "big") * 2 + b"\x08\x02\x00\x00\x00"
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0d" + head + zlib.crc32(head).to_bytes(4, "big")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no picture",
        picture((9, 9))[:45],
        bomb(),
        picture((2, MOST_PIXELS // 2 + 1)),
        b"GIF89a\x01\x00\x01\x00\x00\x00\x00;",
    ],
    ids=["empty", "text", "cut off", "bomb", "too large", "another format"],
)
def test_unreadable_screenshot_has_a_reason(data):
    """A missing, damaged or huge one has a problem in words, without an exception or long work."""
    found = compare_screenshots(picture((9, 9)), data)

    assert found.problem.startswith("The screenshots cannot be compared: ")
    assert b"" == found.picture
