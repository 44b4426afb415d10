"""All ways to run a job; `detect.isolation` names the one in use."""

from __future__ import annotations

from typing import Final

from tidings.isolation.in_process import InProcess
from tidings.isolation.killable import Killable
from tidings.isolation.runner import RunnerRow
from tidings.registry import Registry

RUNNERS: Final[Registry[RunnerRow]] = Registry("way to run jobs", {"in_process": InProcess, "killable": Killable})
