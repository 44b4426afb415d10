"""How often something may be done: a token bucket for each name, so that a sender that has gone wild does no harm."""

from __future__ import annotations

from tidings.clock import SECOND, Duration, Instant


class Pace:
    """Lets `burst` pass at once, then `per_second`; of at most `most` names it remembers who was here."""

    def __init__(self, *, per_second: float, burst: int, most: int = 1_000) -> None:
        self._per_second = per_second
        self._burst = burst
        self._most = most
        self._levels: dict[str, tuple[float, Instant]] = {}

    def wait(self, name: str, now: Instant) -> Duration:
        """Take a place and return 0, or return how long it is until there is one (µs)."""
        level, at = self._levels.pop(name, (float(self._burst), now))
        level = min(self._burst, level + max(0, now - at) / SECOND * self._per_second)
        is_free = level >= 1
        self._levels[name] = (level - 1 if is_free else level, max(now, at))
        if len(self._levels) > self._most:
            del self._levels[next(iter(self._levels))]
        return 0 if is_free else round((1 - level) / self._per_second * SECOND)
