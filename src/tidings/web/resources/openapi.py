"""The OpenAPI 3.1 document, generated from the table of operations, the only definition of the
API's input and output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tidings import __version__
from tidings.web.problems import PROBLEM
from tidings.web.resources.operation import JSON
from tidings.web.resources.shapes import Nothing, Problem

if TYPE_CHECKING:
    from tidings.web.resources.operation import Operation

_REF: Final = "#/components/schemas/{name}"
_PARAMETER: Final = re.compile(r"{(\w+)(?::\w+)?}")
_USUAL: Final = (400, 401, 403, 404, 421, 503)
"""Statuses that any operation may return besides its own."""
_OF_BODY: Final = (408, 413, 415, 422)
_NUMBERS: Final = frozenset({"page", "number"})
_WORDS: Final = {
    "name": "the name of a sentinel",
    "page": "the number of a page",
    "number": "the number of a version",
    "id": "the id of a change",
    "delivery": "the id of a delivery",
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
