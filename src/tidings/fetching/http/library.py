"""aiohttp, imported without the certificates of the machine.

While it is imported it makes two contexts for TLS and reads these certificates for both, which
takes longer than all else of it. `GuardedConnector` makes its own at the first address that needs
one; those of the library trust nobody, so that nothing could be asked by them.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Iterator
from typing import Any

__all__ = ["aiohttp"]


@contextlib.contextmanager
def without_certificates() -> Iterator[None]:
    """Let contexts that are made meanwhile trust no authority of the machine's."""
    contexts: Any = ssl.SSLContext
    usual = contexts.set_default_verify_paths
    contexts.set_default_verify_paths = lambda _: None
    try:
        yield
    finally:
        contexts.set_default_verify_paths = usual


with without_certificates():
    import aiohttp
    import aiohttp.abc
    import aiohttp.client_proto
    import aiohttp.http_exceptions
    import aiohttp.resolver
