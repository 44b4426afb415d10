"""How a page is asked for, as the clauses of a canonical text."""

from __future__ import annotations

from tidings.language.expressions import quoted
from tidings.model.asking import Asking, Value
from tidings.model.interval import spell_duration


def to_clauses(asking: Asking, *, everything: bool = False) -> list[str]:
    """Return the clauses that say how pages are asked for, those of default value left out, the method only unless `everything`."""
    clauses = []
    if everything or asking.method != "GET" or asking.body is not None:
        clauses.append(f"Method {quoted(asking.method)}")
    clauses += [f"Header {quoted(header.name)} {_value_text(header.value)}" for header in asking.headers]
    if asking.body is not None:
        clauses.append(f"Body {_value_text(asking.body)}")
    if asking.frames:
        clauses.append(f"Frames {asking.frames}")
    if asking.render:
        clauses.append(f"Render {asking.render}{' screenshot' if asking.screenshot else ''}")
    if asking.timeout is not None:
        clauses.append(f"Timeout {spell_duration(asking.timeout)}")
    if asking.trust:
        clauses.append(f"Trust {quoted(asking.trust)}")
    if asking.proxy is not None:
        clauses.append(f"Proxy {_value_text(asking.proxy) if asking.proxy.is_secret else asking.proxy.text}")
    if asking.robots_ignored:
        clauses.append(f"Robots ignored because {quoted(asking.robots_ignored)}")
    return clauses


def _value_text(value: Value) -> str:
    return f"secret {quoted(value.text)}" if value.is_secret else quoted(value.text)
