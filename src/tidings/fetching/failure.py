"""The error of a failed fetch inside this room; at its border it becomes a `Failed` value."""

from __future__ import annotations

from tidings.errors import TidingsError
from tidings.model.interval import Duration
from tidings.model.observed.outcome import ErrorKind


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
