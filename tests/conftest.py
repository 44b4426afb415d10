"""What holds for all tests."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "tidings",
    deadline=None,  # a busy machine is no fault of the code
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),  # CI runs the same examples each time; people look for new ones
)
settings.load_profile("tidings")
