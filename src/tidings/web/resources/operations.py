"""The table of operations: method, path, role, input, output and handler.

The OpenAPI 3.1 document, generated from the table of operations, the only definition of the
API's input and output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tidings import __version__
from tidings.web.problems import PROBLEM
from tidings.web.resources import changes, feeds, installation, pages, sentinels, shapes
from tidings.web.resources.operation import JSON, Operation
from tidings.web.resources.shapes import Nothing, Problem

if TYPE_CHECKING:
    from tidings.web.resources.operation import Call

_TEXTS: Final = ("text/plain", "application/yaml")
_BINARY: Final = "application/octet-stream"


async def _openapi(call: Call) -> Any:
    del call
    return _document()


@cache
def _document() -> dict[str, Any]:
    return document(OPERATIONS)


OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation("GET", "/api/v1/openapi.json", "anybody", "openapi", "This document", _openapi),
    Operation("GET", "/api/v1/me", "readers", "me", "Who you are here", installation.me, shapes.Me),
    Operation(
        "GET", "/api/v1/sentinels", "readers", "list_sentinels", "Sentinels, as they were made",
        sentinels.listing, shapes.SentinelPage, shapes.SentinelQuery,
    ),
    Operation(
        "POST", "/api/v1/sentinels", "editors", "create_sentinels", "Carry out statements: create, alter, command",
        sentinels.create, shapes.Registered, body=shapes.NewText, takes=_TEXTS, status=HTTPStatus.CREATED,
    ),
    Operation(
        "POST", "/api/v1/preview", "editors", "preview", "What statements would watch; each page is asked once",
        sentinels.preview, shapes.Trial, body=shapes.NewText, takes=("text/plain",),
    ),
    Operation(
        "POST", "/api/v1/bulk", "editors", "bulk", "One act for many sentinels",
        sentinels.bulk, shapes.BulkResults, body=shapes.Bulk,
    ),
    Operation(
        "GET", "/api/v1/sentinels/{name}", "readers", "get_sentinel", "A sentinel, one that has ended too",
        sentinels.get, shapes.Sentinel,
    ),
    Operation(
        "PATCH", "/api/v1/sentinels/{name}", "editors", "alter_sentinel", "Another text, name, tags; pause, go on",
        sentinels.alter, shapes.Sentinel, body=shapes.Alteration, problems=(412,),
    ),
    Operation(
        "DELETE", "/api/v1/sentinels/{name}", "editors", "drop_sentinel", "End a sentinel; restore it within a day",
        sentinels.drop, shapes.Dropped, problems=(412,),
    ),
    Operation(
        "POST", "/api/v1/sentinels/{name}/restore", "editors", "restore_sentinel", "Take back that it was dropped",
        sentinels.restore, shapes.Sentinel, problems=(409,),
    ),
    Operation(
        "POST", "/api/v1/sentinels/{name}/check", "editors", "check_sentinel", "Check its pages now",
        sentinels.check, shapes.Asked, status=HTTPStatus.ACCEPTED,
    ),
    Operation(
        "GET", "/api/v1/sentinels/{name}/pages", "readers", "pages_of_sentinel", "The pages of a sentinel",
        pages.of_sentinel, shapes.PageOfPages,
    ),
    Operation("GET", "/api/v1/tags", "readers", "list_tags", "Tags of sentinels", sentinels.tags, shapes.Tags),
    Operation(
        "GET", "/api/v1/pages", "readers", "list_pages", "Watched pages",
        pages.listing, shapes.PageOfPages, shapes.Listing,
    ),
    Operation("GET", "/api/v1/pages/{page}", "readers", "get_page", "A page", pages.get, shapes.Page),
    Operation(
        "GET", "/api/v1/pages/{page}/versions", "readers", "list_versions", "Its stored versions, newest first",
        pages.list_versions, shapes.VersionPage, shapes.Listing,
    ),
    Operation(
        "GET", "/api/v1/pages/{page}/versions/{number}", "readers", "get_version", "A version",
        pages.get_version, shapes.Version,
    ),
    Operation(
        "GET", "/api/v1/pages/{page}/versions/{number}/text", "readers", "text_of_version", "Its text",
        pages.text, gives="text/plain", problems=(422,),
    ),
    Operation(
        "GET", "/api/v1/pages/{page}/versions/{number}/body", "readers", "body_of_version", "Its body as received",
        pages.body, gives=_BINARY, problems=(422,),
    ),
    Operation(
        "GET", "/api/v1/pages/{page}/compare", "readers", "compare_versions", "What differs between two versions",
        pages.compare, shapes.Change, shapes.CompareQuery,
    ),
    Operation(
        "GET", "/api/v1/pages/{page}/polls", "readers", "list_polls", "Its polls, newest first",
        pages.list_polls, shapes.PollPage, shapes.Listing,
    ),
    Operation(
        "GET", "/api/v1/pages/{page}/masks", "readers", "list_masks", "What is noise on it",
        pages.list_masks, shapes.Masks,
    ),
    Operation(
        "PUT", "/api/v1/pages/{page}/masks/{mask}", "editors", "switch_mask", "Switch a mask off or on",
        pages.switch_mask, shapes.Masks, body=shapes.MaskSwitch,
    ),
    Operation(
        "GET", "/api/v1/sentinels/{name}/collection", "readers", "get_collection", "A site found page by page",
        sentinels.get_collection, shapes.Collection, shapes.CollectionQuery,
    ),
    Operation(
        "GET", "/api/v1/search", "readers", "search", "Find words in what pages say, or said",
        pages.search, shapes.SearchPage, shapes.SearchQuery,
    ),
    Operation(
        "GET", "/api/v1/changes", "readers", "list_changes", "Changes, newest first",
        changes.listing, shapes.ChangePage, shapes.ChangeQuery,
    ),
    Operation(
        "POST", "/api/v1/changes/marks", "markers", "mark_changes", "Mark many as read or kept",
        changes.mark_many, shapes.Marked, body=shapes.MarkMany,
    ),
    Operation(
        "POST",
        "/api/v1/changes/all-read",
        "markers",
        "mark_all_read",
        "Mark all that is unread as read",
        changes.mark_all_read,
        shapes.Marked,
    ),
    Operation("GET", "/api/v1/changes/{id}", "readers", "get_change", "A change", changes.get, shapes.Change),
    Operation(
        "PATCH", "/api/v1/changes/{id}", "markers", "mark_change", "Mark one as read or kept",
        changes.mark, shapes.Change, body=shapes.Mark,
    ),
    Operation(
        "GET", "/api/v1/deliveries", "readers", "list_deliveries", "Deliveries, newest first",
        changes.list_deliveries, shapes.DeliveryPage, shapes.DeliveryQuery,
    ),
    Operation(
        "GET", "/api/v1/deliveries/{delivery}", "readers", "get_delivery", "A delivery",
        changes.get_delivery, shapes.Delivery,
    ),
    Operation(
        "POST", "/api/v1/deliveries/{delivery}/replay", "editors", "replay_delivery", "Send it again, same id",
        changes.replay, shapes.Delivery,
    ),
    Operation(
        "GET", "/api/v1/receivers", "readers", "list_receivers", "Receivers, and what became of their messages",
        changes.list_receivers, shapes.ReceiverPage, shapes.Listing,
    ),
    Operation(
        "POST", "/api/v1/receivers/{receiver}/test", "editors", "test_receiver", "Send it a test message",
        changes.test_receiver, shapes.Tested, problems=(422,),
    ),
    Operation(
        "GET", "/api/v1/plan", "readers", "plan", "The next checks",
        installation.plan, shapes.Plan, shapes.PlanQuery,
    ),
    Operation("GET", "/api/v1/health", "readers", "health", "What needs attention", installation.health, shapes.Health),
    Operation(
        "GET", "/api/v1/settings", "readers", "settings", "All settings, without secrets",
        installation.settings, shapes.Settings,
    ),
    Operation(
        "GET", "/api/v1/events", "readers", "events", "Changes as CloudEvents, from any number on",
        changes.stream, query=shapes.StreamQuery, gives=f"{changes.SSE}, {changes.LINES}", problems=(409,),
    ),
    Operation("GET", "/api/v1/users", "admins", "list_users", "Who has an account", installation.list_users, shapes.Users),
    Operation(
        "POST", "/api/v1/users", "admins", "add_user", "Make an account",
        installation.add_user, shapes.User, body=shapes.NewUser, status=HTTPStatus.CREATED,
    ),
    Operation(
        "PATCH", "/api/v1/users/{user}", "admins", "alter_user", "Another role, password or share of the budget",
        installation.alter_user, shapes.User, body=shapes.UserAlteration,
    ),
    Operation(
        "DELETE", "/api/v1/users/{user}", "admins", "remove_user", "Remove an account and what is only its own",
        installation.remove_user, shapes.Removed, problems=(422,),
    ),
    Operation(
        "GET", "/api/v1/users/{user}/export", "admins", "export_user", "All data stored about a user",
        installation.export_user, shapes.Export,
    ),
    Operation(
        "GET", "/api/v1/tokens", "admins", "list_tokens", "Tokens, without their secrets",
        installation.list_tokens, shapes.Tokens,
    ),
    Operation(
        "POST", "/api/v1/tokens", "admins", "add_token", "Make a token; it is shown once",
        installation.add_token, shapes.Token, body=shapes.NewToken, status=HTTPStatus.CREATED,
    ),
    Operation(
        "DELETE", "/api/v1/tokens/{token}", "admins", "revoke_token", "End a token",
        installation.revoke_token, shapes.Revoked,
    ),
    Operation(
        "GET", "/api/v1/public", "editors", "list_public_pages", "Pages of tags that everybody with the address sees",
        sentinels.list_public_pages, shapes.PublicPages,
    ),
    Operation(
        "PUT", "/api/v1/tags/{tag}/public", "editors", "publish_tag", "Make a public page of a tag",
        sentinels.publish_tag, shapes.PublicPage,
    ),
    Operation(
        "DELETE", "/api/v1/public/{token}", "editors", "remove_public_page", "Remove a public page; its address ends",
        sentinels.remove_public_page, shapes.Revoked,
    ),
    *(
        Operation("GET", f"/api/v1/{of}feed.{kind}", "readers", f"{name}_{kind}", words, answer, gives=media)
        for of, name, words in (
            ("", "feed", "All changes"),
            ("sentinels/{name}/", "feed_of_sentinel", "Changes of a sentinel"),
            ("tags/{tag}/", "feed_of_tag", "Changes of a tag"),
        )
        for kind, answer, media in (
            ("atom", feeds.atom, "application/atom+xml"),
            ("json", feeds.json_feed, feeds.JSON_FEED),
        )
    ),
)  # fmt: skip


_REF: Final = "#/components/schemas/{name}"
_PARAMETER: Final = re.compile(r"{(\w+)(?::\w+)?}")
_USUAL: Final = (400, 401, 403, 404, 421, 503)
"""Statuses that any operation may return besides its own."""
_OF_BODY: Final = (408, 413, 415, 422)
_NUMBERS: Final = frozenset({"page", "number", "receiver"})
_WORDS: Final = {
    "name": "the name of a sentinel",
    "page": "the number of a page",
    "number": "the number of a version",
    "id": "the id of a change",
    "delivery": "the id of a delivery",
    "receiver": "the number of a receiver",
    "mask": "the name of a mask",
    "tag": "a tag",
    "token": "the name of a token",
    "user": "the name of a user",
}


def document(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the document of all operations."""
    types: list[Any] = [Problem]
    for one in operations:
        types += [one.query, *(kind for kind in (one.body, one.returns) if kind is not None)]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    known = {id(kind): schema for kind, schema in zip(types, schemas, strict=True)}
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        path = _PARAMETER.sub(r"{\1}", one.path)
        paths.setdefault(path, {})[one.method.lower()] = _operation(one, known, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tidings",
            "version": __version__,
            "summary": "Watches web pages, feeds and APIs, and notifies you of what changed.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": {name: schema for name, schema in components.items() if not _is_query(name, operations)},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "`tidings token add NAME` makes one; on loopback none may be needed",
                }
            },
        },
    }


def _is_query(name: str, operations: Sequence[Operation]) -> bool:
    return name in {one.query.__name__ for one in operations}


def _operation(one: Operation, known: dict[int, Any], components: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.summary,
        "tags": [one.path.split("/")[3]],
        "parameters": [*map(_path_parameter, _PARAMETER.findall(one.path)), *_query_parameters(one, components)],
        "responses": _responses(one, known),
        "x-role": "reader" if one.who == "markers" else one.who.removesuffix("s"),
    }
    if one.who == "anybody":
        made["security"] = []
    if one.body is not None:
        content = {
            JSON: {"schema": known[id(one.body)]},
            **{kind: {"schema": {"type": "string"}} for kind in one.takes},
        }
        made["requestBody"] = {"required": True, "content": content}
    return made


def _path_parameter(name: str) -> dict[str, Any]:
    number = {"type": "integer", "minimum": 1, "maximum": 2**53}
    text = {"type": "string", "minLength": 1, "pattern": "^[^/]+$"}
    schema = number if name in _NUMBERS else text
    return {"name": name, "in": "path", "required": True, "description": _WORDS[name], "schema": schema}


def _query_parameters(one: Operation, components: dict[str, Any]) -> list[dict[str, Any]]:
    if one.query is Nothing:
        return []
    schema = components[one.query.__name__]
    needed = set(schema.get("required", ()))
    return [
        {"name": name, "in": "query", "required": name in needed, "schema": _without_default(kind)}
        for name, kind in schema["properties"].items()
    ]


def _without_default(kind: dict[str, Any]) -> dict[str, Any]:
    """Return a parameter's schema without an empty default: being optional says the same."""
    return {key: value for key, value in kind.items() if (key, value) != ("default", "")}


def _responses(one: Operation, known: dict[int, Any]) -> dict[str, Any]:
    if one.gives != JSON:
        answer: dict[str, Any] = {"content": {kind: {"schema": {}} for kind in one.gives.split(", ")}}
    elif one.returns is None:
        answer = {"content": {JSON: {"schema": {"type": "object"}}}}
    else:
        answer = {"content": {JSON: {"schema": known[id(one.returns)]}}}
    found = {str(int(one.status)): {"description": one.summary, **answer}}
    if one.name == "create_sentinels":
        found["200"] = {"description": "Nothing was made; what was there is as it says", **answer}
    if one.method == "GET":
        found["304"] = {"description": "You have it as it is (If-None-Match)"}
    codes = [*_USUAL, *one.problems, *(_OF_BODY if one.body is not None else ())]
    if one.query is not Nothing:
        codes.append(422)
    problem = {"content": {PROBLEM: {"schema": {"$ref": _REF.format(name="Problem")}}}}
    for code in sorted(set(codes)):
        found[str(code)] = {"description": "A problem (RFC 9457)", **problem}
    return found
