"""JSONPath by RFC 9535, without match() and search(): these would run patterns that `matches` runs
safely.

The library accepts more than the RFC even in strict mode; the surplus is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

_STRING = re.compile(r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\x22""", re.DOTALL)
FUNCTIONS = frozenset({"length", "count", "value"})


@lru_cache(maxsize=256)
def compile_path(text: str) -> Any:
    """Return a compiled JSONPath (with `finditer`). Raise ValueError that says what is wrong with
    it.
    """
    from jsonpath import JSONPathEnvironment, JSONPathError

    environment = JSONPathEnvironment(strict=True)
    for name in environment.function_extensions.keys() - FUNCTIONS:
        del environment.function_extensions[name]
    try:
        query = environment.compile(text)
    except (JSONPathError, ValueError, RecursionError) as error:
        raise ValueError(str(error.args[0]) if error.args else "it cannot be read") from error
    if "<>" in _STRING.sub("", text) or any(_is_beyond(expression) for expression in _expressions(query)):
        message = "only ==, !=, <, <=, > and >= compare, and only texts, numbers, true, false, null and single values: !(@.a == 1)"
        raise ValueError(message)
    return query


def _expressions(query: Any) -> Iterator[Any]:
    """Yield all expressions of the filters of a query, including nested queries."""
    from jsonpath.filter import FilterQuery
    from jsonpath.selectors import Filter

    left: list[Any] = [s.expression for segment in query.segments for s in segment.selectors if isinstance(s, Filter)]
    while left:
        expression = left.pop()
        yield expression
        left += expression.children()
        if isinstance(expression, FilterQuery):
            left += _expressions(expression.path)


def _is_beyond(expression: Any) -> bool:
    """Return whether an expression compares beyond the RFC: a list, or the truth value of other
    values.
    """
    from jsonpath.filter import InfixExpression, ListLiteral, PrefixExpression

    if not isinstance(expression, InfixExpression) or expression.logical:
        return False
    return any(
        isinstance(o, (InfixExpression, ListLiteral, PrefixExpression)) for o in (expression.left, expression.right)
    )
