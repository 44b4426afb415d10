"""The contract of everything that fetches a page, the permit for a request, and
the package's own error (contracts §6).

```
fetch(request, permit) -> Unchanged | Fetched | Failed
```
An outcome is a value. `fetch` raises only `BudgetError`, when a permit refuses a further request.
Within the package a failed fetch raises `FetchError`. `fetch` returns it as `Failed`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from tidings.errors import TidingsError
from tidings.model.interval import Duration
from tidings.model.observed.outcome import ErrorKind, Failed, FetchRequest, Outcome
from tidings.record import dataclass


class Permit(Protocol):
    """The right of one grant to ask hosts. Its first request is paid for (contracts §1)."""

    async def hop(self, host: str) -> None:
        """Wait until a request to `host` (contracts §3) may leave, and count it from then on.

        Called before each request: robots.txt, page, retry, redirect. Waits for the host's gap and
        for a free connection, and charges each request after the first. Raises `BudgetError` if
        this request may not be made now.
        """
        ...

    def beside(self, host: str) -> AbstractAsyncContextManager[None]:
        """Hold a connection slot of `host` for one more request of a page load: counted and charged
        like any other.

        A page load is one visit: the host's gap is waited for once, then its requests follow one
        another, as many at a time as the host may have connections. Raises `BudgetError` if this
        request may not be made now.
        """
        ...


class Fetcher(Protocol):
    """Fetches pages. One suite covers all rows: `tests/contract/test_fetcher.py`."""

    async def fetch(self, request: FetchRequest, permit: Permit) -> Outcome:
        """Fetch a page and return the outcome. Raises only what `permit.hop` raises."""
        ...

    async def close(self) -> None:
        """Close all connections. Fetches in flight end as failed."""
        ...


@dataclass(frozen=True, slots=True)
class PostAnswer:
    """A receiver's answer to a POST. `error` is empty if and only if the status is 2xx; it never
    holds the URL's query.

    `status` is None without an answer; `retry_after` is in microseconds, clamped as for pages
    (contracts §11).
    """

    status: int | None = None
    retry_after: Duration | None = None
    error: str = ""


class Poster(Protocol):
    """Sends bytes to a receiver under the same guard as pages; for webhooks (assembly passes
    it).
    """

    async def post(self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_seconds: float) -> PostAnswer:
        """POST `body` once. Redirects are not followed; a 3xx is a failure. Raises nothing.

        Args:
            url: The address.
            headers: Sent as they are.
            body: Sent as it is.
            timeout_seconds: For the whole attempt.
        """
        ...


class FetchError(TidingsError):
    """No usable body. The text is a sentence for people; `kind` is one of
    `model.outcome.ErrorKind`. Never leaves `fetching/`.

    `reached`: the host is up, but the request failed.
    """

    def __init__(
        self,
        kind: ErrorKind,
        reason: str,
        *,
        status: int | None = None,
        retry_after: Duration | None = None,
        reached: bool = False,
    ) -> None:
        super().__init__(reason)
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.reached = reached


def fail_by_fault(error: Exception) -> Failed:
    """Return how a fetch ended that a fault of Tidings cut off: an outcome of that page, which its
    owner sees.
    """
    return Failed(kind="fault", reason=f"a fault of Tidings ({type(error).__name__}: {error}); please report it")
