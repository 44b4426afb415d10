"""Names of files under `blobs/`: `ab/cd/SHA256.MARK`, the first four digits fanned out over two folders.

The mark is another one each time a file is written, so that a name given to garbage never comes back to life.
"""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = re.compile(r"([0-9a-f]{2})/([0-9a-f]{2})/(\1\2[0-9a-f]{60})\.[0-9a-f]{1,32}")


def file_name(sha256: str, mark: str) -> str:
    """Return where the frame of a blob lies, relative to `blobs/`; `mark` is 1 to 32 hexadecimal digits."""
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}.{mark}"


def is_file_name(name: str) -> bool:
    """Return whether the archive could have given this name: such a path stays inside `blobs/`."""
    return _NAME.fullmatch(name) is not None
