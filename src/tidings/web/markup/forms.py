"""The content of a submitted form: a bounded body of names and values; names may repeat."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from tidings.record import dataclass
from tidings.web.markup.catalogue import say
from tidings.web.parameters import FORM, body_of
from tidings.web.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request

MOST_BYTES: Final = 262_144
MOST_FIELDS: Final = 6_000


@dataclass(frozen=True, slots=True)
class SentForm:
    """A submitted form."""

    values: Mapping[str, Sequence[str]]

    def one(self, name: str) -> str:
        """Return the last value of a field, "" if absent."""
        return self.every(name)[-1] if self.every(name) else ""

    def every(self, name: str) -> Sequence[str]:
        """Return all values of a field."""
        return self.values.get(name, ())


async def read_form(request: Request) -> SentForm:
    """Return the form in a request. Raises `ProblemError` for a body that is no form, or
    too large.
    """
    body = await body_of(request, most=MOST_BYTES)
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and media != FORM:
        raise ProblemError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, say("a form is expected"), hint=say("send {form}", form=FORM)
        )
    try:
        found = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise ProblemError(HTTPStatus.BAD_REQUEST, say("the form cannot be read")) from error
    return SentForm({name: [one.replace("\r\n", "\n") for one in values] for name, values in found.items()})
