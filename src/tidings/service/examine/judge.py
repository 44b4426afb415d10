"""Judge whether an answer is new, before its content is parsed, and whether it can be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import xxhash

from tidings.model.observed.outcome import Fetched

if TYPE_CHECKING:
    from tidings.model.observed.outcome import FetchRequest, Outcome, Unchanged, Validators
    from tidings.model.observed.page import PageState


def judge(state: PageState, answer: Unchanged | Fetched, seed: int) -> Fetched | None:
    """Return the answer if its body differs from the newest version's, else None. `seed` is that of
    body hashes.
    """
    return answer if isinstance(answer, Fetched) and not is_known(state, answer, seed) else None


def is_known(state: PageState, outcome: Outcome, seed: int) -> bool:
    """Return whether an answer has the body of the newest version."""
    if not isinstance(outcome, Fetched) or len(outcome.body) != state.body_size or state.last_seq == 0:
        return False
    return xxh3(outcome.body, seed) == state.body_xxh3


def is_contradiction(state: PageState, request: FetchRequest, outcome: Outcome, seed: int) -> bool:
    """Return whether an answer contradicts itself: another body under the validators that were
    sent, or under none (RFC 9110 §13.1).

    Args:
        state: The page's stored state.
        request: The request that was sent.
        outcome: The answer.
        seed: The seed of hashes of bodies.
    """
    if not isinstance(outcome, Fetched) or outcome.conditions != "answered":
        return False
    return not is_known(state, outcome, seed) and _says_unchanged(request.validators, outcome.validators)


def _says_unchanged(sent: Validators, got: Validators) -> bool:
    """Return whether the validators of a full answer equal those sent, or are absent; an ETag takes
    precedence over a date.
    """
    if sent.etag and got.etag:
        return sent.etag.removeprefix("W/") == got.etag.removeprefix("W/")
    return not got or (sent.last_modified is not None and sent.last_modified == got.last_modified)


def xxh3(body: bytes, seed: int) -> str:
    """Return the body hash of gate 0, seeded per installation."""
    return xxhash.xxh3_128_hexdigest(body, seed)
