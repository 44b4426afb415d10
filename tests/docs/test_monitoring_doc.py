"""docs/howto/monitoring.md names what there is."""

import re
from pathlib import Path

from tidings.service.health.metrics import Gauges, Meter
from tidings.settings import table
from tidings.storage.watches.listed import Now

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "monitoring.md").read_text(encoding="utf-8")


def test_every_metric_is_named():
    """The table lists each metric with its type and labels, and no other."""
    text = Meter(read_price=lambda: 1.0).write(Gauges(Now(0, 0, 0), 0, {"default": 1.0}, {"all": 1}, 0))
    written = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    listed = dict(re.findall(r"^\| `(tidings_\w+)(?:\{\w+\})?` \| (\w+) \|", PAGE, re.MULTILINE))

    assert written == listed


def test_every_setting_is_one():
    """What the page sets are settings."""
    named = {row.name for row in table()}
    sections = re.findall(r"```toml\n\[(\w+)\]\n(.*?)```", PAGE, re.DOTALL)
    keys = {f"{section}.{line.split(' = ')[0]}" for section, lines in sections for line in lines.splitlines()}

    assert keys
    assert keys <= named
