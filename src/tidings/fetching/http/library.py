"""aiohttp, imported without reading the system's certificates.

On import it creates two TLS contexts and reads these certificates for both, which takes longer than
the rest. `GuardedConnector` creates its own when first needed; those of the library trust no one,
so that they cannot be used.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Iterator
from typing import Any

__all__ = ["aiohttp"]


@contextlib.contextmanager
def without_certificates() -> Iterator[None]:
    """Create TLS contexts meanwhile without system authorities."""
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
